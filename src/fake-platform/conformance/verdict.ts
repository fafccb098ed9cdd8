// What a check can say about a server. Knows no check.

/**
 * The source of a check, which decides how it counts. `must`: a rule with a source in the platform's documents. `advice`: a
 * convention, or what a sample does. `ours`: a decision of this project alone, not reported about other servers.
 */
export type Level = 'must' | 'advice' | 'ours';

/**
 * The verdict of a check. `advice`: the server differs from a recommendation, and breaks no rule. `undecided`: the check
 * applies, but its result says nothing about the server, such as a limit of ours.
 */
export type Verdict = 'pass' | 'fail' | 'advice' | 'not_applicable' | 'undecided';

/** Ends a check early. Not an error: it carries a verdict from deep inside a check to its runner. */
export class CheckOutcome extends Error {
  override readonly name = 'CheckOutcome';
  readonly verdict: Exclude<Verdict, 'pass'>;

  constructor(verdict: Exclude<Verdict, 'pass'>, reason: string) {
    super(reason);
    this.verdict = verdict;
  }
}

/** Thrown at a request of a check or call that was stopped, which ends it. */
export class CheckGivenUp extends Error {
  override readonly name = 'CheckGivenUp';

  constructor() {
    super('the check was given up');
  }
}
