// A clock for whole days over real sockets: it moves by itself, in small steps while something is asked of the platform or
// written down, and in leaps while nothing is. Each step needs a turn of the event loop, so that a busy machine slows time
// down instead of letting it run away from the sockets.
import diagnostics from 'node:diagnostics_channel';
import { systemClock } from '../../src/base/clock.ts';
import { FakeClock } from './fake-clock.ts';

/** How fast time passes: ms of the clock for each step of at least a real millisecond. */
export interface Pace {
  /** While requests of `fetch` or files are under way, and shortly after a request. */
  readonly stepMs: number;
  /** While there are none. */
  readonly leapMs: number;
}

/** After the last request there is something to do with its answer: so long in real ms it counts as under way. */
const AFTERWARDS_MS = 15;

/** How the runtime's names for work on files begin. */
const FILES = 'FSReq';

/** A fake clock that drives itself between `drive` and `stop`. */
export class DrivenClock extends FakeClock {
  #running: Promise<void> | undefined;
  #isStopped = false;
  #held = 0;
  #underWay = 0;
  #lastMs = 0;

  /** Lets time pass from now on. Whoever calls it calls {@link DrivenClock.stop}. */
  drive(pace: Pace): void {
    this.#isStopped = false;
    diagnostics.subscribe('undici:request:create', this.#began);
    diagnostics.subscribe('undici:request:trailers', this.#ended);
    diagnostics.subscribe('undici:request:error', this.#ended);
    this.#running ??= this.#run(pace);
  }

  /** Time stands still again. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
    this.#running = undefined;
    diagnostics.unsubscribe('undici:request:create', this.#began);
    diagnostics.unsubscribe('undici:request:trailers', this.#ended);
    diagnostics.unsubscribe('undici:request:error', this.#ended);
  }

  /** Lets no time pass while `work` lasts. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    this.#held += 1;
    try {
      return await work();
    } finally {
      this.#held -= 1;
    }
  }

  /** The same from a moment on in which nothing is under way. */
  atRest<T>(work: () => Promise<T>): Promise<T> {
    return this.hold(async () => {
      while (this.#isBusy) await new Promise((resolve) => setTimeout(resolve, 1));
      return work();
    });
  }

  /** Resolves when so much time has passed. */
  passed(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(ms, resolve);
    });
  }

  async #run({ stepMs, leapMs }: Pace): Promise<void> {
    while (!this.#isStopped) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (this.#held === 0) this.advance(this.#isBusy ? stepMs : leapMs);
    }
  }

  get #isBusy(): boolean {
    if (this.#underWay > 0 || systemClock.monotonicMs() - this.#lastMs < AFTERWARDS_MS) return true;
    return process.getActiveResourcesInfo().some((kind) => kind.startsWith(FILES));
  }

  readonly #began = (): void => {
    this.#underWay += 1;
  };

  readonly #ended = (): void => {
    this.#underWay = Math.max(0, this.#underWay - 1);
    this.#lastMs = systemClock.monotonicMs();
  };
}
