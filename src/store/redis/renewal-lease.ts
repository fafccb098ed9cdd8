// The lease that decides which of several servers renews. Its holder has a token that no other one has (L-10). A lease that is not
// kept expires. Counts real time, as Redis does; does not know what is renewed.
import { randomUUID } from 'node:crypto';
import { systemClock, type CancelTimer, type Clock } from '../../base/clock.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import { GIVE_BACK, KEEP, TAKE } from './admin-scripts.ts';
import { answerInvalid, type AdminStore } from './admin-store.ts';

/** How long a lease lasts without being kept, ms; it is kept three times as often. */
export const RENEWAL_LEASE_MS = 15_000;
const PARTS = 3;
/** How much earlier than Redis we consider the lease expired, as a fraction: clocks of two machines differ. */
const MARGIN = 0.05;

/** The options of leases. */
export interface RenewalLeaseOptions {
  readonly store: AdminStore;
  /** Default {@link RENEWAL_LEASE_MS}. */
  readonly leaseMs?: number;
  /** Real time; only tests pass another one. */
  readonly clock?: Clock;
}

/** The result of an attempt. */
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

/** The held lease. Its holder releases it, unless it is lost. */
export class RenewalLease {
  /** Sent with everything that is written under it. */
  readonly token: string;
  /** Resolves with the reason when the lease is lost; never when it is released. */
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

  /** Whether we hold it according to our own clock. */
  get isHeld(): boolean {
    if (!this.#isOver && this.#options.clock.monotonicMs() >= this.#endsAtMs) this.lose(ended());
    return !this.#isOver;
  }

  /**
   * Asks Redis whether we still hold it, before an irreversible action.
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

  /** Another server has it: call this when you find that out. Idempotent. */
  lose(error: AppError = takenOver()): void {
    if (this.#isOver) return;
    this.#stop();
    this.#settleLost(error);
  }

  /** Releases it, so that another server can take it at once. Never throws: it also expires by itself. */
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
      // An attempt that Redis did not answer is followed by the next one, while there is time.
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
