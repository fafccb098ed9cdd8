// The verdicts of checks. Knows no check.

/**
 * The source of a check, which decides how it counts. `must`: a rule with a source in the platform's documents. `advice`: a
 * convention, or what a sample of the platform does. `ours`: a decision of this project, which does not count for other servers.
 */
export type Level = 'must' | 'advice' | 'ours';

/**
 * The verdict of a check. `advice`: the server does not follow a recommendation, but breaks no rule. `undecided`: the check
 * applies, but its result says nothing about the server, for example because of a limit of ours.
 */
export type Verdict = 'pass' | 'fail' | 'advice' | 'not_applicable' | 'undecided';

/** Ends a check early. Not an error: carries a verdict from deep inside a check to its runner. */
export class CheckOutcome extends Error {
  override readonly name = 'CheckOutcome';
  readonly verdict: Exclude<Verdict, 'pass'>;

  constructor(verdict: Exclude<Verdict, 'pass'>, reason: string) {
    super(reason);
    this.verdict = verdict;
  }
}

/** Thrown when a check or call that was stopped sends a request; ends that check or call. */
export class CheckGivenUp extends Error {
  override readonly name = 'CheckGivenUp';

  constructor() {
    super('the check was given up');
  }
}
