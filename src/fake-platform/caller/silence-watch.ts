// Waits for a caller who says nothing (G-70). Armed while the line waits for the caller; the time runs from the moment
// it was armed first.
import type { CancelTimer } from '../../base/clock.ts';
import type { CallClock } from './call-clock.ts';

/** The watch of one call. `disarm` must be called at the end. */
export class SilenceWatch {
  readonly #clock: CallClock;
  readonly #onSilence: () => void;
  #cancelTimer: CancelTimer | undefined;

  constructor(clock: CallClock, onSilence: () => void) {
    this.#clock = clock;
    this.#onSilence = onSilence;
  }

  get isArmed(): boolean {
    return this.#cancelTimer !== undefined;
  }

  /** Starts the time unless it is running. `limitMs` 0 never reports (G-82). */
  arm(limitMs: number): void {
    if (limitMs <= 0) return;
    this.#cancelTimer ??= this.#clock.after(limitMs, () => {
      this.#cancelTimer = undefined;
      this.#onSilence();
    });
  }

  disarm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
