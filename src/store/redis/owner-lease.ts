// Who of several processes renews: one of them has the lease, and with it a token that no owner before had (L-10). A lease that
// is not prolonged in time ends by itself. Counts real time, as the server does; knows nothing of what is renewed.
import { randomUUID } from 'node:crypto';
import { systemClock, type CancelTimer, type Clock } from '../../base/clock.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import { NEWS, type AdminPlace, type SharedServer } from './admin-place.ts';
import { GIVE_BACK, IS_OWNED, KEEP, TAKE } from './admin-scripts.ts';

/** How long a lease lasts that nobody prolongs, ms; it is prolonged three times as often. */
export const OWNER_LEASE_MS = 15_000;
const PARTS = 3;
/** How much earlier than the server we take it for ended, as a part of it: two machines do not count alike. */
const MARGIN = 0.05;

/** What leases are made with. */
export interface OwnerLeaseOptions {
  readonly server: Pick<SharedServer, 'run'>;
  readonly place: AdminPlace;
  /** Default {@link OWNER_LEASE_MS}. */
  readonly leaseMs?: number;
  /** Real time; only tests have another one. */
  readonly clock?: Clock;
}

/** What somebody says who takes the ownership. */
export interface OwnerClaim {
  /** The revision of the texts up to which everything is known. */
  readonly knows: number;
  /** The token of an owner that knows less than that, and has to give way; empty for none. */
  readonly deposes: string;
}

/** Of somebody who knows nothing and gives way to everybody. */
const NO_CLAIM: OwnerClaim = { knows: 0, deposes: '' };

/** What became of a try. */
export type Taken = { readonly kind: 'ours'; readonly lease: OwnerLease } | { readonly kind: 'held'; readonly freeInMs: number };

/**
 * Takes the ownership if nobody has it whom the claim does not depose.
 *
 * @throws AppError `store_unavailable`, `store_failed` for an answer that is none.
 */
export async function takeOwnership(options: OwnerLeaseOptions, { knows, deposes }: OwnerClaim = NO_CLAIM): Promise<Taken> {
  const { server, place, leaseMs = OWNER_LEASE_MS, clock = systemClock } = options;
  const askedAtMs = clock.monotonicMs();
  const reply = await server.run(TAKE, [place.owner, place.state], [randomUUID(), String(leaseMs), String(knows), deposes]);
  const [isOurs, said] = Array.isArray(reply) ? (reply as readonly unknown[]) : [];
  if (isOurs === 1 && typeof said === 'string')
    return { kind: 'ours', lease: new OwnerLease({ server, place, leaseMs, clock }, said, askedAtMs) };
  if (isOurs === 0 && typeof said === 'number') return { kind: 'held', freeInMs: Math.max(0, said) };
  throw new AppError('store_failed', 'the shared store answers in another form');
}

/** Whether somebody has the ownership now; takes nothing. @throws AppError `store_unavailable`. */
export async function isOwned({ server, place }: Pick<OwnerLeaseOptions, 'server' | 'place'>): Promise<boolean> {
  return (await server.run(IS_OWNED, [place.owner], [])) === 1;
}

/** The ownership in our hands. Whoever has it gives it back, unless it is lost. */
export class OwnerLease {
  /** Goes with everything that is written under it. */
  readonly token: string;
  /** Resolves with the reason when it is not ours any more, and never when it is given back. */
  readonly lost: Promise<AppError>;
  readonly #options: Required<OwnerLeaseOptions>;
  #settleLost: (error: AppError) => void = () => undefined;
  /** By our own clock; nothing is done after it. */
  #endsAtMs: number;
  #isOver = false;
  #cancelKeep: CancelTimer = () => undefined;
  #cancelEnd: CancelTimer = () => undefined;

  constructor(options: Required<OwnerLeaseOptions>, token: string, askedAtMs: number) {
    this.#options = options;
    this.token = token;
    this.lost = new Promise((resolve) => {
      this.#settleLost = resolve;
    });
    this.#endsAtMs = 0;
    this.#prolonged(askedAtMs);
    this.#keepLater();
  }

  /** Whether it is ours as far as our own clock knows. */
  get isHeld(): boolean {
    if (!this.#isOver && this.#options.clock.monotonicMs() >= this.#endsAtMs) this.lose(ended());
    return !this.#isOver;
  }

  /**
   * Asks the server whether it is still ours, before something that cannot be taken back.
   *
   * @throws AppError `store_failed` when it is not, or when that cannot be told.
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

  /** Gives it back, so that another process can take it at once. Never throws: it ends by itself. */
  async giveBack(): Promise<void> {
    if (this.#isOver) return;
    this.#stop();
    const { server, place } = this.#options;
    await server.run(GIVE_BACK, [place.owner], [this.token, place.news, NEWS.free]).catch(() => undefined);
  }

  #stop(): void {
    this.#isOver = true;
    this.#cancelKeep();
    this.#cancelEnd();
  }

  #keepLater(): void {
    const { clock, leaseMs } = this.#options;
    this.#cancelKeep = clock.after(leaseMs / PARTS, () => {
      // One that the server did not answer is followed by the next one, as long as there is time.
      void this.confirm()
        .catch(() => undefined)
        .then(() => {
          if (!this.#isOver) this.#keepLater();
        });
    });
  }

  async #keep(): Promise<boolean> {
    const { server, place, leaseMs, clock } = this.#options;
    const askedAtMs = clock.monotonicMs();
    const isKept = (await server.run(KEEP, [place.owner], [this.token, String(leaseMs)])) === 1;
    if (isKept && !this.#isOver) this.#prolonged(askedAtMs);
    return isKept;
  }

  /** @param askedAtMs - the server counts from a later moment. */
  #prolonged(askedAtMs: number): void {
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
  return new AppError('store_failed', 'the lease of whoever renews could not be prolonged in time');
}
