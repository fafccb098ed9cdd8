// `npm run check -- attack`: do callers notice an attack on the ports of a server? Strangers do what scripts/attack names, for minutes,
// while calls are placed over both transports.
import { fork } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../src/base/clock.ts';
import { loadContract } from '../src/contract/grpc.ts';
import { loadProfile } from '../src/contract/profile.ts';
import { placeCall } from '../src/fake-platform/caller/caller.ts';
import { startIssuer, type Issuer } from '../src/fake-platform/platform/issuer.ts';
import { dataSource, serverFlags, WITH_TEST_BOTS } from '../test/support/server-flags.ts';
import { ServeProcess } from '../test/support/serve-process.ts';
import type { Deeds, Orders } from './attack/attacker.ts';
import { FORGERIES, forgedTokens } from './attack/forged-tokens.ts';
import { ABUSES } from './attack/http2-abuses.ts';
import { envelopesOf, messagesOf } from './attack/messages.ts';
import { command, number, progress, secondsSince, seed } from './command-line.ts';
import { gauge } from './soak-watch.ts';

const help = `Attacks a server on loopback from a process of its own while calls are placed over gRPC and WebSocket: ${String(ABUSES.length)} abuses of
HTTP/2, ${String(FORGERIES)} forged tokens, broken and silent connections, and mutated messages of somebody with a good token.

  npm run check -- attack               ten minutes
  npm run check -- attack --minutes 1   shorter; what is begun is ended

  --minutes N     how long (default 10)
  --broken N      connections that break the protocol and go, in each round (default 1100)
  --silent N      connections that say nothing, in each round (default 1050)
  --callers N     callers at once, half of them on each transport (default 4)
  --limit-ms N    longest wait of a caller for the first sound, from before the connection on (default 1000)
  --seed N        draws what is mutated

Run it on a machine that does nothing else. Progress is on stderr; the last line of stdout is JSON: {"ok", "calls",
"slowestFirstAudioMs", "accepted", "gotThrough", "seconds", …}. The exit code is 1 when a call failed or its first sound came too late, a
forged token was accepted, or something got through: an error in the log, a foreign line on its outputs, a connection that stayed, a stream or
call that was left open, or the end of the server.
`;

/** Between two calls of one caller, ms. */
const BETWEEN_CALLS_MS = 300;
/** A caller hears the beginning of the welcome and hangs up, ms. */
const CALL_MS = 1500;
/** Longest wait for what strangers have left behind, ms: streams of theirs wait ten seconds for a first message. */
const QUIET_MS = 60_000;
const PROFILE = loadProfile('fake');

interface Attacked {
  readonly process: ServeProcess;
  readonly port: number;
  readonly socketPort: number;
  readonly opsPort: number;
}

/** What callers met. */
interface Heard {
  calls: number;
  slowestMs: number;
  readonly failed: string[];
}

const web = (issuer: Issuer) => ({ ...issuer.claims, url: 'wss://localhost', schemaId: PROFILE.schemas.websocket });

async function serve(issuer: Issuer): Promise<Attacked> {
  const { url, schemaId } = web(issuer);
  const sources = [dataSource(issuer), { ...dataSource(issuer), id: 'ds-socket', url, schema_id: schemaId, transport: 'websocket' }];
  const process = new ServeProcess([
    ...serverFlags(issuer, undefined, sources),
    ...WITH_TEST_BOTS,
    ...['--websocket.enabled=true', '--websocket.host=127.0.0.1', '--websocket.port=0', '--log.level=info', '--json'],
    // Callers whose messages were mutated never say goodbye.
    ...['--sessions.idle_timeout_ms=20000', '--sessions.sweep_ms=2000', '--shutdown.grace_ms=1000'],
  ]);
  const { port, opsPort } = await process.ready();
  const { websocket } = JSON.parse(process.stdout) as { readonly websocket: { readonly port: number } };
  return { process, port, opsPort, socketPort: websocket.port };
}

/** One call: a new connection, the welcome, and the end. */
async function call(target: string, token: string, organizationId: string, heard: Heard): Promise<void> {
  const startedMs = systemClock.monotonicMs();
  let firstMs: number | undefined;
  const { outcome, findings } = await placeCall({
    ...{ target, token, organizationId, profile: PROFILE, keepsSound: false, hangUpAtMs: CALL_MS },
    script: [],
    limits: { connectMs: 20_000, answerMs: 20_000 },
    onReply: () => (firstMs ??= systemClock.monotonicMs() - startedMs),
  });
  heard.calls += 1;
  heard.slowestMs = Math.max(heard.slowestMs, firstMs ?? Infinity);
  if (firstMs === undefined || outcome === 'failed' || findings.length > 0) {
    heard.failed.push(`${target.split(':')[0] ?? ''} ${outcome}: ${findings.map((finding) => finding.code).join(', ')}`);
  }
}

