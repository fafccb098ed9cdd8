// `npm run check -- conformance`: does our server keep the contract, and would the checks notice if it did not? Every check
// runs on our server with the token check on, in both modes of delivery; then on a small reference server, whole, where it
// does otherwise as it may, on well-behaved servers in another style, and with one breach after another, each of which must be
// named exactly. The same over WebSocket.
// Loopback only.
import { createApp } from '../src/app/app.ts';
import { loadSettings } from '../src/app/config/load-settings.ts';
import { createLogger } from '../src/base/log.ts';
import { packageRoot } from '../src/base/package-root.ts';
import type { Conformance } from '../src/fake-platform/conformance/run.ts';
import { startIssuer, type Issuer } from '../src/fake-platform/platform/issuer.ts';
import { loadProfile } from '../src/fake-platform/platform/profile.ts';
import type { Transport } from '../src/fake-platform/lines/target.ts';
import { startOtherStyleServer } from '../test/fixtures/other-style/grpc-server.ts';
import { startOtherStyleSocket } from '../test/fixtures/other-style/socket-server.ts';
import { BREACHES, FREEDOMS, type Breach } from '../test/fixtures/broken-servers/breaches.ts';
import { SOCKET_BREACHES, SOCKET_FREEDOMS, type SocketBreach } from '../test/fixtures/broken-servers/ws-breaches.ts';
import {
  examine,
  examineBroken,
  examineBrokenSocket,
  examineReference,
  examineSocket,
  examineSocketReference,
  tokenRules,
  type ExamineOptions,
} from '../test/support/conformance.ts';
import { dataSource, serverFlags, WITH_TEST_BOTS } from '../test/support/server-flags.ts';
import { socketDataSource, WITH_SOCKETS } from '../test/support/socket-peer.ts';
import { command, progress, type CommandResult } from './command-line.ts';

const help = `usage: npm run check -- conformance [-- BREACH ...]
Runs every conformance check on our server, then on the reference server, whole, with each freedom that the contract leaves, on
well-behaved servers in another style, and on the reference server with each breach (or the ones named).
The last line is JSON; exit code 1 when a whole server fails a check or gets advice, when a server in another style fails one, when
another check than expected does not apply to it, or when a broken server is not named exactly.
example: npm run check -- conformance chunks_too_small`;

const MODES = ['chunk', 'wav'] as const;
type Mode = (typeof MODES)[number];

/** Checks of the sound of the other mode, and of replies that are streamed while they play. */
const OF_CHUNKS = [
  'chunk-size-and-form',
  'no-text-beside-chunks',
  'settings-only-on-final',
  'short-remainder-not-alone',
  'stream-ends-with-empty-final',
];
const OF_STREAMS = ['cut-reply-stops', 'first-key-stops-reply'];
const OF_WAVS = ['wav-has-header', 'wav-is-playable'];
/** Our server runs one bot here, whose welcome may be cut and who sends no event for the flow. */
const OF_MORE_BOTS = ['unnamed-call-gets-default', 'start-waits-for-uncuttable-prompt', 'custom-event-has-name'];

/** The checks that do not apply to a server as it is started here: any other one that finds nothing to check is a gap. */
const NOT_APPLICABLE: Readonly<Record<'ours' | 'reference', Readonly<Record<Mode, readonly string[]>>>> = {
  ours: {
    chunk: [...OF_WAVS, ...OF_STREAMS, ...OF_MORE_BOTS],
    wav: [...OF_CHUNKS, ...OF_STREAMS, ...OF_MORE_BOTS, 'end-waits-for-farewell'],
  },
  reference: {
    chunk: [...OF_WAVS],
    wav: [...OF_CHUNKS, ...OF_STREAMS, 'end-waits-for-farewell'],
  },
};

/** What an interruption shows needs a reply that is streamed, and ours is short. */
const NOT_APPLICABLE_TO_OUR_SOCKETS = ['interrupted-reply-stops'];
/** Sockets wait more than they work. */
const SOCKET_JOBS = 16;
/** What our test bot takes. */
const OUR_BOT: NonNullable<ExamineOptions['suspect']> = {
  press: ['1'],
  endPress: ['2'],
  transferPress: ['3'],
  timing: { answerMs: 15_000, pace: 4, newKeyMs: 40_000 },
};

/** The servers that are broken on purpose, of one transport. */
interface BrokenServers<Name extends string> {
  readonly what: string;
  readonly transport: Transport;
  /** Few, because a busy machine is late and lateness is a breach. */
  readonly atOnce: number;
  readonly breaches: Readonly<Record<Name, { readonly rule: string; readonly check: string }>>;
  readonly examine: (breach: Name, issuer: Issuer) => Promise<Conformance>;
}

