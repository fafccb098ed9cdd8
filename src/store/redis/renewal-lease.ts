// The lease that decides which of several servers renews tokens. Each holder has a token of its own (L-10). A lease expires unless its
// holder keeps it. Counts real time, as Redis does; does not know what is renewed.
import { randomUUID } from 'node:crypto';
import { systemClock, type CancelTimer, type Clock } from '../../base/clock.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import { GIVE_BACK, KEEP, TAKE } from './admin-scripts.ts';
import { answerInvalid, type AdminStore } from './admin-store.ts';

/** How long a lease lasts unless it is kept, ms; the holder keeps it three times as often. */
export const RENEWAL_LEASE_MS = 15_000;
const PARTS = 3;
/** Our end of the lease comes before that of Redis by this fraction: clocks of two machines run at different speeds. */
const MARGIN = 0.05;

/** The options of leases. */
export interface RenewalLeaseOptions {
  readonly store: AdminStore;
  /** Default: {@link RENEWAL_LEASE_MS}. */
  readonly leaseMs?: number;
  /** Default: real time; only tests pass another clock. */
  readonly clock?: Clock;
}

/** The result of an attempt to take the lease. */
export type Taken = { readonly kind: 'ours'; readonly lease: RenewalLease } | { readonly kind: 'held'; readonly freeInMs: number };

/**
 * Takes the lease if it is free.
 *
 * @param deposes - the token of a leader to depose; default: none.
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

/** A held lease. The holder calls `giveBack`, unless the lease is lost. */
export class RenewalLease {
  /** Sent with every write under the lease. */
  readonly token: string;
  /** Resolves with the reason when the lease is lost; never when it is released. */
  readonly lost: Promise<AppError>;
  readonly #options: Required<RenewalLeaseOptions>;
  #settleLost: (error: AppError) => void = () => undefined;
  /** End of the lease by our own clock, monotonic ms; nothing is written after it. */
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

  /** Whether we hold the lease according to our own clock. */
  get isHeld(): boolean {
    if (!this.#isOver && this.#options.clock.monotonicMs() >= this.#endsAtMs) this.lose(ended());
    return !this.#isOver;
  }

  /**
   * Asks Redis whether we still hold the lease, before an irreversible action.
   *
   * @throws AppError `store_failed` when we do not, or when Redis does not answer.
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

  /** Ends the lease: call this when you find out that another server has it. Idempotent. */
  lose(error: AppError = takenOver()): void {
    if (this.#isOver) return;
    this.#stop();
    this.#settleLost(error);
  }

  /** Releases the lease, so that another server can take it at once. Never throws: an unreleased lease expires. */
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
      // When Redis does not answer, the next attempt follows as long as the lease lasts.
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

  /** @param askedAtMs - when the request was sent: Redis starts to count later, so our end comes first. */
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
