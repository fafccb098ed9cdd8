// Waiting for something to become true, with a bound: the only way tests over real sockets wait.
import { systemClock } from '../../src/base/clock.ts';

/** Pause between two looks, ms. */
const LOOK_MS = 5;
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
  while (!(await condition())) {
    const waitedMs = systemClock.monotonicMs() - startedMs;
    if (waitedMs > limitMs) {
      throw new Error(`gave up waiting until ${typeof what === 'string' ? what : what()} (${String(Math.round(waitedMs))} ms)`);
    }
    await new Promise<void>((resolve) => {
      systemClock.after(LOOK_MS, resolve);
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
