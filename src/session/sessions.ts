// All calls of this process: finds or makes the session of a call, ends the idle ones and drains them when the process
// stops.
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
import { BotRunner } from './bot-runner.ts';
import { CallRecords, isOfNext, type Look } from './call-records.ts';
import { Draining, openTurnsOf, type CutCalls } from './draining.ts';
import { moveAway, MovingCalls } from './moving-calls.ts';
import type { OpenedCall, TurnSink } from './ports.ts';
import { firstRecord, type SessionRecord } from './record.ts';
import { Session } from './session.ts';
import type { SessionParts, SessionStartingPoint } from './session-parts.ts';
import { isFresh, startingPoint } from './starting-point.ts';
import { turnAway } from './turned-away.ts';

/** How long the session of an ended call is remembered, ms, so that late streams get no prompts (G-7C). */
const ENDED_RETENTION_MS = 60_000;
/** A caller whose last stream was cancelled may come back for this long, ms. */
const VANISHED_RETENTION_MS = 30_000;
/** Longest wait at the very end until the store knows what was heard, ms: what it does not know is said again elsewhere. */
const TOLD_LIMIT_MS = 500;

/** What is known of a call when one of its turns opens. */
export interface CallOpening extends CallKey {
  /** Empty when the platform names no agent. */
  readonly agentId: string;
  readonly vendorConfig: string;
  /** Parameters of the session start; empty on later turns. */
  readonly parameters: JsonObject;
  /** Default: nothing. */
  readonly opensWith?: TurnOpening;
  /** How prompts must travel on this wire; left out where the operator decides. */
  readonly mode?: DeliveryMode;
  /** The call lives and dies with this wire; default: its next turn may come to another process where a store is shared. */
  readonly isTied?: boolean;
}

/** What all calls share. */
export type SessionsParts = Omit<SessionParts, 'runner' | 'onEnded' | 'closing' | 'hurry'> & { readonly admission: Admission };

/** The engine's front door for transports. */
export class Sessions {
  readonly #parts: SessionParts;
  readonly #records: CallRecords;
  readonly #admission: Admission;
  readonly #catalog: CatalogSource;
  readonly #live = new Map<string, Session>();
  readonly #loading = new Map<string, Promise<Session>>();
  /** Sessions that are being ended; a late turn of such a call waits and then starts anew. */
  readonly #stopping = new Map<string, Promise<void>>();
  readonly #finishing = linkAbort();
  readonly #process = linkAbort();
  readonly #cancelSweep: CancelTimer;
  /** There where other processes share the store. */
  readonly #moving: MovingCalls | undefined;
  #closing: Promise<CutCalls> | undefined;
  /** Whoever comes now is not taken over any more. */
  #isLast = false;

