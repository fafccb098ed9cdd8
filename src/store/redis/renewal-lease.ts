// Which of several servers renews: one of them has the lease, under a token that no other one has (L-10). A lease that is not
// kept ends by itself. Counts real time, as Redis does; knows nothing of what is renewed.
import { randomUUID } from 'node:crypto';
import { systemClock, type CancelTimer, type Clock } from '../../base/clock.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import { GIVE_BACK, KEEP, TAKE } from './admin-scripts.ts';
import { answerInvalid, type AdminStore } from './admin-store.ts';

/** How long a lease lasts that nobody keeps, ms; it is kept three times as often. */
export const RENEWAL_LEASE_MS = 15_000;
const PARTS = 3;
/** How much earlier than Redis we take it for ended, as a part of it: two machines do not count alike. */
const MARGIN = 0.05;

/** What leases are made with. */
export interface RenewalLeaseOptions {
  readonly store: AdminStore;
  /** Default {@link RENEWAL_LEASE_MS}. */
  readonly leaseMs?: number;
  /** Real time; only tests have another one. */
  readonly clock?: Clock;
}

/** What became of a try. */
export type Taken = { readonly kind: 'ours'; readonly lease: RenewalLease } | { readonly kind: 'held'; readonly freeInMs: number };

/**
 * Takes the lease if nobody has it.
 *
 * @param deposes - the token of a leader from whom it is taken away; default: nobody.
 * @throws AppError `store_unavailable`, `store_failed` for an invalid answer.
 */
export async function takeLease(options: RenewalLeaseOptions, deposes = ''): Promise<Taken> {
  const { store, leaseMs = RENEWAL_LEASE_MS, clock = systemClock } = options;
  const askedAtMs = clock.monotonicMs();
  const token = randomUUID();
  const reply = await store.run(TAKE, [store.keys.lease], [token, String(leaseMs), deposes]);
  const [isOurs, freeInMs] = Array.isArray(reply) ? (reply as readonly unknown[]) : [];
  if (isOurs === 1) return { kind: 'ours', lease: new RenewalLease({ store, leaseMs, clock }, token, askedAtMs) };
  if (isOurs === 0 && typeof freeInMs === 'number') return { kind: 'held', freeInMs: Math.max(0, freeInMs) };
  throw answerInvalid();
}

/** The lease in our hands. Whoever has it gives it back, unless it is lost. */
export class RenewalLease {
  /** Goes with everything that is written under it. */
  readonly token: string;
  /** Resolves with the reason when it is not ours any more, and never when it is given back. */
  readonly lost: Promise<AppError>;
  readonly #options: Required<RenewalLeaseOptions>;
  #settleLost: (error: AppError) => void = () => undefined;
  /** By our own clock; nothing is done after it. */
  #endsAtMs = 0;
  #isOver = false;
  #cancelKeep: CancelTimer = () => undefined;
  #cancelEnd: CancelTimer = () => undefined;

  constructor(options: Required<RenewalLeaseOptions>, token: string, askedAtMs: number) {
    this.#options = options;
    this.token = token;
    this.lost = new Promise((resolve) => {
      this.#settleLost = resolve;
    });
    this.#kept(askedAtMs);
    this.#keepLater();
  }

  /** Whether it is ours as far as our own clock knows. */
  get isHeld(): boolean {
    if (!this.#isOver && this.#options.clock.monotonicMs() >= this.#endsAtMs) this.lose(ended());
    return !this.#isOver;
  }

  /**
   * Asks Redis whether it is still ours, before something that cannot be taken back.
   *
   * @throws AppError `store_failed` when it is not, or when Redis does not answer.
   */
  async confirm(): Promise<void> {
    if (!this.isHeld) throw ended();
    const isKept = await this.#keep().catch((thrown: unknown) => {
      const cause = toAppError(thrown, 'store_unavailable');
      throw new AppError('store_failed', 'the shared store does not say who renews', { cause });
    });
    if (isKept) return;
    const taken = takenOver();
    this.lose(taken);
    throw taken;
  }

  /** It is another's: whoever finds that out says so. Idempotent. */
  lose(error: AppError = takenOver()): void {
    if (this.#isOver) return;
    this.#stop();
    this.#settleLost(error);
  }

  /** Gives it back, so that another server can take it at once. Never throws: it ends by itself. */
  async giveBack(): Promise<void> {
    if (this.#isOver) return;
    this.#stop();
    const { store } = this.#options;
    await store.run(GIVE_BACK, [store.keys.lease], [this.token]).catch(() => undefined);
  }

  #stop(): void {
    this.#isOver = true;
    this.#cancelKeep();
    this.#cancelEnd();
  }

  #keepLater(): void {
    const { clock, leaseMs } = this.#options;
    this.#cancelKeep = clock.after(leaseMs / PARTS, () => {
      // One that Redis did not answer is followed by the next one, as long as there is time.
      void this.confirm()
        .catch(() => undefined)
        .then(() => {
          if (!this.#isOver) this.#keepLater();
        });
    });
  }

  async #keep(): Promise<boolean> {
    const { store, leaseMs, clock } = this.#options;
    const askedAtMs = clock.monotonicMs();
    const isKept = (await store.run(KEEP, [store.keys.lease], [this.token, String(leaseMs)])) === 1;
    if (isKept && !this.#isOver) this.#kept(askedAtMs);
    return isKept;
  }

  /** @param askedAtMs - Redis counts from a later moment. */
  #kept(askedAtMs: number): void {
    const { clock, leaseMs } = this.#options;
    this.#endsAtMs = Math.max(this.#endsAtMs, askedAtMs + leaseMs * (1 - MARGIN));
    this.#cancelEnd();
    this.#cancelEnd = clock.after(this.#endsAtMs - clock.monotonicMs(), () => {
      this.lose(ended());
    });
  }
}

function takenOver(): AppError {
  return new AppError('store_failed', 'another process renews by now');
}

function ended(): AppError {
  return new AppError('store_failed', 'the lease of whoever renews could not be kept in time');
}
