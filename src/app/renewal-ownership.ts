// Which of several servers renews: each tries to be the one, begins to renew when it is, ends at once when it is not any more, and
// hands over when it stops (L-10). Knows leases, and not what is renewed.
import { linkAbort, pause, waitAtMost, type LinkedAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { toAppError, type AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { OwnerLease, Taken } from '../store/redis/owner-lease.ts';

/** How much later than promised a lease is asked for, ms: it should have ended by then. */
const AFTER_END_MS = 20;

/** What one server does as long as it renews. */
export interface Reign {
  /** Begins; resolves when it has. @throws what keeps it from beginning; it is ended then. */
  begin(): Promise<void>;
  /** Ends, at once when there is a reason: another server may renew already. Resolves when nothing goes on. Never throws. */
  end(why: AppError | undefined): Promise<void>;
}

/** What it is made with. */
export interface RenewalOwnershipOptions {
  readonly take: () => Promise<Taken>;
  /** @param isFirst - whether the server is starting. */
  readonly reign: (lease: OwnerLease, isFirst: boolean) => Reign;
  /** Between two tries to become the one, ms, unless it is told that one is of use. */
  readonly retryMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** One time as the one that renews. */
class OwnTime {
  readonly lease: OwnerLease;
  readonly reign: Reign;
  /** Resolves when it is over and nothing of it goes on. */
  readonly ended: Promise<void>;
  #settle: () => void = () => undefined;
  #isEnding = false;

  constructor(lease: OwnerLease, reign: Reign) {
    this.lease = lease;
    this.reign = reign;
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
    void lease.lost.then((why) => this.end(why));
  }

  /** Without a reason it is handed over. */
  end(why?: AppError): Promise<void> {
    if (!this.#isEnding) {
      this.#isEnding = true;
      void this.#end(why);
    }
    return this.ended;
  }

  async #end(why: AppError | undefined): Promise<void> {
    await this.reign.end(why);
    // Not before everything that we did is written down. A lease that was lost meanwhile is not given back.
    await this.lease.giveBack();
    this.#settle();
  }
}

/** `stop` must be called. */
export class RenewalOwnership {
  readonly #options: RenewalOwnershipOptions;
  readonly #over: LinkedAbort = linkAbort();
  #time: OwnTime | undefined;
  #running: Promise<void> | undefined;
  #wake: () => void = () => undefined;

  constructor(options: RenewalOwnershipOptions) {
    this.#options = options;
  }

  /**
   * Tries for the first time, and goes on by itself. Resolves when this server renews and has begun, or another one does.
   *
   * @throws AppError `store_unavailable`, and what keeps the renewing from beginning.
   */
  async start(): Promise<void> {
    const taken = await this.#options.take();
    if (taken.kind === 'ours') await this.#begin(taken.lease, true);
    this.#running = this.#run();
  }

  /** Tries soon: another server has stopped. */
  hurry(): void {
    this.#wake();
  }

  /** Hands over, and tries no more. Resolves when nothing goes on. Idempotent. */
  async stop(): Promise<void> {
    this.#over.abort('shutdown');
    await this.#time?.end();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#over.isAborted) {
      if (this.#time === undefined) await this.#try();
      else {
        await this.#time.ended;
        this.#time = undefined;
      }
    }
    await this.#time?.end();
  }

  /** Never throws. */
  async #try(): Promise<void> {
    const { take, retryMs, clock, log } = this.#options;
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    try {
      const taken = await take();
      if (taken.kind === 'ours') {
        await this.#begin(taken.lease, false);
        return;
      }
      await waitAtMost(woken, Math.min(retryMs, taken.freeInMs + AFTER_END_MS), clock, this.#over.signal);
    } catch (thrown) {
      log.warn({ event: 'admin_owner', err: toAppError(thrown) }, 'this server cannot begin to renew and tries again');
      // Not woken: what we have just given back ourselves is told to us, too.
      await pause(retryMs, clock, this.#over.signal);
    }
  }

  /** @throws what keeps it from beginning, unless it was lost meanwhile. */
  async #begin(lease: OwnerLease, isFirst: boolean): Promise<void> {
    const time = new OwnTime(lease, this.#options.reign(lease, isFirst));
    this.#time = time;
    try {
      await time.reign.begin();
    } catch (thrown) {
      const isLost = !lease.isHeld;
      await time.end();
      if (this.#time === time) this.#time = undefined;
      if (!isLost) throw thrown;
    }
  }
}