const BROKEN: BrokenServers<Breach> = {
  what: 'broken servers',
  transport: 'grpc',
  atOnce: 3,
  breaches: BREACHES,
  examine: (breach, issuer) => examineBroken(breach, issuer),
};
const BROKEN_SOCKETS: BrokenServers<SocketBreach> = {
  what: 'broken servers of sockets',
  transport: 'websocket',
  // Each takes some eight seconds, of which it works for less than one.
  atOnce: 6,
  breaches: SOCKET_BREACHES,
  examine: (breach, issuer) => examineBrokenSocket(breach, issuer, { jobs: SOCKET_JOBS }),
};

/** A new issuer for each server: some checks make new keys. */
async function withIssuer<Result>(transport: Transport, work: (issuer: Issuer) => Promise<Result>): Promise<Result> {
  const profile = loadProfile('fake');
  const url = transport === 'grpc' ? 'https://voice.example' : 'wss://localhost';
  const issuer = await startIssuer({ profile, url, schemaId: profile.schemas[transport] });
  try {
    return await work(issuer);
  } finally {
    await issuer.close();
  }
}

/** Every check on our server, over one transport. */
function examineOurs(transport: Transport, flags: readonly string[]): Promise<Conformance> {
  return withIssuer(transport, async (issuer) => {
    const source = transport === 'grpc' ? dataSource(issuer) : socketDataSource(issuer);
    const argv = [...serverFlags(issuer, undefined, [source]), ...WITH_TEST_BOTS, ...flags];
    const { settings } = loadSettings({ argv, env: {}, cwd: packageRoot() });
    const app = await createApp({ settings, log: createLogger({ level: 'silent' }) });
    try {
      await app.warmed;
      const { port, websocket } = app.ready;
      if (transport === 'grpc') return await examine(`grpc://127.0.0.1:${String(port)}`, { issuer, suspect: OUR_BOT });
      return await examineSocket(`ws://127.0.0.1:${String(websocket?.port)}`, { issuer, jobs: SOCKET_JOBS, suspect: OUR_BOT });
    } finally {
      await app.close();
    }
  });
}

/** A well-behaved server in another style, which is not ours: advice does not count. @returns whether it breaks no rule that has a source. */
async function isOtherStyleRight(mode: Mode | 'sockets'): Promise<boolean> {
  const found = await withIssuer(mode === 'sockets' ? 'websocket' : 'grpc', async (issuer) => {
    const tokens = tokenRules(issuer);
    const server = await (mode === 'sockets' ? startOtherStyleSocket({ tokens }) : startOtherStyleServer({ mode, tokens }));
    try {
      if (mode !== 'sockets') return await examine(server.target, { issuer, isOurs: false });
      return await examineSocket(server.target, { issuer, isOurs: false, jobs: SOCKET_JOBS });
    } finally {
      server.close();
    }
  });
  describe(`server in another style, ${mode}`, found);
  return found.ok;
}

function describe(name: string, { passed, failed, notApplicable, finding, results }: Conformance): void {
  const counts = `${String(passed)} passed, ${String(failed)} failed, ${String(notApplicable)} not applicable`;
  progress(`${name}: ${finding === undefined ? counts : finding.message}`);
  for (const { verdict, rules, id, reason } of results)
    if (verdict === 'fail' || verdict === 'advice') progress(`  ${rules[0] ?? ''} ${id}: ${reason}`);
}

/** Whether a whole server passed without advice, and no check but the expected ones did not apply. */
function isWhole(name: string, found: Conformance, expected: readonly string[]): boolean {
  describe(name, found);
  const skipped = found.results.filter(({ verdict }) => verdict === 'not_applicable');
  // What a busy machine leaves open is no gap of the checks.
  const gaps = skipped.filter(({ id, reason }) => !expected.includes(id) && !reason.includes('too busy'));
  const applied = expected.filter((id) => !skipped.some((each) => each.id === id));
  for (const { id, reason } of gaps) progress(`  ${id} should apply, and does not: ${reason}`);
  for (const id of applied) progress(`  ${id} should not apply, and does`);
  return found.ok && found.advisedRules.length === 0 && gaps.length === 0 && applied.length === 0;
}

/** Examines each broken server. @returns the rules of those that were named by exactly their rule, and by the check that is there for it. */
async function namedRules<Name extends string>(
  names: readonly Name[],
  { what, transport, atOnce, breaches, examine: examineServer }: BrokenServers<Name>,
): Promise<readonly string[]> {
  const named: string[] = [];
  await eachOf(names, what, atOnce, async (breach) => {
    const { rule, check } = breaches[breach];
    const once = (): Promise<Conformance> => withIssuer(transport, (issuer) => examineServer(breach, issuer));
    let found = await once();
    // What a busy machine leaves open is tried once more.
    if (found.results.some(({ id, reason }) => id === check && reason.includes('too busy'))) found = await once();
    const failed = found.results.filter(({ verdict }) => verdict === 'fail' || verdict === 'advice').map(({ id }) => id);
    const rules = new Set([...found.brokenRules, ...found.advisedRules]);
    if (rules.size === 1 && rules.has(rule) && failed.includes(check)) named.push(rule);
    else describe(`${what}: ${breach} should break ${rule} alone, and fail ${check}`, found);
  });
  return named;
}

