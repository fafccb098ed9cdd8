// The accounts of a run that holds one level after the other: what callers heard at fifty calls says nothing beside what they
// heard at two hundred. Knows no process and no clock.
import { LoadBook } from './load-book.ts';
import type { LoadResult } from './load-result.ts';
import type { LevelTime } from './load-shape.ts';
import type { WorkerSecond } from './worker-messages.ts';

/** One account for each level. */
export class LevelBooks {
  readonly #levels: readonly { readonly time: LevelTime; readonly book: LoadBook }[];

  constructor(levels: readonly LevelTime[], workers: number) {
    this.#levels = levels.map((time) => ({ time, book: new LoadBook({ workers, countedFromMs: time.fromMs, countedToMs: time.toMs }) }));
  }

  /** Takes what a worker reports. */
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

  /** What the levels came to that had begun. @param endMs - end of what was measured, ms since the run began. */
  resultsUntil(endMs: number): LoadResult['levels'] {
    return this.#levels.flatMap(({ time: { name, fromMs, toMs }, book }) => {
      if (fromMs >= endMs) return [];
      const { calls, turns, firstAudio, reply, gapsOver100Ms } = book.account;
      return [{ name, fromS: fromMs / 1000, toS: Math.min(toMs, endMs) / 1000, calls, turns, firstAudio, reply, gapsOver100Ms }];
    });
  }
}
