// The pace of caller audio: 50 frames a second, each with its own due time, so that delays of timers never add up. Knows no audio.
import type { CancelTimer } from '../../base/clock.ts';
import { FRAME_MS } from '../../speech/audio-format.ts';
import type { CallClock } from './call-clock.ts';

/** Most frames sent at once after a stall: 5 s. After a longer one (a suspended machine), all missed frames are skipped. */
const MAX_BURST = 250;

/** The pace of one call. `stop` must be called at the end. */
export class FramePace {
  readonly #clock: CallClock;
  readonly #onFrame: () => void;
  #isRunning = false;
  #nextMs = 0;
  #cancelTick: CancelTimer = () => undefined;

  /** @param onFrame - called for every frame; may stop the pace. */
  constructor(clock: CallClock, onFrame: () => void) {
    this.#clock = clock;
    this.#onFrame = onFrame;
  }

  /** When the next frame is due, ms since the call began. During `onFrame`, this is the frame after the present one. */
  get nextMs(): number {
    return this.#nextMs;
  }

  /** Starts; the first frame is due in `inMs`. Does nothing while the pace runs. */
  start(inMs = 0): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#nextMs = this.#clock.nowMs() + inMs;
    this.#arm();
  }

  stop(): void {
    this.#isRunning = false;
    this.#cancelTick();
  }

  #arm(): void {
    this.#cancelTick();
    this.#cancelTick = this.#clock.after(this.#nextMs - this.#clock.nowMs(), () => {
      const nowMs = this.#clock.nowMs();
      if (nowMs - this.#nextMs > MAX_BURST * FRAME_MS) this.#nextMs = nowMs;
      while (this.#isRunning && this.#nextMs <= nowMs) {
        this.#nextMs += FRAME_MS;
        this.#onFrame();
      }
      if (this.#isRunning) this.#arm();
    });
  }
}
