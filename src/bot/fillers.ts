// What a caller hears while a bot takes its time.

/** What a caller hears while a bot takes its time. */
export interface Fillers {
  /** Silence before the first, ms. */
  readonly afterMs: number;
  /** In this order, each once at most in a turn. Synthesized before the first call. */
  readonly say: readonly string[];
  /** Further silence before the next, ms. Default: only the first is said. */
  readonly everyMs?: number;
}

/** @throws TypeError for impossible times, and for fillers without words. */
export function demandFillers(id: string, { afterMs, everyMs, say }: Fillers): void {
  const isTime = (ms: number): boolean => Number.isInteger(ms) && ms > 0;
  if (!isTime(afterMs) || (everyMs !== undefined && !isTime(everyMs)))
    throw new TypeError(`the fillers of bot "${id}" need whole milliseconds from 1`);
  if (say.length === 0 || say.some((text) => text.trim() === '')) throw new TypeError(`the fillers of bot "${id}" need words`);
}
