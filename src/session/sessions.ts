// All calls that live in this process: finds or makes the session of a call, ends idle sessions, and drains them at
// shutdown.
import { linkAbort } from '../base/abort.ts';
import { every, type CancelTimer } from '../base/clock.ts';
import { AppError, toAppError } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import type { Bot } from '../bot/bot.ts';
import type { CatalogSource } from '../bot/catalog.ts';
import { callId, type CallKey } from '../dialog/call.ts';
import type { TurnOpening } from '../dialog/input.ts';
import type { DeliveryMode } from '../dialog/output.ts';
import { refusedCall, type Admission } from './admission.ts';
import { transferRefused } from './answer/transfer-refused.ts';
import { Draining, openTurnsOf, type CutCalls } from './draining.ts';
import type { Restored } from '../dialog/home.ts';
import type { TurnSink } from './ports.ts';
import { Session, type SessionParts, type SessionStart } from './session.ts';
import { firstSnapshot, readSnapshot } from './snapshot/snapshot.ts';

/** How long an ended session is kept, ms, so that late streams get no prompts (G-7C). */
const ENDED_RETENTION_MS = 60_000;
/** How long a caller whose last stream was cancelled is expected back, ms. */
const VANISHED_RETENTION_MS = 30_000;

/** A turn that opens, with the facts of its call. */
export interface CallOpening extends CallKey {
  /** Empty when the platform names no agent. */
  readonly agentId: string;
  readonly vendorConfig: string;
  /** Parameters of the session start; empty on later turns. */
  readonly parameters: JsonObject;
  /** Default: `nothing`. */
  readonly opensWith?: TurnOpening;
  /** The delivery mode of this wire; default: the operator's setting. */
  readonly mode?: DeliveryMode;
  /** Whether the call ends with this connection; default: another process may go on with the call. */
  readonly isTied?: boolean;
  /** Set when another home had the call: the state that it left. */
  readonly restored?: Restored | undefined;
}

export type SessionsParts = Omit<SessionParts, 'onEnded' | 'closing' | 'hurry'> & { readonly admission: Admission };

/** The engine's interface for the transports. */
export class Sessions {
  readonly #parts: SessionParts;
  readonly #admission: Admission;
  readonly #catalog: CatalogSource;
  readonly #live = new Map<string, Session>();
  /** Sessions that are ending; a late turn of such a call waits for the end and then starts a new session. */
  readonly #stopping = new Map<string, Promise<void>>();
  readonly #finishing = linkAbort();
  readonly #process = linkAbort();
  readonly #cancelSweep: CancelTimer;
  #closing: Promise<CutCalls> | undefined;
  /** True once the shutdown has come to its transfers: new sessions are refused. */
  #isTransferring = false;

