// What a check is, and what it can say. Knows no wire and no server.
import type { Lab } from './lab.ts';
import type { Level } from './verdict.ts';

/**
 * What a check cannot do without. `call`: a call can be placed. `speech`: the caller has a voice, and the bot listens.
 * `token_check`: the server checks tokens. `token`: a good token is known. `signer`: a platform signs what it is asked to.
 */
export type Need = 'call' | 'speech' | 'token_check' | 'token' | 'signer';

/** One named check: of every transport, or of one whose lab it needs. */
export interface Check<Surroundings extends Lab = Lab> {
  /** In kebab-case, unique. */
  readonly id: string;
  /** The first is the rule that a failure names; the others are shown by it as well. */
  readonly rules: readonly [string, ...string[]];
  /** What the server does when it passes: a sentence. */
  readonly title: string;
  readonly needs: readonly Need[];
  /** Where it comes from. Default `must`: a source demands it. */
  readonly level?: Level;
  /** Checks that touch what the server remembers of keys run alone, after all others. Default: beside others. */
  readonly phase?: 'last';
  /** Passes when it returns. @throws CheckOutcome otherwise, by {@link Lab.fail}, {@link Lab.skip} and {@link Lab.giveUp}. */
  run(lab: Surroundings): Promise<void>;
}

/** How a check is called. */
export type CheckName = Pick<Check, 'id' | 'rules' | 'title'>;
