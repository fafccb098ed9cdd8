// The records of calls as the engine works with them: claimed, written once per answer, closed at the end. A store that is
// away for a moment is waited for. Knows no bots and no turns.
import { AppError, toAppError } from '../base/errors.ts';
import type { CallKey } from '../dialog/call.ts';
import { CallClaim } from './call-claim.ts';
import type { EngineParts } from './parts.ts';
import type { SessionRecord } from './record.ts';

/** Pause between two tries while the store is away, ms, and how long it is waited for: a caller waits rather than being handed over. */
const AWAY_LOOK_MS = 100;
const AWAY_LIMIT_MS = 3000;

/** Holds nothing of any call. */
export class CallRecords {
  readonly #parts: EngineParts;

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  /** See {@link CallClaim.take}. */
  claim(key: CallKey, limitMs: number): Promise<CallClaim> {
    return this.#patiently(() => CallClaim.take(key, limitMs, this.#parts), Math.min(limitMs, AWAY_LIMIT_MS));
  }

  /**
   * Writes the next version of a record.
   *
   * @param isReply - see {@link SessionStore.commit}.
   * @returns it.
   * @throws AppError `record_conflict` when another process was faster, `store_unavailable`.
   */
  async commit(record: SessionRecord, change: Partial<SessionRecord>, isReply = false): Promise<SessionRecord> {
    const next: SessionRecord = { ...record, ...change, version: record.version + 1 };
    if (await this.#patiently(() => this.#parts.store.commit(next, record.version, isReply))) return next;
    throw new AppError('record_conflict', 'another turn changed the session in the meantime', { details: { version: record.version } });
  }

  /** Marks the call as ended and forgets the bot's state, so that late turns get no prompts on any machine (G-7C). */
  async close(key: CallKey): Promise<void> {
    const { store, settings } = this.#parts;
    try {
      const claim = await this.claim(key, settings.turnDeadlineMs);
      const record = claim.kept?.record;
      try {
        if (record !== undefined && (!record.ended || record.state !== null)) {
          await this.commit(record, { ended: true, state: null, reply: undefined });
        }
      } finally {
        claim.release(undefined);
      }
    } catch (thrown) {
      // The turn that found it out has said so; nobody can go on with such a record.
      if (toAppError(thrown).code !== 'state_unreadable') throw thrown;
      await store.drop(key);
    }
  }

  async #patiently<T>(work: () => Promise<T>, limitMs = AWAY_LIMIT_MS): Promise<T> {
    const { clock } = this.#parts;
    const untilMs = clock.monotonicMs() + limitMs;
    for (;;) {
      try {
        return await work();
      } catch (thrown) {
        if (toAppError(thrown).code !== 'store_unavailable' || clock.monotonicMs() >= untilMs) throw thrown;
      }
      await new Promise<void>((resolve) => {
        clock.after(AWAY_LOOK_MS, resolve);
      });
    }
  }
}
