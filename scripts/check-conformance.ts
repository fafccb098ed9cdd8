// `npm run check:conformance`: does our server keep the contract, and would the checks notice if it did not? Every check
// runs on our server with the token check on, in both modes of delivery; then on a small reference server, whole and with
// one breach after another, each of which must be named exactly. Loopback only.
import { createApp } from '../src/app/app.ts';
import { loadSettings } from '../src/app/config/load-settings.ts';
import { createLogger } from '../src/base/log.ts';
import { packageRoot } from '../src/base/package-root.ts';
import type { Conformance } from '../src/fake-platform/conformance/run.ts';
import { startIssuer, type Issuer } from '../src/fake-platform/issuer.ts';
import { loadProfile } from '../src/fake-platform/profile.ts';
import { BREACHES, type Breach } from '../test/fixtures/broken-servers/breaches.ts';
import { examine, examineBroken, examineReference } from '../test/support/conformance.ts';
import { dataSource, serverFlags, WITH_TEST_BOTS } from '../test/support/server-flags.ts';

/** Broken servers at once: few, because a busy machine is late and lateness is a breach. */
const SERVERS_AT_ONCE = 3;

const USAGE = `usage: npm run check:conformance [-- BREACH ...]
Runs every conformance check on our server, then on the reference server, whole and with each breach (or the ones named).
The last line is JSON; exit code 1 when our server fails a check or a broken server is not named exactly.
example: npm run check:conformance -- chunks_too_small`;

/** A new issuer for each server: some checks make new keys. */
async function withIssuer<Result>(work: (issuer: Issuer) => Promise<Result>): Promise<Result> {
  const issuer = await startIssuer({ profile: loadProfile('fake'), url: 'https://voice.example' });
  try {
    return await work(issuer);
  } finally {
    await issuer.close();
  }
}

/** Every check on our server. */
function examineOurs(mode: 'chunk' | 'wav'): Promise<Conformance> {
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
        suspect: { press: ['1'], endPress: ['2'], transferPress: [], timing: { answerMs: 15_000, pace: 4, newKeyMs: 40_000 } },
      });
    } finally {
      await app.close();
    }
  });
}

function tell(name: string, { passed, failed, notApplicable, finding, results }: Conformance): void {
  const counts = `${String(passed)} passed, ${String(failed)} failed, ${String(notApplicable)} not applicable`;
  process.stderr.write(`${name}: ${finding === undefined ? counts : finding.message}\n`);
  for (const { verdict, rules, id, reason } of results)
    if (verdict === 'fail') process.stderr.write(`  ${rules[0] ?? ''} ${id}: ${reason}\n`);
}

/** Whether a broken server is named by exactly the rule that it breaks. */
async function isNamed(breach: Breach): Promise<boolean> {
  const found = await withIssuer((issuer) => examineBroken(breach, issuer));
  const named = found.brokenRules.length === 1 && found.brokenRules[0] === BREACHES[breach].rule;
  if (!named) tell(`broken server ${breach} should break ${BREACHES[breach].rule} alone`, found);
  return named;
}

function isBreach(text: string): text is Breach {
  return Object.hasOwn(BREACHES, text);
}

async function main(given: readonly string[]): Promise<boolean> {
  const breaches = given.length > 0 ? given.filter(isBreach) : Object.keys(BREACHES).filter(isBreach);
  if (breaches.length < given.length) throw new Error(`no such breach: ${given.filter((name) => !isBreach(name)).join(', ')}`);
  const ours: Conformance[] = [];
  for (const mode of ['chunk', 'wav'] as const) {
    const found = await examineOurs(mode);
    tell(`our server, ${mode} mode`, found);
    ours.push(found);
  }
  const whole = await withIssuer((issuer) => examineReference({ mode: 'chunk' }, { issuer }));
  tell('reference server, whole', whole);
  const left = [...breaches];
  let named = 0;
  await Promise.all(
    Array.from({ length: SERVERS_AT_ONCE }, async () => {
      for (let breach = left.shift(); breach !== undefined; breach = left.shift()) {
        if (await isNamed(breach)) named += 1;
        const done = breaches.length - left.length;
        if (done % 10 === 0) process.stderr.write(`${String(done)} of ${String(breaches.length)} broken servers\n`);
      }
    }),
  );
  const sum = (count: (found: Conformance) => number): number => ours.reduce((all, found) => all + count(found), 0);
  const ok = ours.every((found) => found.ok) && whole.ok && named === breaches.length;
  console.log(
    JSON.stringify({
      ok,
      passed: sum(({ passed }) => passed),
      failed: sum(({ failed }) => failed),
      notApplicable: sum(({ notApplicable }) => notApplicable),
      brokenServers: breaches.length,
      brokenServersNamed: named,
    }),
  );
  return ok;
}

if (process.argv.includes('--help')) console.log(USAGE);
else process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
