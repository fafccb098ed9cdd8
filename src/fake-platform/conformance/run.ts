// Runs checks on a server, several at once, and adds up what they say. Knows no single check.
import { status } from '@grpc/grpc-js';
import { waitAtMost } from '../../base/abort.ts';
import { AppError } from '../../base/errors.ts';
import { failureOf, type Failure } from '../failure.ts';
import type { Check, Need } from './check.ts';
import { ExchangeLog, type ExchangeLine } from './exchange.ts';
import { CheckLab } from './lab.ts';
import { ProbeCall } from './probe-call.ts';
import type { Suspect } from './suspect.ts';
import { Survey } from './survey.ts';
import { CheckOutcome, type Verdict } from './verdict.ts';
import { WireConnection, type Ending } from './wire.ts';

/** What a check said of a server. */
export interface CheckResult {
  readonly id: string;
  readonly rules: readonly string[];
  readonly title: string;
  readonly verdict: Verdict;
  /** Why it is no pass; empty for one. */
  readonly reason: string;
  /** The exchanges that prove it. */
  readonly exchanges: readonly (readonly ExchangeLine[])[];
  readonly durationMs: number;
}

/** What all checks said. */
export interface Conformance {
  /** Nothing failed, something passed, and the run came to its end. */
  readonly ok: boolean;
  /** Why no check was run: the server cannot be talked to. */
  readonly finding: Failure | undefined;
  readonly isInterrupted: boolean;
  readonly passed: number;
  readonly failed: number;
  readonly notApplicable: number;
  /** Part of the checks that applied that passed, 0 to 1; undefined when none applied. */
  readonly score: number | undefined;
  /** Rules that were broken, each once. */
  readonly brokenRules: readonly string[];
  readonly results: readonly CheckResult[];
}

/** How to run checks. */
export interface RunOptions {
  readonly suspect: Omit<Suspect, 'wantsToken'>;
  readonly checks: readonly Check[];
  /** Checks at once. */
  readonly jobs: number;
  /** Longest time of one check, ms. */
  readonly checkMs?: number;
  /** Ends the run: no further check begins, and those that run are given up. */
  readonly signal?: AbortSignal;
  readonly onResult?: (result: CheckResult, done: number, of: number) => void;
}

const CHECK_MS = 90_000;

/** What each need is called where it is not met. */
const UNMET: Readonly<Record<Need, string>> = {
  call: 'no call can be placed: a token is missing or refused, or SESSION_START is not answered by a FINAL',
  speech: 'the caller has no voice: give a recording with --wav',
  token_check: 'the server takes calls without a token, and none was given',
  token: 'needs a good token: --token-file or --platform',
  signer: 'needs a platform that signs tokens: --platform',
};

/** Runs the checks. Nothing is thrown for what a server does. */
export async function runConformance(options: RunOptions): Promise<Conformance> {
  const reached = await reach(options.suspect);
  if ('code' in reached) return summary([], reached, options.signal?.aborted === true);
  const suspect: Suspect = { ...options.suspect, wantsToken: reached.wantsToken };
  const survey = new Survey(suspect);
  const unmet = (need: Need): boolean => {
    switch (need) {
      case 'call':
        return !reached.canCall;
      case 'speech':
        return suspect.speech === undefined;
      case 'token_check':
        return !suspect.wantsToken && suspect.token === undefined;
      case 'token':
        return suspect.token === undefined || !reached.canCall;
      case 'signer':
        return suspect.signer === undefined || !reached.canCall;
    }
  };
  const results: CheckResult[] = [];
  const perform = async (check: Check): Promise<void> => {
    if (options.signal?.aborted === true) return;
    const missing = check.needs.find(unmet);
    const result = missing === undefined ? await runCheck(check, suspect, survey, options) : notApplicable(check, UNMET[missing]);
    if (result === undefined) return;
    results.push(result);
    options.onResult?.(result, results.length, options.checks.length);
  };
  for (const check of options.checks.filter(({ phase }) => phase === 'first')) await perform(check);
  const beside = options.checks.filter(({ phase }) => phase === undefined);
  await Promise.all(
    Array.from({ length: Math.max(1, options.jobs) }, async () => {
      for (let check = beside.shift(); check !== undefined; check = beside.shift()) await perform(check);
    }),
  );
  for (const check of options.checks.filter(({ phase }) => phase === 'last')) await perform(check);
  const order = options.checks.map(({ id }) => id);
  return summary(
    results.sort((one, other) => order.indexOf(one.id) - order.indexOf(other.id)),
    undefined,
    options.signal?.aborted === true,
  );
}