  /** Starts sweeping at once; `close` ends it. */
  constructor(parts: SessionsParts, catalog: CatalogSource) {
    const onEnded = ({ organizationId }: CallKey): void => {
      parts.admission.sessionEnded(organizationId);
    };
    const engine = { ...parts, closing: this.#finishing.signal, hurry: this.#process.signal };
    this.#records = new CallRecords(engine);
    this.#parts = { ...engine, runner: new BotRunner(engine, this.#records), onEnded };
    this.#admission = parts.admission;
    this.#catalog = catalog;
    this.#cancelSweep = every(parts.clock, parts.settings.sweepMs, () => {
      this.#sweep();
    });
    const { shared, settings } = parts;
    if (shared !== undefined) this.#moving = new MovingCalls(this.#live, { ...parts, ...shared, keptForMs: settings.idleTimeoutMs / 2 });
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
   * The session of a call; a call that is not known gets a new one (G-12, G-15), and so does one that begins anew (G-28).
   *
   * @throws AppError `agent_unknown`, `agent_conflict` (G-17), or what {@link refusedCall} makes of a refusal.
   */
  async acquire(opening: CallOpening): Promise<Session> {
    const id = callId(opening);
    const isStart = opening.opensWith === 'start';
    let begun: Session | undefined;
    for (let wanted = opening; ;) {
      const live = (await this.#opened(id, wanted)) ?? (await (this.#loading.get(id) ?? this.#open(id, wanted)));
      const isOther = opening.agentId !== '' && opening.agentId !== live.call.agentId;
      // G-28: the next conversation under the same id may be with another agent.
      if (isOther && !isStart) throw new AppError('agent_conflict', 'the conversation already talks to another agent');
      if (!isStart || live === begun || (begun === undefined && !isOther && live.takeStart())) return live;
      // Another start has come behind this one: they do not end each other for ever.
      if (begun !== undefined) return begun;
      if (!live.isEnded && !isOther) wanted = { ...opening, agentId: live.call.agentId };
      begun = await this.#restart(id, live, wanted);
    }
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
      const opened = await this.#looked(id, key, { isPatient: true });
      return opened.kept === undefined ? undefined : this.#continued(id, key, opened, opened.kept.record);
    } catch (thrown) {
      await this.#forget(id, key, toAppError(thrown));
      return undefined;
    }
  }

  /** Answers a call that `acquire` refused, on its stream: see {@link turnAway}. */
  turnAway(sink: TurnSink, refusal: AppError, isBegun = false): void {
    turnAway(sink, refusal, this.#parts, isBegun, this.#process.signal);
  }

  /** Refuses new calls from now on; running ones go on. Calls that other processes can go on with are no burden, and begin here until the last moment. */
  drain(): void {
    if (this.#parts.shared === undefined) this.#admission.drain();
  }

  /**
   * Waits until no turn is open and no caller is to be back soon, hands over every caller who is still there and ends all
   * sessions, all within `limitMs` and a second, and half a second more where others must be told: see {@link Draining}.
   * A second call waits for the first.
   */
  close(limitMs: number): Promise<CutCalls> {
    return (this.#closing ??= this.#close(limitMs));
  }

  async #close(limitMs: number): Promise<CutCalls> {
    this.drain();
    this.#finishing.abort('shutdown');
    const draining = new Draining(() => this.#live.values(), { limitMs, canMove: this.#parts.shared !== undefined }, this.#parts.clock);
    await draining.untilHandOver();
    this.#isLast = true;
    this.#admission.drain();
    this.#cancelSweep();
    const cut = await draining.handOver(() => {
      this.#process.abort('shutdown');
    });
    this.#moving?.close();
    await this.#records.told(TOLD_LIMIT_MS);
    return cut;
  }

  /** @param ending - of the session before, which begins anew; where its call was running, it `keepsPlace`. */
  #open(id: string, opening: CallOpening, ending?: Promise<void>, keepsPlace = false): Promise<Session> {
    const loading = this.#load(id, opening, ending, keepsPlace).finally(() => {
      this.#loading.delete(id);
    });
    this.#loading.set(id, loading);
    return loading;
  }

