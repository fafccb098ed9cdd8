// What a check is, and which outcomes it has. Knows no wire and no server.
import type { Lab } from './lab.ts';
import type { Level } from './verdict.ts';

/**
 * What a check needs. `call`: a call can be placed. `speech`: the caller has a voice, and the bot listens.
 * `token_check`: the server checks tokens. `token`: a good token is known. `signer`: a platform signs tokens on request.
 */
export type Need = 'call' | 'speech' | 'token_check' | 'token' | 'signer';

/** One named check: for every transport, or for the one whose lab it needs. */
export interface Check<Surroundings extends Lab = Lab> {
  /** In kebab-case, unique. */
  readonly id: string;
  /** The first is the rule that a failure names; the check covers the others, too. */
  readonly rules: readonly [string, ...string[]];
  /** What the server does when it passes: a sentence. */
  readonly title: string;
  readonly needs: readonly Need[];
  /** The source of the demand. Default `must`: a source demands it. */
  readonly level?: Level;
  /** Checks that change which keys the server has cached run alone, after all others. Default: in parallel. */
  readonly phase?: 'last';
  /** Passes when it returns. @throws CheckOutcome otherwise, by {@link Lab.fail}, {@link Lab.skip} and {@link Lab.giveUp}. */
  run(lab: Surroundings): Promise<void>;
}

/** How a check is defined. */
export type CheckName = Pick<Check, 'id' | 'rules' | 'title'>;
