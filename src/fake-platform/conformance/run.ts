// Runs checks on a server, several in parallel, and summarizes the results. Knows no single check.
import { waitAtMost, type Waited } from '../../base/abort.ts';
import type { Failure } from '../lines/failure.ts';
import type { Check, Need } from './catalog.ts';
import type { ExchangeLine, ExchangeLog } from './exchange.ts';
import type { StartedSuite, Suite } from './registry.ts';
import type { Lab } from './lab.ts';
import { redactor, type Redactor } from './tokens.ts';
import { Slots } from './survey.ts';
import { speakingMs, type GivenSuspect, type Reached, type Suspect } from './suspect.ts';
import { CheckOutcome, type Level, type Verdict, CheckGivenUp } from './verdict.ts';
import type { Probe } from './probe.ts';

export interface CheckResult {
  readonly id: string;
  readonly rules: readonly string[];
  readonly title: string;
  readonly level: Level;
  readonly verdict: Verdict;
  /** Why the check did not pass; empty for a pass. */
  readonly reason: string;
  readonly exchanges: readonly (readonly ExchangeLine[])[];
  readonly durationMs: number;
}

export interface Conformance {
  /** Nothing failed, nothing stayed undecided, the server answered to the end, and the run was not stopped. */
  readonly ok: boolean;
  /** Set when the server did not answer, so that no check ran, or stopped answering during the run. */
  readonly finding: Failure | undefined;
  readonly isInterrupted: boolean;
  readonly passed: number;
  readonly failed: number;
  readonly notApplicable: number;
  /** Checks that apply but reached no verdict. */
  readonly undecided: number;
  /** Share of the decided checks that passed, 0 to 1; undefined when none was decided. */
  readonly score: number | undefined;
  /** Rules that were broken, each once. */
  readonly brokenRules: readonly string[];
  /** Recommendations that were not followed, each once. They are no failures and do not change the score. */
  readonly advisedRules: readonly string[];
  readonly results: readonly CheckResult[];
}

export interface RunOptions {
  /** The checks of this transport, and the means to run them. */
  readonly suite: Suite;
  readonly suspect: GivenSuspect;
  /** The checks to run: all of the suite, or some of them. */
  readonly checks: readonly Check[];
  /** True for a server of this project: rules that only this project has made apply, too. Default false. */
  readonly isOurs?: boolean;
  /** Most parallel checks and recorded calls. */
  readonly jobs: number;
  /** Longest time of one check, ms; waiting for recorded calls does not count. Default: depends on the length of the speech. */
  readonly checkMs?: number;
  /** Ends the run: no further check begins, and checks under way are stopped. */
  readonly signal?: AbortSignal;
  readonly onResult?: (result: CheckResult, done: number, of: number) => void;
}

const CHECK_MS = 90_000;
/** Most times that a check speaks. Its time limit grows with the length of the speech. */
const SPOKEN_TIMES = 5;
/** Shortest additional wait for a check that had to wait for recorded calls, ms. */
const MIN_WAIT_MS = 1000;

/** Why checks at the level `ours` do not apply to other servers. */
const NOT_ASKED = 'no source demands it: it is how this project’s own server does it, and only --ours asks for it';

/** Why a check cannot be run; undefined when it can. */
function unmet(need: Need, suspect: Suspect, { whyNot }: Reached): string | undefined {
  const noCall = suspect.canCall ? undefined : `no call can be placed: ${whyNot}`;
  switch (need) {
    case 'call':
      return noCall;
    case 'speech':
      return suspect.speech === undefined ? 'the caller has no voice: give a recording with --wav' : undefined;
    case 'token_check':
      if (suspect.wantsToken || suspect.token !== undefined) return undefined;
      return suspect.canCall ? 'the server takes calls without a token, and none was given' : `${noCall ?? ''}; no token was given`;
    case 'token':
      return suspect.token === undefined ? 'needs a good token: --token-file or --platform' : noCall;
    case 'signer':
      return suspect.signer === undefined ? 'needs a platform that signs tokens: --platform' : noCall;
  }
}

