// `npm run check -- ai`: are tools run once, are their results known, does the history say what was heard, and how much time do assistants
// add to their models? See scripts/ai.
import path from 'node:path';
import { createApp } from '../src/app/app.ts';
import { loadSettings } from '../src/app/config/load-settings.ts';
import { createLogger } from '../src/base/log.ts';
import { packageRoot } from '../src/base/package-root.ts';
import { seededNumbers } from '../src/base/seeded-numbers.ts';
import { fakeModels, type FakeModels, type ModelScript } from '../src/cli/platform.ts';
import { placeCall, type CallOptions } from '../src/fake-platform/caller/caller.ts';
import type { Step } from '../src/fake-platform/caller/script.ts';
import type { FakeItem } from '../src/fake-platform/models/fake-item.ts';
import { loadProfile } from '../src/fake-platform/platform/profile.ts';
import { Fleet } from '../test/fleet/fleet.ts';
import { freePort } from '../test/support/free-port.ts';
import { called, MOST_WORDS, type Found, type Plan } from './ai/called.ts';
import { Ledger } from './ai/ledger.ts';
import { FIRST_TOKEN_MS, modelScript, type Manner } from './ai/talk.ts';
import { percentileFigure } from './bench/figures.ts';
import { command, number, progress, seed, source } from './command-line.ts';

const BOTS = path.join(packageRoot(), 'test', 'fixtures', 'ai-bots');
/** Callers who test all that can go wrong, whose time is measured, and who interrupt a model that speaks itself. */
const DISTURBING: Manner = { interrupts: 6, spoken: 0, inputs: 3, hearsGreeting: false };
const PATIENT: Manner = { ...DISTURBING, interrupts: 0 };
const TALKATIVE: Manner = { interrupts: 9, spoken: 4, inputs: 7, hearsGreeting: true };
/** Of a thousand requests. */
const FAULTY = 30;
/** Between a stop and a kill of one of two servers, ms. */
const DISTURBED_MS = 7000;
const MOST_OVERHEAD_MS = 50;
const MOST_GAP_MS = 250;
/** Calls by which time is measured: few at once, so that they wait for nobody. */
const MEASURED = 40;
const MEASURED_AT_ONCE = 10;

const help = `Calls an assistant whose model, speech service and tools are fakes on this machine: keys that interrupt it while it thinks, speaks and
uses tools, requests that fail, servers that stop and die. Then calls a model that speaks itself, with keys and words that interrupt it.

  npm run check -- ai                        about fifteen minutes, 1,250 calls
  npm run check -- ai --calls 100 --speech 25

  --calls N       calls of the assistant (default 1,000): two fifths over gRPC, one fifth over WebSocket, the rest over two servers that are
                  stopped and killed in turn
  --speech N      calls of the model that speaks itself (default 250), half over gRPC and half over WebSocket; each interrupts about five times
  --at-once N     calls at once (default 30)
  --source        start the source and not the build
  --seed N        draws what callers do and what fails

Needs Debian's redis-server and haproxy. Progress is on stderr; the last line of stdout is JSON: {"ok", "calls", "interruptions",
"toolsRunTwice", "resultsLost", "historyWrong", "neverSilent", "speechCuts", "overheadMs", "gapMs", …}. The exit code is 1 when a tool ran
twice, a result was not in the history, the history said what nobody heard, a caller waited for more than ten seconds, what the model that
speaks itself holds or the history is more than ${String(MOST_WORDS)} word from the recording of the call, or time was over the limit. Cuts that
fell into a moment in which this process stood still are left out ("cutsLeftOut").
"overheadMs" is the time from a key to the first sound of the answer without what the fakes took (p95 at most ${String(MOST_OVERHEAD_MS)} ms), "gapMs" the longest
silence inside an answer, with a speech service that delivers at the pace of speech (p95 at most ${String(MOST_GAP_MS)} ms); both of ${String(MEASURED)} calls without faults.
`;

interface Surroundings {
  readonly random: () => number;
  readonly ledger: Ledger;
  readonly atOnce: number;
  /** Of the models: bots read their address once in a process. */
  readonly modelsPort: number;
}

type Place = (options: Pick<CallOptions, 'agentId' | 'conversationId' | 'script'>) => ReturnType<Plan['place']>;

