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
} from '../test/support/conformance.ts';
import { dataSource, serverFlags, WITH_TEST_BOTS } from '../test/support/server-flags.ts';
import { socketDataSource, WITH_SOCKETS } from '../test/support/socket-peer.ts';

/** Broken servers at once: few, because a busy machine is late and lateness is a breach. */
const SERVERS_AT_ONCE = 3;
/** Of sockets more: each takes some eight seconds, of which it works for less than one. */
const SOCKET_SERVERS_AT_ONCE = 6;

const USAGE = `usage: npm run check -- conformance [-- BREACH ...]
Runs every conformance check on our server, then on the reference server, whole, with each freedom that the contract leaves, on
well-behaved servers in another style, and on the reference server with each breach (or the ones named).
The last line is JSON; exit code 1 when a whole server fails a check or gets advice, when a server
in another style fails one, when another check than expected does not apply to
it, or when a broken server is not named exactly.
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

/** The checks that do not apply to a server as it is started here: any other one that finds nothing to look at is a gap. */
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

/** Checks that no issuer, no second bot and no streamed welcome of ours lets apply over WebSocket. */
const SOCKET_NOT_APPLICABLE: Readonly<Record<'ours' | 'reference', readonly string[]>> = {
  ours: ['interrupted-reply-stops'],
  reference: [],
};
/** Sockets wait more than they work. */
const SOCKET_JOBS = 16;

/** A new issuer for each server: some checks make new keys. */
async function withIssuer<Result>(work: (issuer: Issuer) => Promise<Result>, transport: Transport = 'grpc'): Promise<Result> {
  const profile = loadProfile('fake');
  const url = transport === 'grpc' ? 'https://voice.example' : 'wss://localhost';
  const issuer = await startIssuer({ profile, url, schemaId: profile.schemas[transport] });
  try {
    return await work(issuer);
  } finally {
    await issuer.close();
  }
}

/** Every check on our server. */
function examineOurs(mode: Mode): Promise<Conformance> {
  return withIssuer(async (issuer) => {
    const { settings } = loadSettings({
      argv: [...serverFlags(issuer, undefined, [dataSource(issuer)]), ...WITH_TEST_BOTS, `--media.mode=${mode}`],
      env: {},
      cwd: packageRoot(),
    });
    const app = await createApp({ settings, log: createLogger({ level: 'silent' }) });
    try {
      await app.warmed;
      return await examine(`grpc://127.0.0.1:${String(app.ready.port)}`, {
        issuer,
        suspect: { press: ['1'], endPress: ['2'], transferPress: ['3'], timing: { answerMs: 15_000, pace: 4, newKeyMs: 40_000 } },
      });
    } finally {
      await app.close();
    }
  });
}

/** Every check on our server over WebSocket. */
function examineOurSockets(): Promise<Conformance> {
  return withIssuer(async (issuer) => {
    const { settings } = loadSettings({
      argv: [...serverFlags(issuer, undefined, [socketDataSource(issuer)]), ...WITH_SOCKETS, ...WITH_TEST_BOTS],
      env: {},
      cwd: packageRoot(),
    });
    const app = await createApp({ settings, log: createLogger({ level: 'silent' }) });
    try {
      await app.warmed;
      return await examineSocket(`ws://127.0.0.1:${String(app.ready.websocket?.port)}`, {
        issuer,
        jobs: SOCKET_JOBS,
        suspect: { press: ['1'], endPress: ['2'], transferPress: ['3'], timing: { answerMs: 15_000, pace: 4, newKeyMs: 40_000 } },
      });
    } finally {
      await app.close();
    }
  }, 'websocket');
}

/**
 * Every check on the well-behaved servers in another style, which are not ours. @returns whether none of them breaks a rule that has
 * a source; advice is told.
 */
