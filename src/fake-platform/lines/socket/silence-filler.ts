// Caller audio never pauses on a socket (W-23): whenever nobody speaks into it, frames of silence go on at its pace.
import type { CancelTimer, Clock } from '../../../base/clock.ts';
import { FRAME_MS } from '../../../speech/audio-format.ts';

/** Frames made up for at once after a stall; beyond that the time is lost. */
const MAX_BURST = 250;

/** The silence of one call. `stop` must be called at the end. */
export class SilenceFiller {
  readonly #clock: Clock;
  readonly #send: () => void;
  #isRunning = false;
  #nextMs = 0;
  #cancelTick: CancelTimer = () => undefined;

  /** @param send - sends a frame. */
  constructor(clock: Clock, send: () => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** The next frame is due after the time of one; nothing when it runs already. */
  start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#nextMs = this.#clock.monotonicMs() + FRAME_MS;
    this.#arm();
  }

  stop(): void {
    this.#isRunning = false;
    this.#cancelTick();
  }

  #arm(): void {
    this.#cancelTick = this.#clock.after(Math.max(0, this.#nextMs - this.#clock.monotonicMs()), () => {
      const nowMs = this.#clock.monotonicMs();
      if (nowMs - this.#nextMs > MAX_BURST * FRAME_MS) this.#nextMs = nowMs;
      while (this.#isRunning && this.#nextMs <= nowMs) {
        this.#nextMs += FRAME_MS;
        this.#send();
      }
      if (this.#isRunning) this.#arm();
    });
  }
}