/** One server in this process, with its models. */
async function alone(
  transport: 'grpc' | 'websocket',
  script: ModelScript,
  { ledger, modelsPort }: Surroundings,
  use: (place: Place, models: FakeModels) => Promise<Found>,
): Promise<Found> {
  const models = await fakeModels(script, { port: modelsPort });
  Object.assign(process.env, { MODEL_URL: models.url, LEDGER_URL: ledger.url });
  const { settings } = loadSettings({
    argv: [
      ...['--grpc.host=127.0.0.1', '--grpc.port=0', '--ops.port=0', '--tls.mode=off', '--auth.enabled=false', '--platform.profile=fake'],
      ...['--websocket.enabled=true', '--websocket.host=127.0.0.1', '--websocket.port=0', `--bots.folder=${BOTS}`, '--shutdown.grace_ms=0'],
      ...speechFlags(models.url),
    ],
    env: {},
  });
  const app = await createApp({ settings, log: createLogger({ level: 'silent' }) });
  const port = transport === 'grpc' ? app.ready.port : app.ready.websocket?.port;
  const target = `${transport === 'grpc' ? 'grpc' : 'ws'}://127.0.0.1:${String(port)}`;
  try {
    return await use((options) => placeCall({ target, profile: loadProfile('fake'), organizationId: 'check', ...options }), models);
  } finally {
    await app.close();
    await models.close();
  }
}

/** Calls to an assistant on one server. */
function toDesk(transport: 'grpc' | 'websocket', calls: number, faulty: number, surroundings: Surroundings): Promise<Found> {
  const { random, ledger, atOnce } = surroundings;
  const disturbing = { name: transport, atOnce, manner: DISTURBING };
  const measured = { name: 'measured', atOnce: MEASURED_AT_ONCE, manner: PATIENT };
  return alone(transport, modelScript(random, faulty, calls * 12), surroundings, (place) =>
    called({
      ...(faulty === 0 ? measured : disturbing),
      ...{ calls, mayDie: false, random, ledger },
      place: (script) => place({ agentId: 'desk', script }),
    }),
  );
}

/** Calls to a model that speaks itself, on one server. @param first - the number of the first one. */
function toTalk(transport: 'grpc' | 'websocket', calls: number, first: number, surroundings: Surroundings): Promise<Found> {
  const { random, ledger, atOnce } = surroundings;
  return alone(transport, modelScript(random, 0, 0), surroundings, (place, models) => {
    const held = new Map<string, readonly FakeItem[]>();
    let next = first;
    return called({
      ...{ name: `speech to speech, ${transport}`, atOnce, manner: TALKATIVE, calls, mayDie: false, random, ledger },
      place: async (script) => {
        const conversationId = `s${String(next)}`;
        next += 1;
        const result = await place({ agentId: 'talk', conversationId, script });
        const own = models.conversations.find(([greeting]) => greeting?.text.endsWith(` ${conversationId}.`));
        if (own !== undefined) held.set(conversationId, own);
        return result;
      },
      heldOf: (conversationId) => held.get(conversationId),
    });
  });
}

/** Calls to two servers that are stopped and killed in turn. */
async function disturbed(calls: number, program: 'built' | 'source', { random, ledger, atOnce }: Surroundings): Promise<Found> {
  const models = await fakeModels(modelScript(random, FAULTY, calls * 12));
  const env = { MODEL_URL: models.url, LEDGER_URL: ledger.url };
  const flags = [`--bots.folder=${BOTS}`, '--bots.default_bot=desk', ...speechFlags(models.url)];
  const fleet = await Fleet.start({ replicas: 2, program, flags, startOf: () => ({ env }) });
  const { target, certificatePem, token, organizationId } = fleet.access;
  let isOver = false;
  const disturb = async (): Promise<void> => {
    for (let count = 0; ; count += 1) {
      await new Promise((resolve) => setTimeout(resolve, DISTURBED_MS));
      const replica = fleet.replicas[count % 2];
      if (isOver || replica === undefined) return;
      if (count % 4 < 2) await replica.stop();
      else await replica.kill();
      await replica.start({ env });
    }
  };
  const disturbing = disturb();
  try {
    const place = (steps: readonly Step[]): ReturnType<Plan['place']> =>
      placeCall({
        ...{ target, token, organizationId, profile: loadProfile('fake'), agentId: 'desk', script: steps, repeatsLostTurns: true },
        certificateAuthority: Buffer.from(certificatePem),
      });
    return await called({ name: 'two servers', calls, atOnce, manner: DISTURBING, mayDie: true, random, ledger, place });
  } finally {
    isOver = true;
    await disturbing.catch(() => undefined);
    await fleet.close();
    await models.close();
  }
}

