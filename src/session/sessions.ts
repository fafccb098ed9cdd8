// All calls of this process: finds or makes the session of a call, ends the idle ones and drains them when the process
// stops.
import { linkAbort } from '../base/abort.ts';
import { every, type CancelTimer } from '../base/clock.ts';
import { AppError, toAppError } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import type { Bot } from '../bot/bot.ts';
import type { CatalogSource } from '../bot/catalog.ts';
import { callId, type CallKey } from '../dialog/call.ts';
import type { DeliveryMode } from '../dialog/output.ts';
import { refusedCall, type Admission } from './admission.ts';
import { BotRunner } from './bot-runner.ts';
import { Draining, openTurnsOf, type CutCalls } from './draining.ts';
import type { Interruptions, TurnSink } from './ports.ts';
import { Session } from './session.ts';
import type { SessionParts, SessionStartingPoint } from './session-parts.ts';
import { startingPoint } from './starting-point.ts';
import { turnAway } from './turned-away.ts';

/** How long the session of an ended call is remembered, ms, so that late streams get no prompts (G-7C). */
const ENDED_RETENTION_MS = 60_000;
/** A caller whose last stream was cancelled may come back for this long, ms. */
const VANISHED_RETENTION_MS = 30_000;
/** Pause between two looks for calls that go on in other processes, ms. */
const MOVED_LOOK_MS = 5000;

/** What is known of a call when one of its turns opens. */
export interface CallOpening extends CallKey {
  /** Empty when the platform names no agent. */
  readonly agentId: string;
  readonly vendorConfig: string;
  /** Parameters of the session start; empty on later turns. */
  readonly parameters: JsonObject;
  /** How prompts must travel on this wire; left out where the operator decides. */
  readonly mode?: DeliveryMode;
  /** The call lives and dies with this wire; default: its next turn may come to another process where a store is shared. */
  readonly isTied?: boolean;
}

/** What all calls share. */
export interface SessionsParts extends Omit<SessionParts, 'runner' | 'onEnded' | 'hurry'> {
  readonly admission: Admission;
}

/** The engine's front door for transports. */
export class Sessions {
  readonly #parts: SessionParts;
  readonly #admission: Admission;
  readonly #catalog: CatalogSource;
  readonly #live = new Map<string, Session>();
  readonly #loading = new Map<string, Promise<Session>>();
  /** Sessions that are being ended; a late turn of such a call waits and then starts anew. */
  readonly #stopping = new Map<string, Promise<void>>();
  readonly #process = linkAbort();
  readonly #cancelSweep: CancelTimer;
  /** Ends what is there because of other processes. */
  #others: () => void = () => undefined;
  #closing: Promise<CutCalls> | undefined;
  /** Whoever comes now is not taken over any more. */
  #isLast = false;

