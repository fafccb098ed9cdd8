// Searches the largest number of calls at once that still keeps to the conditions: doubled until it does not, then halved
// between what held and what did not, and repeated near the border, where chance decides a single try. Pure: how a number is
// tried is given in.

/** What one try came to. */
export interface Trial {
  readonly holds: boolean;
  /** The load could not keep its own pace: nothing is known of the server. */
  readonly isSaturated: boolean;
}

/** A number of calls that was tried. */
export interface Tried extends Trial {
  readonly calls: number;
}

/** What was found. */
export interface Capacity {
  /** The largest number that held, 0 when none did. */
  readonly calls: number;
  /** The smallest number that did not; undefined when all did. */
  readonly failedAt: number | undefined;
  /** What stands in the way of more: the server, the load itself, or the largest number that was to be tried. */
  readonly limit: 'server' | 'load' | 'maximum';
  readonly tried: readonly Tried[];
}

/** How far the search goes. */
export interface CapacityOptions {
  /** First number. */
  readonly start: number;
  /** Largest number. */
  readonly max: number;
  /** The border lies within this part of the result; 0.05 for 5 %. */
  readonly precision: number;
  /** Told before each try. */
  readonly onTry?: (calls: number, number: number) => void;
}

/** Within this part of the number, a single try proves nothing, and two of three decide. */
const NEAR = 0.25;
/** A load that was too slow says nothing, and may have been so by chance: only after so many tries it counts. */
const SATURATED_TRIES = 3;
/** No search takes more tries. */
const MAX_TRIES = 60;

/**
 * Searches.
 *
 * @param attempt - holds so many calls for a while. What it throws ends the search.
 */
export async function findCapacity(attempt: (calls: number) => Promise<Trial>, options: CapacityOptions): Promise<Capacity> {
  const search = new Search(attempt, options);
  await search.widen();
  do await search.narrow();
  while (!(await search.confirm()));
  return search.found;
}

class Search {
  readonly #attempt: (calls: number) => Promise<Trial>;
  readonly #options: CapacityOptions;
  readonly #tried: Tried[] = [];
  #held = 0;
  #failed: number | undefined;

  constructor(attempt: (calls: number) => Promise<Trial>, options: CapacityOptions) {
    this.#attempt = attempt;
    this.#options = options;
  }

  get found(): Capacity {
    const { max } = this.#options;
    const tried = this.#tried.filter(({ calls }) => calls === this.#failed);
    const isLoad = tried.filter(({ isSaturated }) => isSaturated).length * 2 > tried.length;
    const limit = this.#failed === undefined || this.#failed > max ? 'maximum' : isLoad ? 'load' : 'server';
    return { calls: this.#held, failedAt: this.#failed, limit, tried: this.#tried };
  }

  /** Doubles until a number does not hold. */
  async widen(): Promise<void> {
    const { start, max } = this.#options;
    for (let calls = Math.min(start, max); ; calls = Math.min(max, calls * 2)) {
      await this.#settle(calls, 1);
      if (this.#failed !== undefined || calls >= max) return;
    }
  }

  /** Halves until the border is known well enough. */
  async narrow(): Promise<void> {
    const { precision } = this.#options;
    while (this.#failed !== undefined && this.#failed - this.#held > Math.max(1, precision * this.#held) && this.#mayTry) {
      const middle = Math.floor((this.#held + this.#failed) / 2);
      await this.#settle(middle, this.#failed - this.#held <= NEAR * this.#failed ? 2 : 1);
    }
  }

  /** Tries both sides of the border again. @returns whether they stand. */
  async confirm(): Promise<boolean> {
    const { precision } = this.#options;
    const [held, failed] = [this.#held, this.#failed];
    if (held > 0 && !(await this.#decide(held, 2))) {
      this.#failed = held;
      this.#held = this.#lastHeldBelow(held);
      return !this.#mayTry;
    }
    if (failed !== undefined && (await this.#decide(failed, 2))) {
      this.#held = failed;
      this.#failed = this.#firstFailedAbove(failed) ?? Math.max(failed + 1, Math.ceil(failed * (1 + 2 * precision)));
      // That number was never tried: it is where the search goes on, not what was found.
      if (!this.#tried.some(({ calls }) => calls === this.#failed) && this.#mayTry) await this.#settle(this.#failed, 1);
      return !this.#mayTry;
    }
    return true;
  }

  get #mayTry(): boolean {
    return this.#tried.length < MAX_TRIES;
  }

  async #settle(calls: number, votes: number): Promise<void> {
    if (await this.#decide(calls, votes)) {
      this.#held = calls;
      if (this.#failed !== undefined && this.#failed <= calls) this.#failed = this.#firstFailedAbove(calls);
    } else this.#failed = calls;
  }

  /** Tries a number until one side has so many votes. */
  async #decide(calls: number, votes: number): Promise<boolean> {
    for (;;) {
      const tried = this.#tried.filter((each) => each.calls === calls);
      const saturated = tried.filter(({ isSaturated }) => isSaturated).length;
      const held = tried.filter(({ holds, isSaturated }) => holds && !isSaturated).length;
      if (held >= votes) return true;
      if (tried.length - held - saturated >= votes || saturated >= SATURATED_TRIES || !this.#mayTry) return false;
      this.#options.onTry?.(calls, this.#tried.length + 1);
      this.#tried.push({ calls, ...(await this.#attempt(calls)) });
    }
  }

  #lastHeldBelow(calls: number): number {
    const held = this.#tried.filter((each) => each.calls < calls && each.holds && !each.isSaturated).map((each) => each.calls);
    return Math.max(0, ...held);
  }

  #firstFailedAbove(calls: number): number | undefined {
    const failed = this.#tried.filter((each) => each.calls > calls && (!each.holds || each.isSaturated)).map((each) => each.calls);
    return failed.length === 0 ? undefined : Math.min(...failed);
  }
}