function speechFlags(url: string): readonly string[] {
  const service = [`--synthesizer.http.url=${url}`, '--synthesizer.http.model=fake', '--synthesizer.http.format=pcm'];
  return ['--synthesizer.engine=http', ...service, '--synthesizer.cache_folder=', '--recognizer.engine=none'];
}

await command({
  help,
  options: { calls: number(1000, 10), speech: number(250, 2), 'at-once': number(30, 1), source, seed },
  run: async ({ calls, speech, 'at-once': atOnce, source: program, seed: given }) => {
    const random = seededNumbers(given);
    const ledger = await Ledger.start(random);
    try {
      const surroundings = { random, ledger, atOnce, modelsPort: await freePort() };
      progress('measuring');
      // The first calls of a process meet cold code.
      await toDesk('grpc', MEASURED_AT_ONCE, 0, surroundings);
      const measured = await toDesk('grpc', Math.min(MEASURED, calls), 0, surroundings);
      const [overGrpc, overSocket] = [Math.round(calls * 0.4), Math.round(calls * 0.2)];
      const overGrpcTalk = Math.ceil(speech / 2);
      const parts = [
        await toTalk('grpc', overGrpcTalk, 1, surroundings),
        await toTalk('websocket', speech - overGrpcTalk, overGrpcTalk + 1, surroundings),
        await toDesk('grpc', overGrpc, FAULTY, surroundings),
        await toDesk('websocket', overSocket, FAULTY, surroundings),
        await disturbed(calls - overGrpc - overSocket, program, surroundings),
      ];
      const all = [measured, ...parts];
      const sum = (of: (found: Found) => number): number => all.reduce((total, found) => total + of(found), 0);
      const overheads = measured.latenciesMs.map((ms) => Math.max(0, ms - FIRST_TOKEN_MS));
      const overheadMs = { p50: percentileFigure(overheads, 0.5), p95: percentileFigure(overheads, 0.95) };
      const speechWords = all.flatMap((found) => found.speechCuts);
      const speechCuts = { compared: speechWords.length, worstWords: Math.max(0, ...speechWords) };
      const gapMs = { p95: percentileFigure(measured.gapsMs, 0.95) };
      const wrong = {
        toolsRunTwice: sum(({ toolsRunTwice }) => toolsRunTwice),
        resultsLost: sum(({ resultsLost }) => resultsLost),
        historyWrong: sum(({ historyWrong }) => historyWrong),
      };
      const [silent, rulesBroken] = [sum((found) => found.silent), sum((found) => found.rulesBroken)];
      return {
        ok:
          wrong.toolsRunTwice + wrong.resultsLost + wrong.historyWrong + silent + rulesBroken === 0 &&
          overheadMs.p95 <= MOST_OVERHEAD_MS &&
          speechCuts.worstWords <= MOST_WORDS &&
          gapMs.p95 <= MOST_GAP_MS,
        described: all.flatMap(({ described }) => described),
        ...{ calls: sum((found) => found.calls), interruptions: sum(({ interruptions }) => interruptions) },
        ...wrong,
        ...{ neverSilent: silent === 0, rulesBroken, toolsRun: sum(({ toolsRun }) => toolsRun) },
        ...{ cutsCompared: sum(({ cutsCompared }) => cutsCompared), cutsLeftOut: sum(({ cutsLeftOut }) => cutsLeftOut) },
        ...{ speechCuts, overheadMs, gapMs, seed: given },
      };
    } finally {
      await ledger.close();
    }
  },
});

// Node 20.20 that ends by itself after a thousand calls may spin for ever in its own clean-up (Environment::CleanupHandles), where no
// timer runs any more. Nothing of ours is open by now.
process.exit();
