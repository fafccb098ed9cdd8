// The records of a run with one level after the other: results at fifty calls and at two hundred must not be mixed.
// Knows no process and no clock.
import { LoadBook } from './load-book.ts';
import type { LoadResult } from './load-result.ts';
import type { LevelTime } from './load-shape.ts';
import type { WorkerSecond } from './worker-messages.ts';

/** One record for each level. */
export class LevelBooks {
  readonly #levels: readonly { readonly time: LevelTime; readonly book: LoadBook }[];

  constructor(levels: readonly LevelTime[], workers: number) {
    this.#levels = levels.map((time) => ({ time, book: new LoadBook({ workers, countedFromMs: time.fromMs, countedToMs: time.toMs }) }));
  }

  /** Adds a worker's report. */
  add(worker: number, second: WorkerSecond): void {
    for (const { time, book } of this.#levels) {
      const isWithin = (atMs: number): boolean => atMs >= time.fromMs && atMs <= time.toMs;
      book.add(worker, {
        ...second,
        waits: second.waits.filter(({ fromMs }) => isWithin(fromMs)),
        calls: second.calls.filter(({ dueMs }) => isWithin(dueMs)),
      });
    }
  }

  /** The results of the levels that had begun. @param endMs - end of the measurement, ms since the run began. */
  resultsUntil(endMs: number): LoadResult['levels'] {
    return this.#levels.flatMap(({ time: { name, fromMs, toMs }, book }) => {
      if (fromMs >= endMs) return [];
      const { calls, turns, firstAudio, reply, gapsOver100Ms } = book.account;
      return [{ name, fromS: fromMs / 1000, toS: Math.min(toMs, endMs) / 1000, calls, turns, firstAudio, reply, gapsOver100Ms }];
    });
  }
}
