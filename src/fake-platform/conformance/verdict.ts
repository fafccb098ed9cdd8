// What a check can say of a server. Knows no check.

/**
 * Where a check comes from, and so what it counts. `must`: a rule with a source in the platform's documents. `advice`: a
 * convention, or a habit of a sample. `ours`: a decision of this project alone, which is not reported to other servers.
 */
export type Level = 'must' | 'advice' | 'ours';

/**
 * What a check said. `advice`: the server does otherwise than is recommended, and breaks no rule. `undecided`: the check
 * applies, and its end says nothing of the server, such as a limit of ours.
 */
export type Verdict = 'pass' | 'fail' | 'advice' | 'not_applicable' | 'undecided';

/** Ends a check before its end. Not an error: it carries a verdict from deep inside a check to its runner. */
export class CheckOutcome extends Error {
  override readonly name = 'CheckOutcome';
  readonly verdict: Exclude<Verdict, 'pass'>;

  constructor(verdict: Exclude<Verdict, 'pass'>, reason: string) {
    super(reason);
    this.verdict = verdict;
  }
}

/** Something was asked of a check or a call that was given up: whoever asks stops by this. */
export class CheckGivenUp extends Error {
  override readonly name = 'CheckGivenUp';

  constructor() {
    super('the check was given up');
  }
}
