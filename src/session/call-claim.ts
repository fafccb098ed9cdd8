// The right to answer one input of a call, among all processes that share its store: waited for, kept alive while the bot
// thinks, and given back. Knows nothing of bots and turns.
import { pause } from '../base/abort.ts';
import { every, type Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { CallKey } from '../dialog/call.ts';
import type { KeptCall, OwnClaim, SessionStore } from './ports.ts';
import type { SessionRecord } from './record.ts';

/** Pause between two tries while another process answers, ms: its answer takes longer than a look into the store. */
const LOOK_MS = 25;
/** How often a claim is renewed while it lasts. */
const RENEWALS = 3;

/** What a claim needs. */
export interface ClaimParts {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A claim that was granted. Its owner must give it to {@link CallRecords.release}. */
export class CallClaim {
  /** Whoever knows the bot brings its record to the version that is here. */
  kept: KeptCall | undefined;
  readonly key: CallKey;
  readonly #parts: ClaimParts;
  readonly #cancelRenewal: () => void;

  constructor(key: CallKey, { kept }: OwnClaim, parts: ClaimParts) {
    this.kept = kept;
    this.key = key;
    this.#parts = parts;
    this.#cancelRenewal = this.#renewed();
  }

  /**
   * Waits while another process has the call: until it has answered, or until its lease ends because it has died.
   *
   * @param first - see {@link SessionStore.claim}.
   * @throws AppError `record_conflict` after `limitMs`, and what the store throws.
   */
  static async take(key: CallKey, first: SessionRecord | undefined, limitMs: number, parts: ClaimParts): Promise<CallClaim> {
    const { store, clock } = parts;
    const untilMs = clock.monotonicMs() + limitMs;
    for (;;) {
      const claim = await store.claim(key, first);
      if (claim.kind === 'ours') return new CallClaim(key, claim, parts);
      if (clock.monotonicMs() >= untilMs) {
        throw new AppError('record_conflict', 'another server was answering the caller for too long', { details: { held: true, limitMs } });
      }
      await pause(LOOK_MS, clock);
    }
  }

  /** No longer renewed; the store has still to be told. */
  end(): void {
    this.#cancelRenewal();
  }

  #renewed(): () => void {
    const { store, clock } = this.#parts;
    if (!Number.isFinite(store.leaseMs)) return () => undefined;
    return every(clock, store.leaseMs / RENEWALS, () => {
      // One that was lost is found out by the commit.
      store.renew(this.key).catch((err: unknown) => {
        this.#warn(err, 'the lease of a call could not be renewed');
      });
    });
  }

  #warn(err: unknown, message: string): void {
    this.#parts.log.warn({ conversationId: this.key.conversationId, err }, message);
  }
}
