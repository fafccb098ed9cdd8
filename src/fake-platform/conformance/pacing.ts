// Sends audio in step with real time, however late timers are on a busy machine. Knows no wire.
import { pause } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';

/**
 * Does a step for each `tickMs` that has begun, those at once that this process has slept through, until a step says `false`.
 * Other work has its turn at least once per round.
 */
export async function atPace(clock: Clock, tickMs: number, step: () => boolean): Promise<void> {
  const startMs = clock.monotonicMs();
  for (let done = 0; ;) {
    const due = Math.floor((clock.monotonicMs() - startMs) / tickMs) + 1;
    for (; done < due; done += 1) if (!step()) return;
    await pause(Math.max(0, startMs + due * tickMs - clock.monotonicMs()), clock);
  }
}