/** Does this for each, `atOnce` at a time. */
async function eachOf<Name>(names: readonly Name[], what: string, atOnce: number, work: (name: Name) => Promise<void>): Promise<void> {
  const left = [...names];
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let name = left.shift(); name !== undefined; name = left.shift()) {
        await work(name);
        const done = names.length - left.length;
        if (done % 10 === 0) progress(`${String(done)} of ${String(names.length)} ${what}`);
      }
    }),
  );
}

/** The names of a table, or those of the given ones that it has. */
function chosen<Name extends string>(table: Readonly<Record<Name, unknown>>, given: readonly string[]): readonly Name[] {
  // Object.keys of a literal has exactly its keys.
  const names = Object.keys(table) as Name[];
  return given.length === 0 ? names : names.filter((name) => given.includes(name));
}

async function check(given: readonly string[]): Promise<CommandResult> {
  const breaches = chosen(BREACHES, given);
  const socketBreaches = chosen(SOCKET_BREACHES, given);
  const unknown = given.filter((name) => !Object.hasOwn(BREACHES, name) && !Object.hasOwn(SOCKET_BREACHES, name));
  if (unknown.length > 0) throw new Error(`no such breach: ${unknown.join(', ')}`);
  const ours: Conformance[] = [];
  const areGood: boolean[] = [];
  const areOthersRight: boolean[] = [];
  for (const mode of MODES) {
    const found = await examineOurs('grpc', [`--media.mode=${mode}`]);
    areGood.push(isWhole(`our server, ${mode} mode`, found, NOT_APPLICABLE.ours[mode]));
    ours.push(found);
  }
  const overSockets = await examineOurs('websocket', WITH_SOCKETS);
  areGood.push(isWhole('our server over WebSocket', overSockets, NOT_APPLICABLE_TO_OUR_SOCKETS));
  ours.push(overSockets);
  for (const mode of MODES) {
    const found = await withIssuer('grpc', (issuer) => examineReference({ mode }, { issuer }));
    areGood.push(isWhole(`reference server, whole, ${mode} mode`, found, NOT_APPLICABLE.reference[mode]));
  }
  const socketReference = (freedom?: (typeof SOCKET_FREEDOMS)[number]): Promise<Conformance> =>
    withIssuer('websocket', (issuer) => examineSocketReference(freedom, { issuer, jobs: SOCKET_JOBS }));
  areGood.push(isWhole('reference server of sockets, whole', await socketReference(), []));
  for (const freedom of FREEDOMS) {
    const found = await withIssuer('grpc', (issuer) => examineReference({ breach: freedom }, { issuer }));
    describe(`reference server, ${freedom}`, found);
    areGood.push(found.ok);
  }
  await eachOf(SOCKET_FREEDOMS, 'free servers of sockets', BROKEN_SOCKETS.atOnce, async (freedom) => {
    const found = await socketReference(freedom);
    describe(`reference server of sockets, ${freedom}`, found);
    areGood.push(found.ok && found.advisedRules.length === 0);
  });
  for (const style of [...MODES, 'sockets'] as const) areOthersRight.push(await isOtherStyleRight(style));
  const named = await namedRules(breaches, BROKEN);
  const socketRules = await namedRules(socketBreaches, BROKEN_SOCKETS);
  const [brokenServers, brokenServersNamed] = [breaches.length + socketBreaches.length, named.length + socketRules.length];
  const sum = (count: (found: Conformance) => number): number => ours.reduce((all, found) => all + count(found), 0);
  const otherStyleRight = !areOthersRight.includes(false);
  return {
    ok: !areGood.includes(false) && otherStyleRight && brokenServersNamed === brokenServers,
    otherStyleRight,
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed }) => failed),
    notApplicable: sum(({ notApplicable }) => notApplicable),
    brokenServers,
    brokenServersNamed,
    websocketRules: new Set(socketRules.filter((rule) => rule.startsWith('W-'))).size,
  };
}

await command({
  help,
  options: {},
  takesWords: true,
  run: async (_, words) => {
    try {
      return await check(words);
    } catch (thrown) {
      return { ok: false, error: thrown instanceof Error ? thrown.message : String(thrown) };
    }
  },
});