  async #load(id: string, opening: CallOpening, ending: Promise<void> | undefined, keepsPlace: boolean): Promise<Session> {
    const { settings, observer } = this.#parts;
    // A server that closes takes nobody's call over; closing is draining, so the admission refuses it below.
    const opened = this.#mayTakeOver || keepsPlace ? await this.#lookedUp(id, opening, ending) : undefined;
    const record = opened?.kept?.record;
    // A start of a conversation that begins anew is a new call to the admission once its call was over; what follows it is none.
    const isGoingOn = opened !== undefined && record !== undefined && !(opening.opensWith === 'start' && isFresh(record));
    if (isGoingOn && this.#mayTakeOver) return this.#continued(id, opening, opened, record);
    const hasPlace = keepsPlace && !this.#isLast;
    const refusal = hasPlace ? undefined : this.#admission.refusal(opening.organizationId);
    if (refusal !== undefined) {
      if (opened !== undefined) void this.#records.leaveNothing(opening);
      observer.callRefused?.(opening, refusal);
      throw refusedCall(refusal, opening);
    }
    if (!hasPlace) this.#admission.callBegan(opening.organizationId);
    if (this.#live.size >= 2 * settings.maxSessions) this.#forgetOldestEnded();
    const session = this.#create(id, this.#beginning(opening, record));
    if (opened !== undefined) session.opened(opened);
    return session;
  }

  /** Ends a session, and opens the one of the conversation that begins anew (G-28). @throws as `acquire`. */
  async #restart(id: string, old: Session, opening: CallOpening): Promise<Session | undefined> {
    const first = firstRecord(this.#beginning(opening));
    // Another start may have come first.
    if (this.#live.get(id) !== old) return undefined;
    this.#live.delete(id);
    const [isRunning, ending] = [!old.isEnded, old.stop('restarted').then(() => this.#records.beginAnew(first))];
    void this.#stopped(id, old.call, ending, 'a conversation could not be begun anew');
    const session = await this.#open(id, opening, ending, isRunning);
    const isOther = opening.agentId !== '' && opening.agentId !== old.call.agentId;
    return isOther && session.takeStart() ? session : undefined;
  }

  /** @param record - of the conversation, where others know already that it begins anew. */
  #beginning(opening: CallOpening, record?: SessionRecord): SessionStartingPoint {
    const { settings, voice, clock } = this.#parts;
    const { organizationId, conversationId, agentId, vendorConfig, parameters, mode = settings.mode, isTied = false } = opening;
    if (record !== undefined) return { ...startingPoint(record, this.#bot(record.bot.id, organizationId)), isContinued: false, isTied };
    const bot = this.#bot(agentId, organizationId);
    // Bots see this very object, and places of calls are counted by what stands in it.
    const call = Object.freeze({ organizationId, conversationId, agentId: bot.id, startedAtMs: clock.nowMs(), vendorConfig, parameters });
    return { call, bot, mode: voice.canSpeak ? mode : 'wav', turns: 0, listen: { kind: 'listen' }, isTied };
  }

  /** With other processes the next turn may come here by chance until their load balancer has learned that this one stops. */
  get #mayTakeOver(): boolean {
    return this.#parts.shared === undefined ? this.#closing === undefined : !this.#isLast;
  }

  /** What there is of a call that is not here. */
  async #lookedUp(id: string, opening: CallOpening, ending: Promise<void> | undefined): Promise<OpenedCall | undefined> {
    try {
      await ending;
      // A new call is turned away at once while the store is away; the caller of one that goes on waits rather than being handed over.
      const look = { isPatient: opening.opensWith !== 'start', claims: this.#claimsOf(opening) };
      const opened = await this.#looked(id, opening, look);
      if (opened.kept?.record.closed !== true || opening.opensWith !== 'start') return opened;
      await this.#records.beginAnew(firstRecord(this.#beginning(opening)));
      return await this.#looked(id, opening, look);
    } catch (thrown) {
      const { code } = toAppError(thrown);
      if (code === 'store_unavailable') {
        this.#parts.observer.callRefused?.(opening, 'store');
        throw refusedCall('store', { organizationId: opening.organizationId, cause: thrown });
      }
      // One whose state does not open gets a session all the same: its first answer meets the same error and hands the caller over.
      if (code === 'state_unreadable') return undefined;
      throw thrown;
    }
  }

  async #looked(id: string, key: CallKey, look: Look): Promise<OpenedCall> {
    let opened = await this.#records.open(key, look);
    // The call's last session may have begun to end while its record was read.
    for (let stopping = this.#stopping.get(id); stopping !== undefined; stopping = this.#stopping.get(id)) {
      await stopping;
      opened = await this.#records.open(key, look);
    }
    return opened;
  }

  /** Where no other process shares the store, a claim costs nothing and nothing is found before the first commit. */
  #claimsOf(opening: CallOpening, live?: Session): Look['claims'] {
    const { opensWith = 'nothing', organizationId, agentId } = opening;
    if (this.#parts.shared === undefined || opensWith === 'nothing') return undefined;
    if (live !== undefined) return { first: live.isKept ? undefined : firstRecord(live) };
    if (this.#catalog.current.find(agentId, organizationId) === undefined) return undefined;
    if (this.#admission.refusal(organizationId) !== undefined) return undefined;
    return { first: firstRecord(this.#beginning(opening)) };
  }

  /** The session of a call that has a record. */
  #continued(id: string, key: CallKey, opened: OpenedCall, record: SessionRecord): Session {
    const session = this.#create(id, startingPoint(record, this.#bot(record.bot.id, key.organizationId)));
    session.opened(opened);
    // A call that goes from server to server is nowhere when they look for old ones.
    if (this.#isTooLong(session) && session.leaving === undefined) this.#leaveTooLong(session);
    return session;
  }

  /** The session that is here for a stream that opens; what it knows itself is the best there is while the store is away. */
  async #opened(id: string, opening?: CallOpening): Promise<Session | undefined> {
    await this.#stopping.get(id);
    for (let live = this.#live.get(id); live !== undefined; live = this.#live.get(id)) {
      if (live.hasMoved) {
        this.#live.delete(id);
        continue;
      }
      if (this.#parts.shared === undefined || live.isTied) return live;
      const claims = opening === undefined ? undefined : this.#claimsOf(opening, live);
      const opened = await this.#records.open(live.call, { isPatient: false, claims }).catch(() => undefined);
      await this.#stopping.get(id);
      // It may have been given up meanwhile, or have moved away.
      const here = this.#live.get(id);
      if (here !== live || here.hasMoved) continue;
      if (opened === undefined) return live;
      if (isOfNext(live, opened.kept?.record)) {
        this.#live.delete(id);
        await moveAway(live);
        continue;
      }
      live.opened(opened);
      return live;
    }
    return undefined;
  }

  /** A call that is hung up and cannot be gone on with: its bot has left, or its record cannot be read. Never throws. */
  async #forget(id: string, key: CallKey, error: AppError): Promise<void> {
    const { log, store } = this.#parts;
    const ids = { conversationId: key.conversationId };
    if (error.code === 'store_unavailable') {
      // Whoever had the call last finds out that nobody comes back, and tells its bot.
      log.warn({ ...ids, code: error.code, err: error }, 'a call was hung up while the store was away');
      return;
    }
    // A call that has begun behind the hang-up: the record is its own by now.
    if (this.#live.has(id) || this.#loading.has(id)) return;
    log.warn({ ...ids, code: error.code, err: error }, 'a call was hung up that cannot be gone on with here; its record is dropped');
    await this.#stopped(id, key, store.drop(key), 'the record of a call that was hung up could not be dropped');
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
    void this.#stopped(id, session.call, this.#ended(session), 'ending an idle session failed');
  }

  /** Turns of the call that come meanwhile wait. Never rejects. */
  #stopped(id: string, { conversationId }: CallKey, stopping: Promise<void>, failure: string): Promise<void> {
    const stopped = stopping
      .catch((err: unknown) => {
        this.#parts.log.error({ conversationId, err }, failure);
      })
      .finally(() => {
        this.#stopping.delete(id);
      });
    this.#stopping.set(id, stopped);
    return stopped;
  }

  async #ended(session: Session): Promise<void> {
    const { store } = this.#parts;
    // While the store is away it is taken for ours: its place here is given up in any case.
    const isOurs = await store.serves(session.call).catch(() => true);
    if (!session.isEnded && !isOurs) return moveAway(session);
    await session.stop('idle');
    // The conversation may have begun anew elsewhere.
    if (isOurs) await store.drop(session.call);
  }
}
