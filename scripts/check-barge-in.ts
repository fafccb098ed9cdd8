// `npm run check -- barge-in`: does the server know what its callers have heard? The fake platform places calls that
// interrupt the welcome at random moments, by voice and by key, and knows to the sample what it played; the server's own
// estimate stands in its log. Real sockets, real speech, real time, loopback only.
import { randomUUID } from 'node:crypto';
import { createApp } from '../src/app/app.ts';
import { loadSettings } from '../src/app/config/load-settings.ts';
import { createLogger } from '../src/base/log.ts';
import { packageRoot } from '../src/base/package-root.ts';
import { seededNumbers } from '../src/base/seeded-numbers.ts';
import { loadProfile } from '../src/contract/profile.ts';
import { placeCall, type CallResult } from '../src/fake-platform/caller/caller.ts';
import type { Step } from '../src/fake-platform/caller/script.ts';
import { recorded } from '../test/support/line-signals.ts';
import { percentile } from './bench/figures.ts';
import { command, number, progress, secondsSince } from './command-line.ts';

/** The aim: no estimate is further from the truth, ms. */
const LIMIT_MS = 250;
/** Calls at once: few enough that neither side is late for its own sake. */
const CONCURRENT_CALLS = 40;
/** The welcome of the bundled front desk plays longer than this, ms; interruptions lie between both. */
const [EARLIEST_MS, LATEST_MS] = [200, 6000];

const help = `Interrupts many welcomes at random moments and compares what the server believes was heard with what was played.

  npm run check -- barge-in                 1,000 calls
  npm run check -- barge-in --calls 100     fewer of them

  --calls N   calls to place (default 1000)
  --seed N    draws who interrupts when (default 1)

The last line is JSON; exit code 1 when one estimate is off by more than ${String(LIMIT_MS)} ms or a call was lost.
`;

/** What the caller has really heard of the welcome, ms; undefined when nothing was cut. */
function truthOf(result: CallResult): number | undefined {
  const cut = result.timeline.find((event) => event.what === 'cuts_prompts');
  const unheardMs = Number(/^(\d+) ms unheard$/.exec(cut?.detail ?? '')?.[1] ?? Number.NaN);
  const audioMs = result.replies.find((reply) => reply.kind === 'session_start')?.audioMs;
  return cut === undefined || audioMs === undefined || Number.isNaN(unheardMs) ? undefined : audioMs - unheardMs;
}

async function check(calls: number, seed: number) {
  const random = seededNumbers(seed);
  const startedAtMs = performance.now();
  const believed = new Map<string, number>();
  const destination = {
    write: (line: string): void => {
      const { event, conversationId, heardMs } = JSON.parse(line) as Readonly<Record<string, unknown>>;
      // The first interruption is the one of the welcome.
      if (event === 'barge_in' && typeof conversationId === 'string' && typeof heardMs === 'number' && !believed.has(conversationId))
        believed.set(conversationId, heardMs);
    },
  };
  const { settings } = loadSettings({
    argv: [
      ...['--grpc.host=127.0.0.1', '--grpc.port=0', '--ops.port=0', '--tls.mode=off', '--auth.enabled=false'],
      ...['--platform.profile=fake', '--bots.default_bot=front-desk', '--synthesizer.cache_folder='],
    ],
    env: {},
    cwd: packageRoot(),
  });
  const app = await createApp({ settings, log: createLogger({ level: 'info', destination }) });
  const sentence = recorded('sentence');
  const errors: Record<'voice' | 'key', number[]> = { voice: [], key: [] };
  let [begun, done, lost] = [0, 0, 0];
  const one = async (): Promise<void> => {
    const by = random() < 0.5 ? 'voice' : 'key';
    const interruptMs = Math.round(EARLIEST_MS + random() * (LATEST_MS - EARLIEST_MS));
    const act: Step =
      by === 'voice' ? { kind: 'say', label: 'a sentence', mulaw: sentence, interruptMs } : { kind: 'press', keys: ['1'], interruptMs };
    const conversationId = randomUUID();
    const result = await placeCall({
      target: `grpc://127.0.0.1:${String(app.ready.port)}`,
      profile: loadProfile('fake'),
      organizationId: 'barge-in-check',
      conversationId,
      script: [act, { kind: 'hang_up', interruptMs: 50 }],
    });
    const [truth, estimate] = [truthOf(result), believed.get(conversationId)];
    if (truth === undefined || estimate === undefined) lost += 1;
    else errors[by].push(estimate - truth);
    done += 1;
    if (done % 50 === 0) progress(`${String(done)} of ${String(calls)} calls`);
  };
  const worker = async (): Promise<void> => {
    for (; begun < calls;) {
      begun += 1;
      await one();
    }
  };
  try {
    await app.warmed;
    await Promise.all(Array.from({ length: Math.min(CONCURRENT_CALLS, calls) }, worker));
  } finally {
    await app.close();
  }
  const all = [...errors.voice, ...errors.key].sort((a, b) => a - b);
  const sizes = all.map(Math.abs).sort((a, b) => a - b);
  return {
    ok: lost === 0 && (sizes.at(-1) ?? Infinity) <= LIMIT_MS,
    bargeIns: all.length,
    byVoice: errors.voice.length,
    byKey: errors.key.length,
    lost,
    errorMs: { least: all[0], median: percentile(all, 0.5), largest: all.at(-1), p99Size: percentile(sizes, 0.99) },
    limitMs: LIMIT_MS,
    seed,
    seconds: secondsSince(startedAtMs),
  };
}

await command({
  help,
  options: { calls: number(1000, 1), seed: number(1) },
  run: ({ calls, seed }) => check(calls, seed),
});