/** What the first look at a server found. */
interface Reached {
  readonly wantsToken: boolean;
  readonly canCall: boolean;
}

/** Statuses by which a connection says that there is nobody to talk to. */
const UNREACHABLE: readonly string[] = ['refused', 'host_unknown', 'connect_timeout', 'tls_failed', 'garbage', 'closed_early', 'no_answer'];

/** Lists the agents and begins a call, without a token and with the one that was given. */
async function reach(suspect: Omit<Suspect, 'wantsToken'>): Promise<Reached | Failure> {
  const { clock, timing, organizationId, agentId, token } = suspect;
  const log = new ExchangeLog(clock);
  const begin = async (authorization: string | undefined): Promise<{ readonly ending: Ending | undefined; readonly hasFinal: boolean }> => {
    const connection = new WireConnection({ ...suspect, authorization });
    try {
      const call = new ProbeCall(connection, clock, log, timing, { organizationId, agentId });
      const { rpc } = await call.begin();
      if (rpc.final !== undefined) await call.end();
      return { ending: rpc.ending, hasFinal: rpc.final !== undefined };
    } finally {
      connection.close();
    }
  };
  const connection = new WireConnection({ ...suspect, authorization: token });
  try {
    const list = await connection.list(organizationId, timing.answerMs, log);
    if ('code' in list) {
      const failure: Failure =
        list.code === status.DEADLINE_EXCEEDED
          ? { code: 'no_answer', message: `the server did not list its agents within ${String(timing.answerMs)} ms` }
          : failureOf(list);
      if (UNREACHABLE.includes(failure.code)) return failure;
    }
  } finally {
    connection.close();
  }
  const bare = await begin(undefined);
  const wantsToken = bare.ending?.code === status.UNAUTHENTICATED;
  const canCall = token === undefined ? bare.hasFinal : (await begin(token)).hasFinal;
  return { wantsToken, canCall };
}

async function runCheck(
  check: Check,
  suspect: Suspect,
  survey: Survey,
  { checkMs = CHECK_MS, signal }: RunOptions,
): Promise<CheckResult | undefined> {
  const { clock } = suspect;
  const lab = new CheckLab(suspect, survey);
  const startMs = clock.monotonicMs();
  const said = (verdict: Verdict, reason: string): CheckResult => ({
    ...{ id: check.id, rules: check.rules, title: check.title, verdict, reason },
    exchanges: lab.proof.map(({ lines }) => [...lines]),
    durationMs: Math.round(clock.monotonicMs() - startMs),
  });
  try {
    const waited = await waitAtMost(check.run(lab), checkMs, clock, signal);
    if (waited.kind === 'aborted') return undefined;
    return waited.kind === 'timeout' ? said('fail', `the check was not over after ${String(checkMs)} ms`) : said('pass', '');
  } catch (thrown) {
    if (thrown instanceof CheckOutcome) return said(thrown.verdict, thrown.message);
    // The platform that signs tokens is not the server: it proves nothing of it.
    if (thrown instanceof AppError) return said('not_applicable', thrown.message);
    throw thrown;
  } finally {
    lab.close();
  }
}

function notApplicable({ id, rules, title }: Check, reason: string): CheckResult {
  return { ...{ id, rules, title, reason }, verdict: 'not_applicable', exchanges: [], durationMs: 0 };
}

function summary(results: readonly CheckResult[], finding: Failure | undefined, isInterrupted: boolean): Conformance {
  const count = (verdict: Verdict): number => results.filter((result) => result.verdict === verdict).length;
  const [passed, failed, notApplicable] = [count('pass'), count('fail'), count('not_applicable')];
  const broken = results.filter(({ verdict }) => verdict === 'fail').flatMap(({ rules }) => rules.slice(0, 1));
  return {
    ok: finding === undefined && failed === 0 && passed > 0 && !isInterrupted,
    ...{ finding, isInterrupted, passed, failed, notApplicable, results },
    score: passed + failed === 0 ? undefined : passed / (passed + failed),
    brokenRules: [...new Set(broken)].sort(),
  };
}

/** Lets checks be chosen by rule and by id; empty lists choose all. */
export function chooseChecks(checks: readonly Check[], rules: readonly string[], ids: readonly string[]): readonly Check[] {
  if (rules.length === 0 && ids.length === 0) return checks;
  return checks.filter((check) => ids.includes(check.id) || check.rules.some((rule) => rules.includes(rule)));
}