async function attacked(orders: Orders): Promise<Deeds> {
  const child = fork(fileURLToPath(new URL('attack/attacker-process.ts', import.meta.url)), [], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  child.send(orders);
  return new Promise((resolve, reject) => {
    let last: Deeds | undefined;
    child.on('message', (deeds: Deeds) => {
      last = deeds;
      const { broken, silent, abuses, forged, mutated } = deeds;
      progress(
        `  done to it: ${String(broken)} broken, ${String(silent)} silent, ${String(abuses)} abuses, ${String(forged)} forged, ${String(mutated)} mutated`,
      );
    });
    child.on('close', (code) => {
      if (code === 0 && last !== undefined) resolve(last);
      else reject(new Error('the attacker ended before its time'));
    });
  });
}

/** What is left of the attack in the server, after long enough. */
async function leftBehind({ opsPort }: Attacked): Promise<readonly string[]> {
  const untilMs = systemClock.monotonicMs() + QUIET_MS;
  for (;;) {
    const open: string[] = [];
    for (const name of ['parley_turns_open', 'parley_sessions_open']) if ((await gauge(opsPort, name)) !== 0) open.push(`${name} is not 0`);
    if (open.length === 0 || systemClock.monotonicMs() > untilMs) return open;
    await pause(500);
  }
}

function loggedFaults(output: string): readonly string[] {
  return output.split('\n').flatMap((line) => {
    if (line === '') return [];
    try {
      const { level, message, msg } = JSON.parse(line) as { readonly level?: string; readonly message?: string; readonly msg?: string };
      return level === 'error' || level === 'fatal' ? [`logged: ${message ?? msg ?? level}`] : [];
    } catch {
      return ['a line that is none of the log'];
    }
  });
}

/** How hard the server is attacked, and how long its callers may wait. */
interface Attack extends Pick<Orders, 'seconds' | 'seed' | 'broken' | 'silent'> {
  readonly callers: number;
  readonly limitMs: number;
}

async function check({ seconds, seed: drawn, broken, silent, callers: atOnce, limitMs }: Attack) {
  const issuer = await startIssuer({ profile: PROFILE });
  const server = await serve(issuer);
  try {
    const socketToken = await issuer.issueToken({ ...web(issuer), lifetimeMinutes: 1440 });
    const token = await issuer.issueToken({ lifetimeMinutes: 1440 });
    const { organizationId } = issuer.claims;
    const heard: Heard = { calls: 0, slowestMs: 0, failed: [] };
    let isAttacked = true;
    const caller = async (number: number): Promise<void> => {
      const isSocket = number % 2 === 1;
      const target = isSocket ? `ws://127.0.0.1:${String(server.socketPort)}` : `grpc://127.0.0.1:${String(server.port)}`;
      // Not all at the same moment.
      await pause(number * 200);
      while (isAttacked) {
        await call(target, isSocket ? socketToken : token, organizationId, heard);
        await pause(BETWEEN_CALLS_MS);
      }
    };
    // A server that has just started speaks its first prompts a little later.
    await call(`grpc://127.0.0.1:${String(server.port)}`, token, organizationId, { calls: 0, slowestMs: 0, failed: [] });
    const startedMs = performance.now();
    const callers = Array.from({ length: atOnce }, (_, number) => caller(number));
    const deeds = await attacked({
      ...{ port: server.port, socketPort: server.socketPort, seed: drawn, seconds, token, socketToken, broken, silent },
      callerInputPath: loadContract(PROFILE).media.processCallerInputPath,
      forged: await forgedTokens(issuer, PROFILE, socketToken, drawn),
      messages: messagesOf(PROFILE, organizationId),
      envelopes: envelopesOf(organizationId),
    });
    isAttacked = false;
    await Promise.all(callers);
    const gotThrough = [...deeds.left.map((name) => `open for long: ${name}`), ...(await leftBehind(server))];
    if (server.process.exit !== undefined) gotThrough.push('the server has ended');
    gotThrough.push(...new Set(loggedFaults(server.process.stdout + server.process.stderr)));
    const { accepted, left: _left, ...done } = deeds;
    const slowestFirstAudioMs = Math.round(heard.slowestMs);
    const isComplete = done.abuses >= ABUSES.length && done.forged >= FORGERIES && heard.calls > 0;
    const ok = isComplete && heard.failed.length + accepted.length + gotThrough.length === 0 && slowestFirstAudioMs <= limitMs;
    return {
      ok,
      described: [...heard.failed, ...accepted, ...gotThrough],
      calls: heard.calls,
      failedCalls: heard.failed.length,
      slowestFirstAudioMs,
      accepted: accepted.length,
      gotThrough: gotThrough.length,
      ...done,
      seconds: secondsSince(startedMs),
      seed: drawn,
    };
  } finally {
    await server.process.kill();
    await issuer.close();
  }
}

await command({
  help,
  options: { minutes: number(10), broken: number(1100), silent: number(1050), callers: number(4, 1), 'limit-ms': number(1000), seed },
  run: ({ minutes, 'limit-ms': limitMs, ...attack }) => check({ ...attack, limitMs, seconds: minutes * 60 }),
});