/** Runs the checks. Never throws because of what a server does. */
export async function runConformance(options: RunOptions): Promise<Conformance> {
  const { signal, checks, suite } = options;
  const redact = redactor(options.suspect.token);
  const isInterrupted = (): boolean => signal?.aborted === true;
  const reached = await reach(suite.open(options.suspect), signal);
  if (reached === undefined || 'code' in reached) return summary([], redactedFailure(reached, redact), isInterrupted());
  const { wantsToken, listWantsToken, canCall } = reached;
  const suspect: Suspect = { ...options.suspect, wantsToken, listWantsToken, canCall };
  const slots = new Slots(options.jobs);
  const started = suite.start(suspect, slots);
  const results: CheckResult[] = [];
  const perform = async (check: Check): Promise<void> => {
    if (isInterrupted()) return;
    const missing =
      check.level === 'ours' && options.isOurs !== true
        ? NOT_ASKED
        : check.needs.map((need) => unmet(need, suspect, reached)).find((why) => why !== undefined);
    const result =
      missing === undefined
        ? await runCheck(check, { suspect, started, slots }, options)
        : resultOf(check, 'not_applicable', missing, { proof: [], durationMs: 0 });
    if (result === undefined) return;
    const shown = redacted(result, redact);
    results.push(shown);
    options.onResult?.(shown, results.length, checks.length);
  };
  try {
    const beside = checks.filter(({ phase }) => phase === undefined);
    await Promise.all(
      Array.from({ length: Math.max(1, options.jobs) }, async () => {
        for (let check = beside.shift(); check !== undefined; check = beside.shift()) await perform(check);
      }),
    );
    for (const check of checks.filter(({ phase }) => phase === 'last')) await perform(check);
    // When the server is gone, its rejections prove nothing.
    const lastPass = results.findLast(({ verdict }) => verdict === 'pass')?.id;
    const gone = canCall && !isInterrupted() ? await missed(suite.open(suspect)) : undefined;
    const order = checks.map(({ id }) => id);
    const sorted = results.sort((one, other) => order.indexOf(one.id) - order.indexOf(other.id));
    const after = lastPass === undefined ? '' : `; "${lastPass}" was the last check that passed`;
    const finding = gone && { code: gone.code, message: `the server stopped answering during the run${after}: ${gone.message}` };
    return summary(sorted, redactedFailure(finding, redact), isInterrupted());
  } finally {
    started.close();
  }
}

interface Shared {
  readonly suspect: Suspect;
  readonly started: StartedSuite;
  readonly slots: Slots;
}

/** @returns undefined when the run was interrupted. */
async function runCheck(check: Check, shared: Shared, options: RunOptions): Promise<CheckResult | undefined> {
  const { suspect, started, slots } = shared;
  const { clock } = suspect;
  await slots.take();
  const lab = started.lab();
  const startMs = clock.monotonicMs();
  const said = (verdict: Verdict, reason: string): CheckResult =>
    resultOf(check, verdict, reason, { proof: lab.proof, durationMs: clock.monotonicMs() - startMs });
  try {
    const { kind } = await bounded(check.run(lab), lab, options);
    if (kind === 'aborted') return undefined;
    const givenUp = `the check was given up after ${String(Math.round(limitOf(options) / 1000))} s`;
    return kind === 'timeout' ? said('undecided', givenUp) : said('pass', '');
  } catch (thrown) {
    if (thrown instanceof CheckOutcome) {
      if (thrown.verdict === 'fail' && check.level === 'advice' && !lab.isOverloaded) return said('advice', thrown.message);
      if (thrown.verdict !== 'fail' || !lab.isOverloaded) return said(thrown.verdict, thrown.message);
      return said('undecided', `${thrown.message}; the server said that it has no room: try with fewer --jobs`);
    }
    // Neither a platform that cannot sign nor an error of ours is the fault of the server.
    return said('undecided', `the check broke: ${thrown instanceof Error ? thrown.message : 'no reason given'}`);
  } finally {
    lab.close();
  }
}

/** Longest time of one check, ms. */
function limitOf({ checkMs, suspect }: RunOptions): number {
  return checkMs ?? CHECK_MS + SPOKEN_TIMES * speakingMs(suspect);
}

/** Waits for a check. Time in which the check waits for recorded calls does not count. */
async function bounded(work: Promise<void>, lab: Lab, options: RunOptions): Promise<Waited<void>> {
  const { signal } = options;
  const checkMs = limitOf(options);
  let [waited, lentMs] = [await waitAtMost(work, checkMs, lab.suspect.clock, signal), 0];
  while (waited.kind === 'timeout' && lab.lentMs > lentMs) {
    const moreMs = Math.max(MIN_WAIT_MS, lab.lentMs - lentMs);
    lentMs = lab.lentMs;
    waited = await waitAtMost(work, moreMs, lab.suspect.clock, signal);
  }
  return waited;
}

