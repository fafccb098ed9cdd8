// What a caller hears while a bot takes its time.

/** What a caller hears while a reply is made. */
export interface Fillers {
  /** Silence after which the first is said, ms. */
  readonly afterMs: number;
  /** Each is said once at most in a turn, in this order. Spoken before the first call, like `prompts`. */
  readonly say: readonly string[];
  /** Further silence after which the next is said, ms. Default: only the first is said. */
  readonly everyMs?: number;
}

/** @throws TypeError for impossible times, and for fillers without words. */
export function demandFillers(id: string, { afterMs, everyMs, say }: Fillers): void {
  const isTime = (ms: number): boolean => Number.isInteger(ms) && ms > 0;
  if (!isTime(afterMs) || (everyMs !== undefined && !isTime(everyMs)))
    throw new TypeError(`the fillers of bot "${id}" need whole milliseconds from 1`);
  if (say.length === 0 || say.some((text) => text.trim() === '')) throw new TypeError(`the fillers of bot "${id}" need words`);
}
