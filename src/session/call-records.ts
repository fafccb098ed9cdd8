// The records of calls as the engine works with them: claimed, written once per answer, closed at the end. A store that is
// away for a moment is waited for. Knows no bots and no turns.
import { randomUUID } from 'node:crypto';
import { pause, waitAtMost } from '../base/abort.ts';
import { AppError, toAppError } from '../base/errors.ts';
import { callId, type CallKey } from '../dialog/call.ts';
import { CallClaim } from './call-claim.ts';
import { ClaimsAhead } from './claims-ahead.ts';
import { Playback, toldLater, type Spoken } from './heard.ts';
import type { EngineParts, RunningSession } from './parts.ts';
import type { OpenedCall } from './ports.ts';
import { recordFor } from './record-version.ts';
import { firstRecord, type SessionRecord } from './record.ts';
import type { Turn } from './turn.ts';

/** Pause between two tries while the store is away, ms, and how long it is waited for: a caller waits rather than being handed over. */
const AWAY_LOOK_MS = 100;
const AWAY_LIMIT_MS = 3000;
/** How long it is tried to tell a store that is away what was heard, ms: nobody waits for it, but what is not told is said again. */
const RELEASE_LIMIT_MS = 15_000;

/** How long a claim is waited for. */
export interface Patience {
  /** While another process has the call, ms. */
  readonly heldMs: number;
  /** While the store is away, ms; default: as long as for anything else. */
  readonly awayMs?: number;
}

/** How a stream looks for its call. */
export interface Look {
  /** Whether a store that is away is waited for. */
  readonly isPatient: boolean;
  /** There where the stream opens with an input that is whole: the call is claimed for it in the same step where that can be. */
  readonly claims?: { readonly first: SessionRecord | undefined } | undefined;
}

/** Whether a record is of a later conversation under the same id than a session (G-28). */
export function isOfNext({ restarts }: Pick<RunningSession, 'restarts'>, record: SessionRecord | undefined): boolean {
  return record !== undefined && (record.restarts ?? 0) > restarts;
}

/** Whether a claim was refused because the conversation has begun anew, with a session of its own. */
export function hasRestarted(thrown: unknown): boolean {
  return toAppError(thrown).details['restarted'] === true;
}