function redacted(result: CheckResult, redact: Redactor): CheckResult {
  const exchanges = result.exchanges.map((lines) => lines.map((line) => ({ ...line, what: redact(line.what) })));
  return { ...result, reason: redact(result.reason), exchanges };
}

function redactedFailure(finding: Failure | undefined, redact: Redactor): Failure | undefined {
  return finding && { ...finding, message: redact(finding.message) };
}

function resultOf(
  { id, rules, title, level }: Check,
  verdict: Verdict,
  reason: string,
  { proof, durationMs }: { readonly proof: readonly ExchangeLog[]; readonly durationMs: number },
): CheckResult {
  return { id, rules, title, level, verdict, reason, exchanges: proof.map(({ lines }) => [...lines]), durationMs: Math.round(durationMs) };
}

function summary(results: readonly CheckResult[], finding: Failure | undefined, isInterrupted: boolean): Conformance {
  const count = (verdict: Verdict): number => results.filter((result) => result.verdict === verdict).length;
  const [passed, failed, notApplicable, undecided] = [count('pass'), count('fail'), count('not_applicable'), count('undecided')];
  const rulesOf = (verdict: Verdict): readonly string[] => {
    const rules = results.filter((result) => result.verdict === verdict).flatMap((result) => result.rules.slice(0, 1));
    return [...new Set(rules)].sort();
  };
  return {
    ok: finding === undefined && failed === 0 && undecided === 0 && !isInterrupted,
    ...{ finding, isInterrupted, passed, failed, notApplicable, undecided, results },
    score: passed + failed === 0 ? undefined : passed / (passed + failed),
    brokenRules: rulesOf('fail'),
    advisedRules: rulesOf('advice'),
  };
}

type Named = Pick<Check, 'id' | 'rules'>;

/** Selects checks by rule and by id; two empty lists select all. */
export function chooseChecks<Kind extends Named>(
  checks: readonly Kind[],
  rules: readonly string[],
  ids: readonly string[],
): readonly Kind[] {
  if (rules.length === 0 && ids.length === 0) return checks;
  return checks.filter((check) => ids.includes(check.id) || check.rules.some((rule) => rules.includes(rule)));
}

export function unknownChoices(checks: readonly Named[], rules: readonly string[], ids: readonly string[]): readonly string[] {
  return [
    ...rules.filter((rule) => !checks.some((check) => check.rules.includes(rule))),
    ...ids.filter((id) => !checks.some((check) => check.id === id)),
  ];
}

/**
 * Begins a call and lists the agents, with the given token and without one.
 *
 * @param probe - closed at the end.
 * @param signal - ends the test at once; the result is then undefined.
 */
async function reach(probe: Probe, signal: AbortSignal | undefined): Promise<Reached | Failure | undefined> {
  const stop = (): void => probe.close();
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted === true) stop();
  try {
    const authorization = probe.goodAuthorization ?? null;
    const call = await probe.present(authorization);
    const list = await probe.presentToList(authorization);
    const bareCall = authorization === null ? call : await probe.present(null);
    const bareList = authorization === null ? list : await probe.presentToList(null);
    if (signal?.aborted === true) return undefined;
    // One method may fail because of the server itself. Only when neither answers, no server listens.
    if (call.isNobody && list.isNobody && !bareCall.isTaken) return call.failure;
    return {
      // The code of a rejection has its own rule (G-02, W-06).
      wantsToken: !bareCall.isTaken && (bareCall.isDenied || call.hasFinal),
      listWantsToken: !bareList.isTaken && (bareList.isDenied || list.isTaken),
      canCall: call.hasFinal,
      whyNot: call.hasFinal ? '' : call.whyNot,
    };
  } catch (thrown) {
    if (thrown instanceof CheckGivenUp) return undefined;
    throw thrown;
  } finally {
    signal?.removeEventListener('abort', stop);
    stop();
  }
}

/** Begins one more call. @param probe - closed at the end. @returns why the server no longer answers; undefined when it does. */
async function missed(probe: Probe): Promise<Failure | undefined> {
  try {
    const { hasFinal, failure } = await probe.present(probe.goodAuthorization ?? null);
    // A server that has no room is still there.
    return hasFinal || probe.isOverloaded ? undefined : failure;
  } finally {
    probe.close();
  }
}