  /** Starts sweeping at once; `close` ends it. */
  constructor(parts: SessionsParts, catalog: CatalogSource) {
    const onEnded = ({ organizationId }: CallKey): void => {
      parts.admission.sessionEnded(organizationId);
    };
    const hurry = this.#process.signal;
    this.#parts = { ...parts, hurry, runner: new BotRunner({ ...parts, hurry }), onEnded };
    this.#admission = parts.admission;
    this.#catalog = catalog;
    this.#cancelSweep = every(parts.clock, parts.settings.sweepMs, () => {
      this.#sweep();
    });
    if (parts.shared !== undefined) this.#others = this.#withOthers(parts.shared.interruptions);
  }

  /** Sessions that are not over. */
  get size(): number {
    return this.#admission.sessions;
  }

  /** Turns that are not done, of all sessions. */
  get openTurns(): number {
    return openTurnsOf(this.#live.values());
  }

  /**
   * The session of a call; a call that is not known gets a new one (G-12, G-15).
   *
   * @throws AppError `agent_unknown`, `agent_conflict` (G-17), or what {@link refusedCall} makes of a refusal.
   */
  async acquire(opening: CallOpening): Promise<Session> {
    const id = callId(opening);
    const live = (await this.#opened(id)) ?? (await (this.#loading.get(id) ?? this.#open(id, opening)));
    if (opening.agentId !== '' && opening.agentId !== live.call.agentId) {
      throw new AppError('agent_conflict', 'the conversation already talks to another agent');
    }
    return live;
  }

  /** Whether a call is known, here or by its record. Two that ask at once may both be told that it is not. */
  async isKnown(key: CallKey): Promise<boolean> {
    const id = callId(key);
    await this.#stopping.get(id);
    return this.#live.has(id) || (await this.#parts.store.load(key)) !== undefined;
  }

  /**
   * The session of a call that is being hung up. Undefined when there is none: a hang-up never makes one, and is never
   * refused.
   */
  async find(key: CallKey): Promise<Session | undefined> {
    const id = callId(key);
    // A call that is being refused at this moment has no session; its own stream says why.
    const known = (await this.#opened(id)) ?? (await this.#loading.get(id)?.catch(() => undefined));
    if (known !== undefined) return known;
    try {
      return await this.#recorded(id, key);
    } catch (thrown) {
      await this.#forget(key, toAppError(thrown));
      return undefined;
    }
  }

  /** Answers a call that `acquire` refused, on its stream: see {@link turnAway}. */
  turnAway(sink: TurnSink, refusal: AppError): void {
    turnAway(sink, refusal, this.#parts, this.#process.signal);
  }

  /** Refuses new calls from now on; running ones go on. Calls that other processes can go on with are no burden, and begin here until the last moment. */
  drain(): void {
    if (this.#parts.shared === undefined) this.#admission.drain();
  }

  /**
   * Waits until no turn is open and no caller is to be back soon, hands over every caller who is still there and ends all
   * sessions, all within `limitMs` and a second: see {@link Draining}. A second call waits for the first.
   */
  close(limitMs: number): Promise<CutCalls> {
    this.#closing ??= this.#close(limitMs);
    return this.#closing;
  }

  async #close(limitMs: number): Promise<CutCalls> {
    this.drain();
    const draining = new Draining(() => this.#live.values(), { limitMs, canMove: this.#parts.shared !== undefined }, this.#parts.clock);
    await draining.untilHandOver();
    this.#isLast = true;
    this.#admission.drain();
    this.#cancelSweep();
    const cut = await draining.handOver(() => {
      this.#process.abort('shutdown');
    });
    this.#others();
    return cut;
  }

  #open(id: string, opening: CallOpening): Promise<Session> {
    const loading = this.#load(id, opening).finally(() => {
      this.#loading.delete(id);
    });
    this.#loading.set(id, loading);
    return loading;
  }

  async #load(id: string, opening: CallOpening): Promise<Session> {
    const { settings, observer } = this.#parts;
    // A server that closes takes nobody's call over; closing is draining, so the admission refuses it below.
    const recorded = this.#mayTakeOver ? await this.#recordedOrLost(id, opening) : undefined;
    if (recorded !== undefined) return recorded;
    const refusal = this.#admission.refusal(opening.organizationId);
    if (refusal !== undefined) {
      observer.callRefused?.(opening, refusal);
      throw refusedCall(refusal);
    }
    if (this.#live.size >= 2 * settings.maxSessions) this.#forgetOldestEnded();
    return this.#create(id, this.#beginning(opening));
  }

  #beginning(opening: CallOpening): SessionStartingPoint {
    const { settings, voice, clock } = this.#parts;
    const { organizationId, conversationId, agentId, vendorConfig, parameters, mode = settings.mode, isTied = false } = opening;
    const bot = this.#bot(agentId, organizationId);
    const call = { organizationId, conversationId, agentId: bot.id, startedAtMs: clock.nowMs(), vendorConfig, parameters };
    return { call, bot, mode: voice.canSpeak ? mode : 'wav', turns: 0, listen: { kind: 'listen' }, isTied };
  }

  /** With other processes the next turn may come here by chance until their load balancer has learned that this one stops. */
  get #mayTakeOver(): boolean {
    return this.#parts.shared === undefined ? this.#closing === undefined : !this.#isLast;
  }

  /** A call whose state does not open gets a session all the same: its first answer meets the same error and hands the caller over. */
  async #recordedOrLost(id: string, opening: CallOpening): Promise<Session | undefined> {
    try {
      return await this.#recorded(id, opening);
    } catch (thrown) {
      if (thrown instanceof AppError && thrown.code === 'store_unavailable') {
        this.#parts.observer.callRefused?.(opening, 'store');
        throw new AppError(thrown.code, thrown.message, { details: { ...thrown.details, reason: 'store' }, cause: thrown });
      }
      if (thrown instanceof AppError && thrown.code === 'state_unreadable') return this.#create(id, this.#beginning(opening));
      throw thrown;
    }
  }

  /** The session of a call that has a record; undefined for a call that is not known. */
  async #recorded(id: string, key: CallKey): Promise<Session | undefined> {
    const { store } = this.#parts;
    let kept = await store.open(key);
    // The call's last session may have begun to end while its record was read.
    for (let stopping = this.#stopping.get(id); stopping !== undefined; stopping = this.#stopping.get(id)) {
      await stopping;
      kept = await store.open(key);
    }
    if (kept === undefined) return undefined;
    const bot = this.#bot(kept.record.bot.id, key.organizationId);
    if (!this.#mayTakeOver) return undefined;
    const session = this.#create(id, startingPoint(kept.record, bot));
    session.opened(kept);
    // A call that goes from server to server is nowhere when they look for old ones.
    if (this.#isTooLong(session) && session.leaving === undefined) this.#leaveTooLong(session);
    return session;
  }

  /** The session that is here for a stream that opens; what it knows itself is the best there is while the store is away. */
  async #opened(id: string): Promise<Session | undefined> {
    await this.#stopping.get(id);
    for (let live = this.#live.get(id); live !== undefined; live = this.#live.get(id)) {
      if (live.hasMoved) {
        this.#live.delete(id);
        continue;
      }
      if (this.#parts.shared === undefined || live.isTied) return live;
      const kept = await this.#parts.store.open(live.call).catch(() => undefined);
      await this.#stopping.get(id);
      // It may have been given up meanwhile.
      if (this.#live.get(id) !== live) continue;
      if (kept !== undefined) live.opened(kept);
      return live;
    }
    return undefined;
  }

  /** A call that is hung up and cannot be gone on with: its bot has left, or its record cannot be read. Never throws. */
  async #forget(key: CallKey, error: AppError): Promise<void> {
    const { log, store } = this.#parts;
    const ids = { conversationId: key.conversationId };
    log.warn({ ...ids, code: error.code, err: error }, 'a call was hung up that cannot be gone on with here; its record is dropped');
    await store.drop(key).catch((err: unknown) => {
      log.error({ ...ids, err }, 'the record of a call that was hung up could not be dropped');
    });
  }

  // Counted at once, so that a burst of calls cannot pass the limit together.
  #create(id: string, point: SessionStartingPoint): Session {
    // A hang-up and another turn may have looked for the call at the same time.
    const live = this.#live.get(id);
    if (live !== undefined) return live;
    const session = new Session(point, this.#parts);
    this.#admission.sessionStarted(point.call.organizationId);
    this.#live.set(id, session);
    return session;
  }

  #bot(agentId: string, organizationId: string): Bot {
    const bot = this.#catalog.current.find(agentId, organizationId);
    if (bot === undefined) throw new AppError('agent_unknown', 'no bot has the agent id that the platform asks for');
    return bot;
  }

  // Remembering ended calls is a courtesy to late streams; it must not take the place of new calls.
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
      const endedForMs = session.endedForMs(nowMs);
      if (endedForMs !== undefined) {
        if (endedForMs >= ENDED_RETENTION_MS) this.#discard(id, session);
      } else if (session.idleMs(nowMs) > settings.idleTimeoutMs || session.vanishedForMs(nowMs) > VANISHED_RETENTION_MS) {
        this.#discard(id, session);
      } else if (session.leaving === undefined && this.#isTooLong(session)) this.#leaveTooLong(session);
    }
  }

  #isTooLong({ startedAtMs }: Session): boolean {
    const { clock, settings } = this.#parts;
    return clock.monotonicMs() - startedAtMs > settings.maxDurationMs;
  }

  #leaveTooLong(session: Session): void {
    session.leave('too_long').catch((error: unknown) => {
      this.#parts.log.error({ conversationId: session.call.conversationId, err: error }, 'ending a session that lasted too long failed');
    });
  }

  /** Hears of interruptions, and looks for calls that go on elsewhere. @returns what ends both. */
  #withOthers(interruptions: Interruptions): () => void {
    const stopListening = interruptions.listen((key, interruption) => {
      this.#live.get(callId(key))?.interruptedElsewhere(interruption);
    });
    const cancelLooks = every(this.#parts.clock, MOVED_LOOK_MS, () => {
      const nowMs = this.#parts.clock.monotonicMs();
      for (const [id, session] of this.#live) if (session.isLeftAlone(nowMs)) void this.#letMove(id, session);
    });
    return () => {
      stopListening();
      cancelLooks();
    };
  }

  /** A call whose next turn was opened in another process, or that has ended there, has no place here. */
  async #letMove(id: string, session: Session): Promise<void> {
    // Not known while the store is away: the next look will tell.
    const isHere = await this.#goesOnHere(session.call).catch(() => true);
    if (isHere || this.#live.get(id) !== session || !session.isLeftAlone(this.#parts.clock.monotonicMs())) return;
    this.#live.delete(id);
    await session.moveAway();
  }

  async #goesOnHere(key: CallKey): Promise<boolean> {
    const { store } = this.#parts;
    if (!(await store.serves(key))) return false;
    const record = await store.load(key);
    return record?.ended !== true;
  }

  #discard(id: string, session: Session): void {
    this.#live.delete(id);
    const stopped = this.#ended(session)
      .catch((error: unknown) => {
        this.#parts.log.error({ conversationId: session.call.conversationId, err: error }, 'ending an idle session failed');
      })
      .finally(() => {
        this.#stopping.delete(id);
      });
    this.#stopping.set(id, stopped);
  }

  async #ended(session: Session): Promise<void> {
    const { store } = this.#parts;
    // While the store is away it is taken for ours: its place here is given up in any case.
    if (!session.isEnded && !(await store.serves(session.call).catch(() => true))) {
      await session.moveAway();
      return;
    }
    await session.stop('idle');
    await store.drop(session.call);
  }
}
