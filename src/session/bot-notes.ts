// Brings notifying events to bots: what they return is their new state, and what goes wrong changes nothing.
import { linkForeignAbort, waitAtMost } from '../base/abort.ts';
import { AppError, toAppError } from '../base/errors.ts';
import type { NotifyingEvent } from '../bot/bot.ts';
import { runNote } from '../bot/run-handler.ts';
import { botContext } from './bot-question.ts';
import { hasRestarted, type CallRecords } from './call-records.ts';
import type { LoggedTurn } from './log-ids.ts';
import type { EngineParts, RunningSession } from './parts.ts';
import { demandSmall } from './record-size.ts';
import type { SessionRecord } from './record.ts';

/** Longest a notifying handler may take, ms: replies wait behind it. */
const NOTE_LIMIT_MS = 500;
/** Longest wait for a store that is away, ms. */
const AWAY_LIMIT_MS = 500;

/** Holds nothing of any session. */
export class BotNotes {
  readonly #parts: EngineParts;
  readonly #records: CallRecords;

  constructor(parts: EngineParts, records: CallRecords) {
    this.#parts = parts;
    this.#records = records;
  }

  /**
   * Tells the bot of a call that nobody answers at this moment. Never throws.
   *
   * @param sinceMs - when it happened, in monotonic ms. Whatever waits behind it needs the call as well: all of them together
   *   wait no longer for another process than one answer would, and notes hardly for a store that is away.
   */
  async note(session: RunningSession, event: NotifyingEvent, turn: LoggedTurn, sinceMs: number): Promise<void> {
    try {
      const { clock, settings } = this.#parts;
      const waitedMs = clock.monotonicMs() - sinceMs;
      const heldMs = Math.max(0, settings.turnDeadlineMs - waitedMs);
      // Nothing waits behind the end of a call.
      const patience =
        event.type === 'session_end' ? { heldMs: settings.turnDeadlineMs } : { heldMs, awayMs: Math.max(0, AWAY_LIMIT_MS - waitedMs) };
      const claim = await this.#records.claim(session, patience);
      try {
        if (claim.kept !== undefined) await this.#run(session, event, turn, claim.kept.record);
      } finally {
        this.#records.release(claim, undefined);
      }
    } catch (thrown) {
      // Whoever began the conversation anew has told the bot of its end.
      if (!hasRestarted(thrown)) this.#failed(session, turn, thrown);
    }
  }

  /** Tells the bot of a call whose next input is being answered. Never throws. @returns the record after it. */
  async tell(session: RunningSession, event: NotifyingEvent, turn: LoggedTurn, record: SessionRecord): Promise<SessionRecord> {
    try {
      return await this.#run(session, event, turn, record);
    } catch (thrown) {
      this.#failed(session, turn, thrown);
      return record;
    }
  }

  async #run(session: RunningSession, event: NotifyingEvent, turn: LoggedTurn, record: SessionRecord): Promise<SessionRecord> {
    // What another process has ended is over for its bot, which is told so once.
    if (!record.started || record.closed === true || (record.ended && event.type !== 'session_end')) return record;
    const limit = linkForeignAbort();
    try {
      const work = runNote(session.bot, record.state, event, botContext(this.#parts, session, turn, limit.signal));
      const waited = await waitAtMost(work, NOTE_LIMIT_MS, this.#parts.clock);
      if (waited.kind !== 'value') throw new AppError('bot_timeout', `the handler of ${event.type} took too long`);
      if (waited.value === record.state) return record;
      demandSmall(waited.value, this.#parts.settings.maxRecordBytes);
      return await this.#records.commit(record, { state: waited.value });
    } finally {
      limit.abort('deadline');
    }
  }

  #failed(session: RunningSession, turn: LoggedTurn, thrown: unknown): void {
    this.#parts.observer.botFailed?.(session.call, turn.id, toAppError(thrown, 'bot_failed'));
  }
}
