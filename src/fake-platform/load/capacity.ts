// Searches the largest number of parallel calls that still meets the conditions. Doubles the number until one fails, halves the interval
// between success and failure, and repeats tries near the border, where chance decides a single try. Pure: a function that tries a number
// is passed in.

export interface Trial {
  readonly holds: boolean;
  /** Whether the load could not keep its own pace; the try then says nothing about the server. */
  readonly isSaturated: boolean;
}

/** A number of calls that was tried. */
export interface Tried extends Trial {
  readonly calls: number;
}

export interface Capacity {
  /** The largest number that passed; 0: none did. */
  readonly calls: number;
  /** The smallest number that failed; undefined: none did. */
  readonly failedAt: number | undefined;
  /** What limits the number: the server, the load itself, or `max`. */
  readonly limit: 'server' | 'load' | 'maximum';
  readonly tried: readonly Tried[];
}

/** The range and precision of the search. */
export interface CapacityOptions {
  /** The number to try first. */
  readonly start: number;
  /** The largest number to try. */
  readonly max: number;
  /** Width of the last interval, as a part of the result: 0.05 for 5 %. */
  readonly precision: number;
}

/** In an interval narrower than this part of the number, chance may decide a single try, so two of three decide. */
const NEAR = 0.25;
/** Saturated tries that count as a failure. Fewer may be chance, because a saturated try says nothing about the server. */
const SATURATED_TRIES = 3;
/** So many votes of one side decide, whatever the other side has. */
const DECISIVE = 2;
const MAX_TRIES = 60;

/** How many votes decide when the other side has none. With votes on both sides, {@link DECISIVE} votes of one side do. */
interface Votes {
  readonly toHold: number;
  readonly toFail: number;
}

/** While the number doubles, a failure by chance would hide all larger numbers; a success by chance is found later. */
const WIDENING: Votes = { toHold: 1, toFail: DECISIVE };
const QUICK: Votes = { toHold: 1, toFail: 1 };
const SURE: Votes = { toHold: DECISIVE, toFail: DECISIVE };

/** Searches the capacity. @param attempt - tries a number of calls for a while; an error that it throws ends the search. */
export async function findCapacity(attempt: (calls: number) => Promise<Trial>, options: CapacityOptions): Promise<Capacity> {
  const search = new Search(attempt, options);
  do {
    await search.widen();
    await search.narrow();
  } while (!(await search.confirm()));
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
    const tried = this.#tried.filter(({ calls }) => calls === this.#failed);
    const isLoad = tried.filter(({ isSaturated }) => isSaturated).length * 2 > tried.length;
    const limit = this.#failed === undefined ? 'maximum' : isLoad ? 'load' : 'server';
    return { calls: this.#held, failedAt: this.#failed, limit, tried: this.#tried };
  }

  /** Doubles the number until a number fails. */
  async widen(): Promise<void> {
    const { start, max } = this.#options;
    while (this.#failed === undefined && this.#held < max && this.#mayTry) {
      await this.#settle(Math.min(max, this.#held === 0 ? start : this.#held * 2), WIDENING);
    }
  }

  /** Halves the interval until it is narrow enough. */
  async narrow(): Promise<void> {
    const { precision } = this.#options;
    while (this.#failed !== undefined && this.#failed - this.#held > Math.max(1, precision * this.#held) && this.#mayTry) {
      const middle = Math.floor((this.#held + this.#failed) / 2);
      await this.#settle(middle, this.#failed - this.#held <= NEAR * this.#failed ? SURE : QUICK);
    }
  }

  /** Tries both ends of the interval again. @returns whether they are confirmed; otherwise the search must continue. */
  async confirm(): Promise<boolean> {
    const [held, failed] = [this.#held, this.#failed];
    if (held > 0 && !(await this.#decide(held, SURE))) {
      this.#failed = held;
      this.#held = this.#lastHeldBelow(held);
      return !this.#mayTry;
    }
    if (failed !== undefined && (await this.#decide(failed, SURE))) {
      this.#held = failed;
      this.#failed = this.#firstFailedAbove(failed);
      return !this.#mayTry;
    }
    return true;
  }

  get #mayTry(): boolean {
    return this.#tried.length < MAX_TRIES;
  }

  async #settle(calls: number, votes: Votes): Promise<void> {
    if (await this.#decide(calls, votes)) this.#held = calls;
    else this.#failed = calls;
  }

  /** Tries a number until its votes decide. */
  async #decide(calls: number, { toHold, toFail }: Votes): Promise<boolean> {
    for (;;) {
      const { held, failed, saturated } = this.#votesOf(calls);
      if (held >= DECISIVE || (failed === 0 && held >= toHold)) return true;
      if (failed >= DECISIVE || (held === 0 && failed >= toFail) || saturated >= SATURATED_TRIES) return false;
      if (!this.#mayTry) return held > failed;
      this.#tried.push({ calls, ...(await this.#attempt(calls)) });
    }
  }

  #votesOf(calls: number): { readonly held: number; readonly failed: number; readonly saturated: number } {
    const tried = this.#tried.filter((each) => each.calls === calls);
    const saturated = tried.filter(({ isSaturated }) => isSaturated).length;
    const held = tried.filter(({ holds, isSaturated }) => holds && !isSaturated).length;
    return { held, failed: tried.length - held - saturated, saturated };
  }

  #lastHeldBelow(below: number): number {
    const held = this.#tried.filter(({ calls }) => {
      const votes = this.#votesOf(calls);
      return calls < below && votes.held > votes.failed;
    });
    return Math.max(0, ...held.map(({ calls }) => calls));
  }

  #firstFailedAbove(above: number): number | undefined {
    const failed = this.#tried.filter(({ calls }) => {
      const votes = this.#votesOf(calls);
      return calls > above && votes.held <= votes.failed;
    });
    return failed.length === 0 ? undefined : Math.min(...failed.map(({ calls }) => calls));
  }
}