/** Holds nothing of a call but what is claimed and what is being given back. */
export class CallRecords {
  readonly #parts: EngineParts;
  readonly #ahead: ClaimsAhead;
  /** Claims that are asked for or in hand, by call; none stays with 0. */
  readonly #claimed = new Map<string, number>();
  /** Calls that are being given back, by id. */
  readonly #releasing = new Map<string, Promise<void>>();

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.#ahead = new ClaimsAhead(parts.clock, (claim) => {
      this.#giveBack(claim, undefined);
    });
  }

  /**
   * The call of a stream that opens here.
   *
   * @throws AppError `store_unavailable`, `state_unreadable`.
   */
  open(key: CallKey, { isPatient, claims }: Look): Promise<OpenedCall> {
    const { store } = this.#parts;
    const id = callId(key);
    return this.#patiently(
      // What this process does with the call meanwhile would make a claim old before it is used.
      () => (claims === undefined || this.#isBusy(id) ? store.open(key) : this.#openClaimed(key, claims.first)),
      isPatient ? AWAY_LIMIT_MS : 0,
    );
  }

  /**
   * The claim of a call with its record as the bot that is here can use it: see {@link CallClaim.take} and {@link recordFor}.
   *
   * @throws AppError `record_conflict` also for a conversation that has begun anew: see {@link hasRestarted}.
   */
  async claim(session: Pick<RunningSession, 'call' | 'bot' | 'mode' | 'isKept' | 'restarts'>, patience: Patience): Promise<CallClaim> {
    const { call, bot, isKept } = session;
    const claim = await this.#take(call, isKept ? undefined : firstRecord(session), patience);
    try {
      const { kept } = claim;
      if (isOfNext(session, kept?.record)) {
        throw new AppError('record_conflict', 'the conversation has begun anew', { details: { restarted: true } });
      }
      if (kept !== undefined) claim.kept = { ...kept, record: recordFor(bot, kept.record, this.#parts) };
      return claim;
    } catch (thrown) {
      this.release(claim, undefined);
      throw thrown;
    }
  }

  async #take(key: CallKey, first: SessionRecord | undefined, { heldMs, awayMs = AWAY_LIMIT_MS }: Patience): Promise<CallClaim> {
    const { clock } = this.#parts;
    const id = callId(key);
    const heldUntilMs = clock.monotonicMs() + heldMs;
    this.#claimed.set(id, (this.#claimed.get(id) ?? 0) + 1);
    try {
      const ahead = this.#ahead.take(id);
      if (ahead !== undefined) return ahead;
      await this.#released(id, awayMs);
      const take = (): Promise<CallClaim> => CallClaim.take(key, first, Math.max(0, heldUntilMs - clock.monotonicMs()), this.#parts);
      return await this.#patiently(take, awayMs);
    } catch (thrown) {
      this.#unclaimed(id);
      throw thrown;
    }
  }

  /** A release that comes late would end the next claim. @throws AppError `store_unavailable` while it is still tried. */
  async #released(id: string, limitMs: number): Promise<void> {
    const releasing = this.#releasing.get(id);
    if (releasing === undefined) return;
    const waited = await waitAtMost(releasing, limitMs, this.#parts.clock);
    if (waited.kind !== 'value') throw new AppError('store_unavailable', 'the call could not be given back to its store yet');
  }

  async #openClaimed(key: CallKey, first: SessionRecord | undefined): Promise<OpenedCall> {
    const { store } = this.#parts;
    const id = callId(key);
    let opened: OpenedCall = { place: 0, kept: undefined };
    const ask = async (): Promise<CallClaim | undefined> => {
      const { claim, ...call } = await store.openClaimed(key, first);
      opened = call;
      return claim.kind === 'held' ? undefined : new CallClaim(key, claim, this.#parts);
    };
    await this.#ahead.keep(id, ask, () => this.#claimed.has(id));
    return opened;
  }

  #isBusy(id: string): boolean {
    return this.#claimed.has(id) || this.#releasing.has(id) || this.#ahead.has(id);
  }

  #unclaimed(id: string): void {
    const left = (this.#claimed.get(id) ?? 0) - 1;
    if (left > 0) this.#claimed.set(id, left);
    else this.#claimed.delete(id);
  }

  /**
   * Gives a call back. Not waited for, because the caller does not wait for it either; never throws.
   *
   * @param spoken - what the caller hears; undefined when nothing was answered, so that a reply nobody has heard stays owed.
   * @param turn - whose words have left the process before the store is told that they are heard: one that dies between both
   *   would leave a reply that nobody owes.
   */
  release(claim: CallClaim, spoken: Spoken | undefined, turn?: Pick<Turn, 'onceSent'>): void {
    this.#unclaimed(callId(claim.key));
    this.#giveBack(claim, spoken, turn);
  }

  #giveBack(claim: CallClaim, spoken: Spoken | undefined, turn?: Pick<Turn, 'onceSent'>): void {
    claim.end();
    const { store, clock, log } = this.#parts;
    const id = callId(claim.key);
    const tellingMs = clock.monotonicMs();
    const sent =
      spoken === undefined || turn === undefined
        ? undefined
        : new Promise<void>((resolve) => {
            turn.onceSent(resolve);
          });
    const releasing = this.#patiently(async () => {
      await sent;
      await store.release(claim.key, spoken === undefined ? undefined : toldLater(spoken, clock.monotonicMs() - tellingMs));
    }, RELEASE_LIMIT_MS);
    const released = releasing
      .catch((err: unknown) => {
        const ids = { conversationId: claim.key.conversationId };
        log.warn({ ...ids, err }, 'a call could not be given back to its store: its next turn waits until the lease has ended');
      })
      .finally(() => {
        if (this.#releasing.get(id) === released) this.#releasing.delete(id);
      });
    this.#releasing.set(id, released);
  }

  /**
   * A call that is turned away leaves nothing behind, neither what it began with nor the claim that was taken for it; one that had
   * begun already stays as it was. Never throws.
   */
  async leaveNothing(key: CallKey): Promise<void> {
    const claim = this.#ahead.take(callId(key));
    if (claim === undefined) return;
    if (claim.kept !== undefined) {
      this.#giveBack(claim, undefined);
      return;
    }
    claim.end();
    await this.#parts.store.drop(key).catch(() => undefined);
  }

  /** Resolves when the store knows of every reply that was heard, or after `limitMs`. */
  async told(limitMs: number): Promise<void> {
    await waitAtMost(Promise.all(this.#releasing.values()), limitMs, this.#parts.clock);
  }

  /**
   * Writes the next version of a record.
   *
   * @param isReply - see {@link SessionStore.commit}.
   * @returns it.
   * @throws AppError `record_conflict` when another process was faster, `store_unavailable`.
   */
  async commit(record: SessionRecord, change: Partial<SessionRecord>, isReply = false): Promise<SessionRecord> {
    const writing = this.#parts.shared === undefined ? undefined : randomUUID();
    const next: SessionRecord = { ...record, ...change, writing, version: record.version + 1 };
    if (await this.#patiently(() => this.#parts.store.commit(next, record.version, isReply))) return next;
    throw new AppError('record_conflict', 'another turn changed the session in the meantime', { details: { version: record.version } });
  }

  /** Marks the call as ended and forgets the bot's state, so that late turns get no prompts on any machine (G-7C). */
  async close(session: Pick<RunningSession, 'call' | 'restarts'>): Promise<void> {
    const { store, settings, shared } = this.#parts;
    const key = session.call;
    try {
      const claim = await this.#take(key, undefined, { heldMs: settings.turnDeadlineMs });
      const kept = claim.kept?.record;
      const record = isOfNext(session, kept) ? undefined : kept;
      try {
        // Nobody else asks whether a call is closed that has ended and whose bot keeps nothing.
        const isAsGood = shared === undefined && record?.ended === true && record.state === null;
        if (record !== undefined && record.closed !== true && !isAsGood) {
          await this.commit(record, { ended: true, closed: true, state: null, reply: undefined });
        }
      } finally {
        this.release(claim, undefined);
      }
    } catch (thrown) {
      // The turn that found it out has said so; nobody can go on with such a record.
      if (toAppError(thrown).code !== 'state_unreadable') throw thrown;
      await store.drop(key);
    }
  }

  /**
   * What is kept of a conversation gives way to the next one under its id (G-28). Where other processes share the store, what
   * they still have of the old one finds the new one in its place and changes nothing.
   *
   * @param first - of the new conversation.
   * @throws AppError `store_unavailable`, and `record_conflict` when another process keeps the call for too long.
   */
  async beginAnew(first: SessionRecord): Promise<void> {
    const { store, settings, shared, clock } = this.#parts;
    const { call } = first;
    try {
      if (shared === undefined) {
        await this.#patiently(() => store.drop(call));
        return;
      }
      const claim = await this.#take(call, undefined, { heldMs: settings.turnDeadlineMs });
      const old = claim.kept?.record;
      try {
        if (old !== undefined) await this.commit({ ...first, version: old.version }, { restarts: (old.restarts ?? 0) + 1 });
      } finally {
        this.release(claim, new Playback().tell(clock.monotonicMs()));
      }
    } catch (thrown) {
      if (toAppError(thrown).code !== 'state_unreadable') throw thrown;
      await store.drop(call);
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
      await pause(AWAY_LOOK_MS, clock);
    }
  }
}