  /** Starts the sweeps for idle sessions; `close` stops them. */
  constructor(parts: SessionsParts, catalog: CatalogSource) {
    const onEnded = ({ organizationId }: CallKey): void => {
      parts.admission.sessionEnded(organizationId);
    };
    this.#parts = { ...parts, closing: this.#finishing.signal, hurry: this.#process.signal, onEnded };
    this.#admission = parts.admission;
    this.#catalog = catalog;
    this.#cancelSweep = every(parts.clock, parts.settings.sweepMs, () => {
      this.#sweep();
    });
  }

  /** Number of open sessions. */
  get size(): number {
    return this.#admission.sessions;
  }

  /** Number of open turns of all sessions. */
  get openTurns(): number {
    return openTurnsOf(this.#live.values());
  }

  /**
   * The session of a call. An unknown call gets a new one (G-12, G-15), and so does a conversation that restarts
   * (G-28).
   *
   * @returns synchronously for a further turn of a call, because nothing may happen between this lookup and the turn.
   * @throws AppError `agent_unknown`, `agent_conflict` (G-17), or the error of {@link refusedCall}; also through the
   * promise.
   */
  acquire(opening: CallOpening): Session | Promise<Session> {
    const id = callId(opening);
    const stopping = this.#stopping.get(id);
    if (opening.opensWith === 'start') {
      const first = stopping === undefined ? this.#firstStart(id, opening) : undefined;
      return first ?? this.#started(id, opening);
    }
    return stopping === undefined ? this.#continued(id, opening) : stopping.then(() => this.#continued(id, opening));
  }

  #continued(id: string, opening: CallOpening): Session {
    const live = this.#live.get(id) ?? this.#open(id, opening);
    if (isOtherAgent(opening, live)) throw new AppError('agent_conflict', 'the conversation already talks to another agent');
    return live;
  }

  /** The session that waits for its start, or a new one. Synchronous, so that later turns cannot overtake this one. */
  #firstStart(id: string, opening: CallOpening): Session | undefined {
    const live = this.#live.get(id) ?? this.#open(id, opening);
    return !isOtherAgent(opening, live) && live.takeStart() ? live : undefined;
  }

  async #started(id: string, opening: CallOpening): Promise<Session> {
    let begun: Session | undefined;
    for (let wanted = opening; ;) {
      await this.#stopping.get(id);
      const live = this.#live.get(id) ?? this.#open(id, wanted);
      // G-28: a restarted conversation may have another agent.
      const isOther = isOtherAgent(opening, live);
      if (live === begun || (begun === undefined && !isOther && live.takeStart())) return live;
      // A second start came while this one waited: the conversation must not restart twice.
      if (begun !== undefined) return begun;
      wanted = { ...opening, restored: undefined, ...(!live.isEnded && !isOther && { agentId: live.call.agentId }) };
      begun = await this.#restart(id, live, wanted);
    }
  }

  /**
   * The session of a call that hangs up; undefined when the call has none. A hang-up never opens a session, and is never
   * refused.
   */
  async find(key: CallKey, restored?: Restored): Promise<Session | undefined> {
    const id = callId(key);
    await this.#stopping.get(id);
    const live = this.#live.get(id);
    if (live !== undefined || restored === undefined) return live;
    try {
      return this.#restored(id, restored, key.organizationId);
    } catch (thrown) {
      const err = toAppError(thrown);
      this.#parts.log.warn({ conversationId: key.conversationId, code: err.code, err }, 'a call was hung up that cannot go on here');
      this.#parts.snapshots.forget(key);
      return undefined;
    }
  }

  /** Whether a call has a session here, including ended ones that are still kept. */
  has(key: CallKey): boolean {
    const id = callId(key);
    return this.#live.has(id) || this.#stopping.has(id);
  }

  /** Whether a call of any organization has a session here. */
  knows(conversationId: string): boolean {
    return [...this.#live.values()].some(({ call }) => call.conversationId === conversationId);
  }

  /** The call now lives in another process: its session here ends silently. */
  lose(key: CallKey): void {
    const id = callId(key);
    const session = this.#live.get(id);
    if (session === undefined) return;
    this.#live.delete(id);
    void this.#stopped(id, session.call, session.stop('moved'), 'a session whose call lives in another process could not be ended');
  }

  /** Answers a call that `acquire` refused or whose home is unknown: see {@link transferRefused}. */
  transferRefused(sink: TurnSink, refusal: AppError, call: CallKey, isBegun = false): void {
    const isUnknown = refusal.code === 'store_unavailable';
    if (isUnknown) this.#parts.observer.callRefused?.(call, 'store');
    const answered = isUnknown ? refusedCall('store', { cause: refusal }) : refusal;
    transferRefused(sink, answered, this.#parts, isBegun, this.#process.signal);
  }

  /** Refuses new calls, until it is called with false; running calls go on. New calls that could move are still accepted. */
  drain(isDraining = true): void {
    if (!this.#parts.snapshots.isShared) this.#admission.drain(isDraining);
  }

  /**
   * Waits until no turn is open and no caller is expected back, moves or transfers the remaining callers, and ends all sessions, within
   * `limitMs` and one more second: see {@link Draining}. A second call waits for the first one.
   */
  close(limitMs: number): Promise<CutCalls> {
    return (this.#closing ??= this.#close(limitMs));
  }

  async #close(limitMs: number): Promise<CutCalls> {
    this.drain();
    this.#finishing.abort('shutdown');
    const { clock, snapshots } = this.#parts;
    const options = { limitMs, canMove: () => snapshots.canMove, release: (session: Session) => this.#release(session) };
    const draining = new Draining(() => this.#live.values(), options, clock);
    await draining.untilTransfer();
    this.#admission.drain();
    this.#isTransferring = true;
    this.#cancelSweep();
    return draining.transfer(() => {
      this.#process.abort('shutdown');
    });
  }

  async #release(session: Session): Promise<boolean> {
    await session.workDone();
    // Nothing is awaited from here on.
    if (!session.moveAway()) return false;
    const id = callId(session.call);
    if (this.#live.get(id) === session) this.#live.delete(id);
    // A lookup in the meantime must wait until the state is released.
    const released = this.#parts.snapshots.release(session.call, session.snapshot).then(() => {
      session.giveBack();
    });
    await this.#stopped(id, session.call, released, 'a call could not be released');
    return true;
  }

  /** @param before - set for a restart: the ended session of the conversation. */
  #open(id: string, opening: CallOpening, before?: Session, isRestart = false): Session {
    try {
      return this.#opened(id, opening, before, isRestart);
    } catch (thrown) {
      // A call without a session here may live elsewhere; a restarted one does not.
      if (before === undefined) void this.#parts.snapshots.release(opening);
      else this.#parts.snapshots.forget(opening);
      throw thrown;
    }
  }

  #opened(id: string, opening: CallOpening, before: Session | undefined, isRestart: boolean): Session {
    const { settings, observer, voice, clock } = this.#parts;
    const { organizationId, conversationId, agentId, vendorConfig, parameters, restored, mode = settings.mode, isTied = false } = opening;
    if (restored !== undefined) {
      try {
        return this.#restored(id, restored, organizationId);
      } catch (thrown) {
        // G-28: the conversation restarts without its old state.
        if (opening.opensWith !== 'start') throw thrown;
      }
    }
    const refusal = isRestart ? undefined : this.#admission.refusal(organizationId);
    if (refusal !== undefined) {
      observer.callRefused?.(opening, refusal);
      throw refusedCall(refusal, opening);
    }
    const bot = this.#bot(agentId, organizationId);
    if (!isRestart) this.#admission.callBegan(organizationId);
    if (this.#live.size >= 2 * settings.maxSessions) this.#forgetOldestEnded();
    // Frozen, because bots get this very object.
    const call = Object.freeze({ organizationId, conversationId, agentId: bot.id, startedAtMs: clock.nowMs(), vendorConfig, parameters });
    const snapshot = firstSnapshot({ call, bot, mode: voice.canSpeak ? mode : 'wav' });
    return this.#create(id, { bot, isTied, snapshot, ...(before !== undefined && { names: before.names }) });
  }

  /** Restores a session. A running call is never refused. */
  #restored(id: string, { snapshot: json, generation }: Restored, organizationId: string): Session {
    const snapshot = readSnapshot(json);
    const bot = this.#bot(snapshot.call.agentId, organizationId);
    const call = Object.freeze({ ...snapshot.call });
    const session = this.#create(id, { bot, generation, isTied: false, snapshot: { ...snapshot, call } });
    // Checked here, too: a call that moves often could escape every sweep.
    if (this.#isTooLong(session)) this.#leaveTooLong(session);
    return session;
  }

  /** Ends a session and opens a new one for the restarted conversation (G-28). @throws as `acquire`. */
  async #restart(id: string, old: Session, opening: CallOpening): Promise<Session | undefined> {
    // Another start may have restarted the conversation first.
    if (this.#live.get(id) !== old) return undefined;
    this.#live.delete(id);
    const hasEnded = old.isEnded;
    await this.#stopped(id, old.call, old.stop('restarted'), 'a conversation could not be restarted');
    if (this.#live.has(id)) return undefined;
    const session = this.#open(id, opening, old, !hasEnded && !this.#isTransferring);
    return isOtherAgent(opening, old) && session.takeStart() ? session : undefined;
  }

  #create(id: string, start: SessionStart): Session {
    const session = new Session(start, this.#parts);
    this.#admission.sessionStarted(start.snapshot.call.organizationId);
    this.#live.set(id, session);
    return session;
  }

  #bot(agentId: string, organizationId: string): Bot {
    const bot = this.#catalog.current.find(agentId, organizationId);
    if (bot === undefined) throw new AppError('agent_unknown', 'no bot has the requested agent id');
    return bot;
  }

  // Makes room for a new call, because the number of kept sessions is limited.
  #forgetOldestEnded(): void {
    for (const [id, session] of this.#live) {
      if (!session.isEnded) continue;
      this.#discard(id, session);
      return;
    }
  }

  #sweep(): void {
    const { clock, settings } = this.#parts;
    const nowMs = clock.monotonicMs();
    for (const [id, session] of this.#live) {
      const endedForMs = session.times.endedForMs(nowMs);
      if (endedForMs !== undefined) {
        if (endedForMs >= ENDED_RETENTION_MS) this.#discard(id, session);
      } else if (session.times.idleMs(nowMs) > settings.idleTimeoutMs || session.vanishedForMs(nowMs) > VANISHED_RETENTION_MS) {
        this.#discard(id, session);
      } else if (session.leaving === undefined && this.#isTooLong(session)) this.#leaveTooLong(session);
    }
  }

  #isTooLong({ times }: Session): boolean {
    const { clock, settings } = this.#parts;
    return clock.monotonicMs() - times.startedMs > settings.maxDurationMs;
  }

  #leaveTooLong(session: Session): void {
    session.leave('too_long').catch((error: unknown) => {
      this.#parts.log.error({ conversationId: session.call.conversationId, err: error }, 'ending a session that lasted too long failed');
    });
  }

  #discard(id: string, session: Session): void {
    this.#live.delete(id);
    void this.#stopped(id, session.call, session.stop('idle'), 'ending an idle session failed');
  }

  /** Makes turns of the call wait for the end of its session. Never rejects. */
  #stopped(id: string, { conversationId }: CallKey, stopping: Promise<void>, failure: string): Promise<void> {
    const stopped = stopping
      .catch((err: unknown) => {
        this.#parts.log.error({ conversationId, err }, failure);
      })
      .finally(() => {
        if (this.#stopping.get(id) === stopped) this.#stopping.delete(id);
      });
    this.#stopping.set(id, stopped);
    return stopped;
  }
}

function isOtherAgent({ agentId }: CallOpening, { call }: Session): boolean {
  return agentId !== '' && agentId !== call.agentId;
}
