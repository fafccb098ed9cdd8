// Waiting for something to become true, with a bound: the only way tests over real sockets wait.
import { systemClock } from '../../src/base/clock.ts';

/** Shortest and longest pause between two checks, ms. */
const PAUSE_MS = 5;
const MAX_PAUSE_MS = 100;
/** A check that asks a server is work itself: the pause behind it is so many times as long. */
const PAUSE_FACTOR = 5;
/** Generous for a busy machine: only a hang takes this long, ms. */
const LIMIT_MS = 60_000;

/**
 * Resolves as soon as `condition` holds.
 *
 * @param what - completes the sentence "gave up waiting until …".
 * @throws Error when it does not hold within `limitMs`.
 */
export async function until(what: string | (() => string), condition: () => boolean | Promise<boolean>, limitMs = LIMIT_MS): Promise<void> {
  const startedMs = systemClock.monotonicMs();
  for (;;) {
    const checkedMs = systemClock.monotonicMs();
    if (await condition()) return;
    const nowMs = systemClock.monotonicMs();
    const waitedMs = nowMs - startedMs;
    if (waitedMs > limitMs) {
      throw new Error(`gave up waiting until ${typeof what === 'string' ? what : what()} (${String(Math.round(waitedMs))} ms)`);
    }
    await new Promise<void>((resolve) => {
      systemClock.after(Math.min(MAX_PAUSE_MS, Math.max(PAUSE_MS, PAUSE_FACTOR * (nowMs - checkedMs))), resolve);
    });
  }
}

/** What `work` brings, or an error when it takes longer than `limitMs`. */
export async function within<T>(what: string | (() => string), work: Promise<T>, limitMs = LIMIT_MS): Promise<T> {
  let cancel: () => void = () => undefined;
  const late = new Promise<never>((_, reject) => {
    cancel = systemClock.after(limitMs, () => {
      reject(new Error(`gave up waiting until ${typeof what === 'string' ? what : what()} (${String(limitMs)} ms)`));
    });
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
}
