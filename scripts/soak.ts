// `npm run check -- soak`: mixed random calls against the built server for as long as is asked, by the fake platform's caller and by one
// without manners. Demands no breach of the contract, flat memory, nothing left behind, and a clean stop.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { packageRoot } from '../src/base/package-root.ts';
import { seededNumbers } from '../src/base/seeded-numbers.ts';
import { callerVoice } from '../src/cli/caller-voice.ts';
import { rounded } from './bench/figures.ts';
import { command, number, progress, toggle } from './command-line.ts';
import { placePlanned, type CallAccess } from './soak-calls.ts';
import { PHRASES, planCall, planText } from './soak-plans.ts';
import { gauge, handlesOf, LogWatch, MemoryWatch, moreHandles } from './soak-watch.ts';
import { startEverything, startOne, type SoakedServers } from './soak-servers.ts';
import { prepareSurroundings, type BuiltServer, type Surroundings } from './surroundings.ts';

const help = `usage: npm run check -- soak [options]

Holds mixed random calls against the build (run \`npm run build\` first). Progress is on stderr every 30 s; the last line of
stdout is JSON, and the exit code is 0 only when nothing was wrong. The calls that went wrong are written to coverage/soak.

  --minutes N   how long new calls begin (default 60)
  --calls N     calls at once (default 20)
  --seed N      the same seed and number give the same call (default: a new one, printed)
  --only N      places call number N of the seed alone and prints its timeline
  --everything  two servers behind HAProxy, which share a Redis server, record every call, send traces, and ask models; half of
                all turns reach the server that the call does not live at. Needs Debian's redis-server and haproxy
  --help

example: npm run build && npm run check -- soak --minutes 5 --calls 10 --seed 7`;

/** Sessions of callers who vanished are ended after half a minute, ended ones forgotten after a minute. */
const CLEAN_LIMIT_MS = 150_000;
const POLL_MS = 1000;
const PROGRESS_MS = 30_000;
/**
 * Before, memory must grow: what is over is remembered for a minute, prompts are spoken for the first time, and code is compiled for
 * longer than that.
 */
const MIN_WARM_UP_MS = 90_000;
const WARM_UP_PART = 0.2;
/** Of so many tokens the caller takes one. */
const TOKENS = 20;
/** Longest pause of a caller between two calls. */
const MAX_PAUSE_MS = 2000;
const FOLDER = path.join(packageRoot(), 'coverage', 'soak');

/** What the calls have brought so far. */
const total = { calls: 0, running: 0, turns: 0, protocolErrors: 0, failedCalls: 0 };

type Access = Omit<CallAccess, 'token'> & { readonly tokens: readonly string[]; readonly seed: number; readonly agents: readonly string[] };

/** @returns the story of the call. */
async function placeOne(nth: number, access: Access): Promise<string> {
  const plan = planCall(access.seed, nth, access.phrases, access.agents);
  total.running += 1;
  const { turns, wrong, isFailed, timeline } = await placePlanned(plan, {
    ...access,
    token: access.tokens[nth % access.tokens.length] ?? '',
  });
  total.running -= 1;
  total.calls += 1;
  total.turns += turns;
  total.protocolErrors += wrong.length;
  if (isFailed) total.failedCalls += 1;
  const title = `seed ${String(access.seed)}, call ${String(nth)}: ${planText(plan)}`;
  const story = [title, ...wrong.map((line) => `  ${line}`), ...timeline, ''].join('\n');
  if (wrong.length === 0 && !isFailed) return story;
  progress(`WRONG  ${title}\n  ${wrong.join('\n  ')}`);
  await mkdir(FOLDER, { recursive: true });
  await writeFile(path.join(FOLDER, `call-${String(nth)}.txt`), story);
  return story;
}