async function areOthersRight(): Promise<boolean> {
  let areRight = true;
  const judge = (name: string, found: Conformance): void => {
    tell(name, found);
    areRight = found.ok && areRight;
  };
  for (const mode of MODES) {
    await withIssuer(async (issuer) => {
      const server = await startOtherStyleServer({ mode, tokens: tokenRules(issuer) });
      try {
        judge(`server in another style, ${mode} mode`, await examine(server.target, { issuer, isOurs: false }));
      } finally {
        server.close();
      }
    });
  }
  await withIssuer(async (issuer) => {
    const server = await startOtherStyleSocket({ tokens: tokenRules(issuer) });
    try {
      judge('server of sockets in another style', await examineSocket(server.target, { issuer, isOurs: false, jobs: SOCKET_JOBS }));
    } finally {
      server.close();
    }
  }, 'websocket');
  return areRight;
}

function tell(name: string, { passed, failed, notApplicable, finding, results }: Conformance): void {
  const counts = `${String(passed)} passed, ${String(failed)} failed, ${String(notApplicable)} not applicable`;
  process.stderr.write(`${name}: ${finding === undefined ? counts : finding.message}\n`);
  for (const { verdict, rules, id, reason } of results)
    if (verdict === 'fail' || verdict === 'advice') process.stderr.write(`  ${rules[0] ?? ''} ${id}: ${reason}\n`);
}

/** Whether a whole server passed without advice, and no check went without something to look at but the ones that are known for it. */
function isWhole(name: string, found: Conformance, expected: readonly string[]): boolean {
  tell(name, found);
  const skipped = found.results.filter(({ verdict }) => verdict === 'not_applicable');
  // What a busy machine leaves open is told, and is no gap of the checks.
  const gaps = skipped.filter(({ id, reason }) => !expected.includes(id) && !reason.includes('too busy'));
  const applied = expected.filter((id) => !skipped.some((each) => each.id === id));
  for (const { id, reason } of gaps) process.stderr.write(`  ${id} should apply, and does not: ${reason}\n`);
  for (const id of applied) process.stderr.write(`  ${id} should not apply, and does\n`);
  return found.ok && found.advisedRules.length === 0 && gaps.length === 0 && applied.length === 0;
}

/** Rules that were broken or advised, each once. */
function namedRules({ brokenRules, advisedRules }: Conformance): readonly string[] {
  return [...new Set([...brokenRules, ...advisedRules])];
}

/** Whether a broken server is named by exactly the rule that it breaks, and by the check that is there for it. */
async function isNamed(breach: Breach): Promise<boolean> {
  const { rule, check } = BREACHES[breach];
  const look = (): Promise<Conformance> => withIssuer((issuer) => examineBroken(breach, issuer));
  let found = await look();
  // What a busy machine leaves open is looked at once more.
  if (found.results.some(({ id, reason }) => id === check && reason.includes('too busy'))) found = await look();
  const failed = found.results.filter(({ verdict }) => verdict === 'fail' || verdict === 'advice').map(({ id }) => id);
  const rules = namedRules(found);
  const named = rules.length === 1 && rules[0] === rule && failed.some((id) => id === check);
  if (!named) tell(`broken server ${breach} should break ${rule} alone, and fail ${check}`, found);
  return named;
}

/** As {@link isNamed}, of sockets. @returns the rule, or undefined when it is not named. */
async function namedSocketRule(breach: SocketBreach): Promise<string | undefined> {
  const { rule, check } = SOCKET_BREACHES[breach];
  const look = (): Promise<Conformance> => withIssuer((issuer) => examineBrokenSocket(breach, issuer, { jobs: SOCKET_JOBS }), 'websocket');
  let found = await look();
  // What a busy machine leaves open is looked at once more.
  if (found.results.some(({ id, reason }) => id === check && reason.includes('too busy'))) found = await look();
  const failed = found.results.filter(({ verdict }) => verdict === 'fail' || verdict === 'advice').map(({ id }) => id);
  const rules = namedRules(found);
  if (rules.length === 1 && rules[0] === rule && failed.some((id) => id === check)) return rule;
  tell(`broken server of sockets ${breach} should break ${rule} alone, and fail ${check}`, found);
  return undefined;
}

