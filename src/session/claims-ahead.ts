// Claims that were taken in the same step in which a stream opened, because it opened with an input that is whole: the answer
// then needs one round trip less. Each waits for its input for a moment, and is worth nothing once the call was claimed otherwise.
import type { CancelTimer, Clock } from '../base/clock.ts';
import type { CallClaim } from './call-claim.ts';

/** How long a claim waits for the input that it was taken for, ms: as good as no time, unless the stream is gone. */
const UNUSED_MS = 250;

interface Ahead {
  /** Undefined while the store is asked. */
  ready?: { readonly claim: CallClaim; readonly cancelTimer: CancelTimer };
  /** The call was claimed otherwise meanwhile: what was read with this claim may be old. */
  isOvertaken: boolean;
}

/** Of all calls of one process, by the id of the call. */
export class ClaimsAhead {
  readonly #clock: Clock;
  readonly #giveBack: (claim: CallClaim) => void;
  readonly #ahead = new Map<string, Ahead>();

  /** @param giveBack - takes the claims that nobody has used. */
  constructor(clock: Clock, giveBack: (claim: CallClaim) => void) {
    this.#clock = clock;
    this.#giveBack = giveBack;
  }

  /** Whether one is there or asked for. */
  has(id: string): boolean {
    return this.#ahead.has(id);
  }

  /**
   * Keeps a claim until it is used.
   *
   * @param ask - asks the store; undefined where another process has the call.
   * @param isWanted - asked when a claim was overtaken: false when nobody has the call any more, so that it is given back.
   * @throws what `ask` throws.
   */
  async keep(id: string, ask: () => Promise<CallClaim | undefined>, isWanted: () => boolean): Promise<void> {
    const ahead: Ahead = { isOvertaken: false };
    this.#ahead.set(id, ahead);
    const claim = await ask().catch((thrown: unknown) => {
      this.#ahead.delete(id);
      throw thrown;
    });
    if (claim === undefined || ahead.isOvertaken) {
      this.#ahead.delete(id);
      if (claim === undefined) return;
      // To the store it is one with the claim that came before it, and given back with that one.
      if (isWanted()) claim.end();
      else this.#giveBack(claim);
      return;
    }
    const cancelTimer = this.#clock.after(UNUSED_MS, () => {
      this.#ahead.delete(id);
      this.#giveBack(claim);
    });
    ahead.ready = { claim, cancelTimer };
  }

  /** The claim of a call that is to be answered, which is its taker's from now on; one that is still asked for is overtaken. */
  take(id: string): CallClaim | undefined {
    const ahead = this.#ahead.get(id);
    if (ahead === undefined) return undefined;
    if (ahead.ready === undefined) {
      ahead.isOvertaken = true;
      return undefined;
    }
    this.#ahead.delete(id);
    ahead.ready.cancelTimer();
    return ahead.ready.claim;
  }
}
