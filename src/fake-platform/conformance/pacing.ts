// Sends audio in real time, however late timers are on a busy machine. Knows no wire.
import { pause } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';

/**
 * Does one step for each `tickMs` that has begun, those that this process missed all at once, until a step returns `false`.
 * Other work runs at least once per round.
 */
export async function atPace(clock: Clock, tickMs: number, step: () => boolean): Promise<void> {
  const startMs = clock.monotonicMs();
  for (let done = 0; ;) {
    const due = Math.floor((clock.monotonicMs() - startMs) / tickMs) + 1;
    for (; done < due; done += 1) if (!step()) return;
    await pause(Math.max(0, startMs + due * tickMs - clock.monotonicMs()), clock);
  }
}