/** Does this for each, `atOnce` at a time. */
async function eachOf<Name>(names: readonly Name[], what: string, atOnce: number, work: (name: Name) => Promise<void>): Promise<void> {
  const left = [...names];
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let name = left.shift(); name !== undefined; name = left.shift()) {
        await work(name);
        const done = names.length - left.length;
        if (done % 10 === 0) process.stderr.write(`${String(done)} of ${String(names.length)} ${what}\n`);
      }
    }),
  );
}

function isSocketBreach(text: string): text is SocketBreach {
  return Object.hasOwn(SOCKET_BREACHES, text);
}

function isBreach(text: string): text is Breach {
  return Object.hasOwn(BREACHES, text);
}

async function main(given: readonly string[]): Promise<boolean> {
  const breaches = (given.length > 0 ? given : Object.keys(BREACHES)).filter(isBreach);
  const socketBreaches = (given.length > 0 ? given : Object.keys(SOCKET_BREACHES)).filter(isSocketBreach);
  const unknown = given.filter((name) => !isBreach(name) && !isSocketBreach(name));
  if (unknown.length > 0) throw new Error(`no such breach: ${unknown.join(', ')}`);
  const ours: Conformance[] = [];
  let areWhole = true;
  for (const mode of MODES) {
    const found = await examineOurs(mode);
    areWhole = isWhole(`our server, ${mode} mode`, found, NOT_APPLICABLE.ours[mode]) && areWhole;
    ours.push(found);
  }
  for (const mode of MODES) {
    const found = await withIssuer((issuer) => examineReference({ mode }, { issuer }));
    areWhole = isWhole(`reference server, whole, ${mode} mode`, found, NOT_APPLICABLE.reference[mode]) && areWhole;
  }
  for (const freedom of FREEDOMS) {
    const found = await withIssuer((issuer) => examineReference({ breach: freedom }, { issuer }));
    tell(`reference server, ${freedom}`, found);
    areWhole = found.ok && areWhole;
  }
  const areRight = await areOthersRight();
  const ourSockets = await examineOurSockets();
  areWhole = isWhole('our server over WebSocket', ourSockets, SOCKET_NOT_APPLICABLE.ours) && areWhole;
  ours.push(ourSockets);
  const overSocket = await withIssuer((issuer) => examineSocketReference(undefined, { issuer, jobs: SOCKET_JOBS }), 'websocket');
  areWhole = isWhole('reference server of sockets, whole', overSocket, SOCKET_NOT_APPLICABLE.reference) && areWhole;
  await eachOf(SOCKET_FREEDOMS, 'free servers of sockets', SOCKET_SERVERS_AT_ONCE, async (freedom) => {
    const found = await withIssuer((issuer) => examineSocketReference(freedom, { issuer, jobs: SOCKET_JOBS }), 'websocket');
    tell(`reference server of sockets, ${freedom}`, found);
    areWhole = found.ok && found.advisedRules.length === 0 && areWhole;
  });
  let named = 0;
  await eachOf(breaches, 'broken servers', SERVERS_AT_ONCE, async (breach) => {
    if (await isNamed(breach)) named += 1;
  });
  const rules: string[] = [];
  await eachOf(socketBreaches, 'broken servers of sockets', SOCKET_SERVERS_AT_ONCE, async (breach) => {
    const rule = await namedSocketRule(breach);
    if (rule !== undefined) rules.push(rule);
  });
  const sum = (count: (found: Conformance) => number): number => ours.reduce((all, found) => all + count(found), 0);
  const ok = areWhole && areRight && named === breaches.length && rules.length === socketBreaches.length;
  console.log(
    JSON.stringify({
      ok,
      otherStyleRight: areRight,
      passed: sum(({ passed }) => passed),
      failed: sum(({ failed }) => failed),
      notApplicable: sum(({ notApplicable }) => notApplicable),
      brokenServers: breaches.length + socketBreaches.length,
      brokenServersNamed: named + rules.length,
      websocketRules: new Set(rules.filter((rule) => rule.startsWith('W-'))).size,
    }),
  );
  return ok;
}

if (process.argv.includes('--help')) console.log(USAGE);
else
  try {
    process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
  } catch (thrown) {
    console.log(JSON.stringify({ ok: false, error: thrown instanceof Error ? thrown.message : String(thrown) }));
    process.exitCode = 1;
  }