/** Callers who place one call after the other, until `untilMs`. */
async function placeMany(access: Access, callers: number, untilMs: number): Promise<void> {
  const random = seededNumbers(access.seed);
  let next = 0;
  const caller = async (): Promise<void> => {
    await pause(random() * MAX_PAUSE_MS);
    while (performance.now() < untilMs) {
      next += 1;
      await placeOne(next, access);
      await pause(random() * MAX_PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

async function prepareAccess({ issuer, certificatePem }: Surroundings, { port, agents }: SoakedServers, seed: number): Promise<Access> {
  const voice = await callerVoice();
  try {
    const phrases: Uint8Array[] = [];
    // On a machine that does other things beside, the first try may take too long.
    for (const phrase of PHRASES) phrases.push(await voice.speak(phrase).catch(() => voice.speak(phrase)));
    const tokens = await Promise.all(Array.from({ length: TOKENS }, () => issuer.issueToken({ lifetimeMinutes: 1440 })));
    return { port, agents, certificatePem, organizationId: issuer.claims.organizationId, phrases, tokens, seed };
  } finally {
    await voice.close();
  }
}

/** One server and what is seen of it. */
class Watched {
  readonly #server: BuiltServer;
  readonly #handlesBefore: ReadonlyMap<string, number>;
  readonly #before: NodeJS.MemoryUsage;
  readonly #memory: MemoryWatch;

  private constructor(server: BuiltServer, handles: ReadonlyMap<string, number>, memory: NodeJS.MemoryUsage) {
    this.#server = server;
    this.#handlesBefore = handles;
    this.#before = memory;
    this.#memory = new MemoryWatch(server.process);
  }

  static async start(server: BuiltServer): Promise<Watched> {
    const { openSessions, openTurns } = await settled(server, () => true, new Map());
    if (openSessions + openTurns > 0) throw new Error('the first calls have not ended: their handles would hide those that leak');
    return new Watched(server, await handlesOf(server.process), await server.process.ask('memory'));
  }

  get text(): string {
    const { heapBytes = 0, rssBytes = 0 } = this.#memory.latest ?? {};
    return `heap ${(heapBytes / 2 ** 20).toFixed(1)} MB  resident ${(rssBytes / 2 ** 20).toFixed(0)} MB`;
  }

  /** Stops watching, waits until it has forgotten its calls, and stops it. */
  async end(warmUpMs: number) {
    const { process: child } = this.#server;
    this.#memory.stop();
    if (child.isOver) throw new Error('a server ended in the middle of the soak');
    const memory = this.#memory.verdict(warmUpMs);
    const { openSessions, openTurns, left } = await settled(this.#server, (handles) => handles.length === 0, this.#handlesBefore);
    const after = await child.ask('memory');
    const exit = await child.stop();
    return {
      ok: openSessions + openTurns + left.length === 0 && memory.isFlat && exit.code === 0,
      rssSlopeMbPerHour: rounded(memory.rssSlopeMbPerHour, 1),
      heapSlopeMbPerHour: rounded(memory.heapSlopeMbPerHour, 1),
      openSessionsAtEnd: openSessions,
      openTurnsAtEnd: openTurns,
      leakedHandles: left,
      heapGrowthMb: rounded((after.heapUsed + after.external - this.#before.heapUsed - this.#before.external) / 2 ** 20, 2),
      exitCode: exit.code,
    };
  }
}

/** Waits until nothing is open any more, or long enough. */
async function settled(
  { process: child, opsPort }: BuiltServer,
  handles: (left: readonly string[]) => boolean,
  before: ReadonlyMap<string, number>,
) {
  const untilMs = performance.now() + CLEAN_LIMIT_MS;
  for (;;) {
    const openSessions = await gauge(opsPort, 'parley_sessions_open');
    const openTurns = await gauge(opsPort, 'parley_turns_open');
    const left = moreHandles(before, await handlesOf(child));
    if ((openSessions === 0 && openTurns === 0 && handles(left)) || performance.now() > untilMs) return { openSessions, openTurns, left };
    await pause(POLL_MS);
  }
}

async function soak(soaked: SoakedServers, logged: LogWatch, access: Access, callers: number, forMinutes: number) {
  const { servers } = soaked;
  // One call to each bot, so that what is made once is there.
  for (const [index, agentId] of access.agents.entries()) {
    const step = { kind: 'say', label: 'hello', mulaw: access.phrases[0] ?? new Uint8Array(0) } as const;
    const plan = { kind: 'fair', agentId, script: [step], habits: {}, hangUpAtMs: undefined, breakAtMs: undefined, bearer: false } as const;
    await placePlanned(plan, { ...access, token: access.tokens[index] ?? '' });
  }
  const watched = await Promise.all(servers.map((server) => Watched.start(server)));

  const startedAtMs = performance.now();
  const reports = setInterval(() => {
    progress(
      `${((performance.now() - startedAtMs) / 60_000).toFixed(1).padStart(5)} min  calls ${String(total.calls)} + ${String(total.running)}  ` +
        `turns ${String(total.turns)}  wrong ${String(total.protocolErrors)}  failed ${String(total.failedCalls)}  ` +
        watched.map(({ text }) => text).join('  '),
    );
  }, PROGRESS_MS);
  const untilMs = startedAtMs + forMinutes * 60_000;
  await Promise.race([placeMany(access, callers, untilMs), ...servers.map((server) => server.process.ended())]);
  clearInterval(reports);
  const minutes = (performance.now() - startedAtMs) / 60_000;

  progress('no new calls; waiting until the servers have forgotten the old ones');
  const facts = await soaked.facts();
  // One after the other, as a deploy stops them.
  const ends = [];
  for (const each of watched) ends.push(await each.end(Math.max(MIN_WARM_UP_MS, minutes * 60_000 * WARM_UP_PART)));
  const { calls, turns, protocolErrors, failedCalls } = total;
  return {
    ok: protocolErrors + failedCalls + logged.errors === 0 && ends.every(({ ok }) => ok) && [calls, ...Object.values(facts)].every(Boolean),
    ...{ minutes: rounded(minutes, 1), calls, turns, protocolErrors, failedCalls, ...facts, servers: ends },
    ...{ loggedErrors: logged.errors, warnings: logged.warnings, seed: access.seed, node: process.version },
  };
}

await command({
  help,
  options: {
    minutes: number(60),
    calls: number(20, 1),
    seed: number(undefined),
    only: number(undefined),
    everything: toggle,
  },
  run: async ({ minutes, calls, only, everything, ...given }) => {
    const seed = given.seed ?? Math.floor(Math.random() * 2 ** 31);
    progress(`seed ${String(seed)}`);
    await rm(FOLDER, { recursive: true, force: true });
    const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-soak-'));
    const surroundings = await prepareSurroundings(folder);
    const logged = new LogWatch((line) => {
      progress(`SERVER  ${line}`);
    });
    let soaked: SoakedServers | undefined;
    try {
      soaked = await (everything ? startEverything : startOne)(surroundings, folder, logged.take);
      const access = await prepareAccess(surroundings, soaked, seed);
      if (only === undefined) return await soak(soaked, logged, access, calls, minutes);
      console.log(await placeOne(only, access));
      return undefined;
    } finally {
      await soaked?.close();
      await surroundings.issuer.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
});
