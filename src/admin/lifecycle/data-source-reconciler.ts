// Keeps one data source registered: finds, adopts, registers or repairs it, renews its token in time, and gives the token check every nonce
// before the platform can use that nonce. One step at a time; failed steps are retried without end.
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import type { DataSource, DataSourceCreate } from '../records.ts';
import { mayHaveBeenDone } from '../rest/rest-error.ts';
import { notSeenYet, otherNonce, unmended } from './reconciler-errors.ts';
import { serveKept, nonceIn } from './kept-trust.ts';
import { LastingDrift } from './lasting-drift.ts';
import { driftOf } from './match.ts';
import type { KnownNonce, NonceJournal } from './nonce-journal.ts';
import type { DataSourcesApi, LifecycleObserver, Leader, Served, Transition, Trust, WantedDataSource } from './ports.ts';
import { valuesIn } from './registered-values.ts';
import { ifThere, RecordFinder } from './record-finder.ts';
import { RenewalClock } from './renewal-clock.ts';
import { isRegistrationDue, type LifecycleTimes } from './schedule.ts';
import { ServedDataSource } from './served-data-source.ts';
import { StepLoop } from './step-loop.ts';

/** Random bytes of a nonce (L-11). */
const NONCE_BYTES = 32;

export interface DataSourceReconcilerOptions {
  readonly wanted: WantedDataSource;
  readonly api: DataSourcesApi;
  readonly journal: NonceJournal;
  readonly trust: Trust;
  readonly times: LifecycleTimes;
  readonly clock: Clock;
  readonly observer: LifecycleObserver;
  /** Set in the one process that renews for several. */
  readonly leader?: Leader | undefined;
  /** Returns random numbers from 0 to 1; default: Math.random. */
  readonly draw?: () => number;
}

/** The state of a data source, for operators and for gauges. */
export interface DataSourceState {
  readonly wanted: WantedDataSource;
  readonly dataSourceId: string | undefined;
  /** Expiry of the current token, ms since the epoch; undefined when unknown. */
  readonly expiresAtMs: number | undefined;
  /** Whether calls can come in: the data source is registered, and its token has not expired or has an unknown expiry. */
  readonly isServed: boolean;
  /** The error of the last step; undefined after a success. */
  readonly error: AppError | undefined;
  /** End of the last successful step, or creation of this object, ms since the epoch. */
  readonly wellAtMs: number;
}

/** One data source of one organization on one transport. */
export class DataSourceReconciler {
  readonly #options: DataSourceReconcilerOptions;
  readonly #served: Served;
  readonly #time: RenewalClock;
  readonly #loop: StepLoop;
  readonly #finder: RecordFinder;
  readonly #lasting = new LastingDrift();
  /** The id of the record that was found last. */
  #foundId: string | undefined;
  #error: AppError | undefined;
  #wellAtMs: number;
  #isRenewalWanted = false;

  constructor(options: DataSourceReconcilerOptions) {
    const { wanted, api, journal, trust, times, clock, leader, draw = Math.random } = options;
    this.#options = options;
    this.#served = leader?.served(wanted) ?? new ServedDataSource(wanted, trust);
    this.#time = new RenewalClock({ times, clock, draw, lifetimeMs: wanted.tokenLifetimeMinutes * 60_000 });
    this.#finder = new RecordFinder({
      wanted,
      api,
      journal,
      onRemoved: () => {
        this.#notify('removed');
      },
    });
    this.#loop = new StepLoop((signal) => this.#step(signal), clock);
    this.#wellAtMs = clock.nowMs();
  }

  /** The current state. */
  get state(): DataSourceState {
    const { wanted } = this.#options;
    const { id } = this.#served;
    const { expiresAtMs, leftMs } = this.#time;
    const isServed = id !== undefined && leftMs > 0;
    return { wanted, dataSourceId: id, expiresAtMs, isServed, error: this.#error, wellAtMs: this.#wellAtMs };
  }

  /** Trusts the tokens that were valid when the last process ended, without a request (L-15). Call this before `start`, if at all. */
  serveKnown(): void {
    const { journal, wanted } = this.#options;
    if (serveKept(journal, this.#served, wanted)) this.#time.ends(journal.known.current?.validUntilMs);
  }

  /**
   * Starts, and runs until {@link DataSourceReconciler.stop}. Resolves when the data source exists; rejects when the first step fails,
   * which is retried nevertheless.
   *
   * @throws AppError of the platform, or `data_source_unclear`.
   */
  async start(): Promise<void> {
    await this.#loop.begin();
    if (this.#error !== undefined) throw this.#error;
  }

  /** Renews now. Resolves with the state after the attempt. */
  async renew(): Promise<DataSourceState> {
    this.#isRenewalWanted = true;
    await this.#loop.hurry();
    // A step that was running already did not include the renewal.
    const { error } = this.state;
    if (this.#mustRenew && error === undefined) await this.#loop.next();
    return this.state;
  }

  /** Stops; deletes and disables nothing, neither here nor on the platform (L-13). Idempotent. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Stops and forgets the data source: its tokens are refused from now on, and its nonces are erased (6.5). */
  async forget(): Promise<void> {
    // Refuse tokens before stopping, which may take long, and again afterwards, because a running step may have succeeded.
    this.#served.drop();
    await this.stop();
    this.#served.drop();
    await this.#options.journal.erase();
    this.#time.ends(undefined);
    this.#notify('forgotten');
  }

  /** Runs one step. Never throws. @returns the pause until the next step, ms. */
  async #step(signal: AbortSignal): Promise<number> {
    try {
      await this.#reconcile(signal);
      this.#error = undefined;
      this.#wellAtMs = this.#options.clock.nowMs();
    } catch (thrown) {
      if (signal.aborted) return 0;
      this.#error = toAppError(thrown, 'internal', 'a check of a data source failed');
      this.#notify('failed', this.#error);
    }
    if (this.#time.alarm()) this.#notify('overdue', this.#error);
    return this.#error === undefined ? this.#time.pauseMs : this.#time.retryPauseMs(this.#error);
  }

  async #reconcile(signal: AbortSignal): Promise<void> {
    const isRenewalWanted = this.#isRenewalWanted;
    const record = await this.#finder.find(this.#served.id, signal);
    const left = record === undefined ? await this.#create(signal) : await this.#keep(record, isRenewalWanted, signal);
    // A renewal that was requested during this step is left to the next one.
    if (isRenewalWanted) this.#isRenewalWanted = false;
    if (left.length === 0) return;
    // The platform may be unable to change a schema: then register another data source, but only once.
    const isOutgrown = left.includes('schemaId') && this.#options.wanted.pinnedId === undefined && !this.#finder.passesOver;
    if (record === undefined || !isOutgrown) throw unmended(record, left);
    this.#finder.passOver(record.id);
    try {
      await this.#reconcile(signal);
    } catch (thrown) {
      // Until another data source exists, go on renewing this one.
      if (this.#served.id === record.id) this.#finder.passOver(undefined);
      throw thrown;
    }
  }

  /** Follows, repairs or renews the found record. @returns the members that still differ from what we want. */
  async #keep(record: DataSource, isRenewalWanted: boolean, signal: AbortSignal): Promise<readonly string[]> {
    const { wanted, journal } = this.#options;
    const isNew = this.#foundId !== record.id;
    const isRenewed = await this.#follow(record, isNew);
    this.#foundId = record.id;
    const isDue = (isRenewalWanted && !isRenewed) || this.#time.isDue;
    const drift = driftOf(record, wanted);
    const isLasting = this.#lasting.isOf(record, wanted);
    if (drift.length > 0 && !isLasting) return this.#update(record, 'repaired', signal);
    // Without a known nonce no token is accepted (L-15).
    if (isDue || journal.known.current === undefined) return this.#update(record, 'renewed', signal);
    if (isNew) this.#notify('adopted');
    return drift;
  }

  /**
   * Follows the record: its nonce and token replace the known ones, and its tokens are trusted.
   *
   * @returns whether the record shows a renewal of ours whose answer was lost.
   */
  async #follow(record: DataSource, isNew: boolean): Promise<boolean> {
    const { journal, wanted } = this.#options;
    const before = journal.known;
    const sent = nonceIn(record, before, wanted);
    if (sent === undefined) this.#served.show(record.id, before);
    else await this.#took(record.id, sent, record.tokenExpiresAtMs ?? this.#assumedEndMs(sent.nonce));
    if (sent === undefined || sent.nonce === before.current?.nonce) return false;
    const isRenewed = sent.nonce === before.announced?.nonce;
    if (!isNew) this.#notify(isRenewed ? 'renewed' : 'followed');
    return isRenewed;
  }

  /** The expiry of a nonce's token when the record does not give it (L-06). */
  #assumedEndMs(nonce: string): number | undefined {
    const { current, announced } = this.#options.journal.known;
    if (nonce === current?.nonce) return current.validUntilMs;
    return nonce === announced?.nonce ? this.#options.clock.nowMs() + this.#lifetimeMs : undefined;
  }

  /** Registers the data source. @returns the members that the platform registered differently. */
  async #create(signal: AbortSignal): Promise<readonly string[]> {
    const { api, journal, clock, times } = this.#options;
    const before = journal.posted;
    if (before !== undefined && !isRegistrationDue(before.lastMs, clock.nowMs(), times)) throw notSeenYet(before, times);
    let nonce: string;
    let record: DataSource;
    try {
      nonce = await this.#announced(true);
      record = await api.create(this.#registered(nonce), signal);
    } catch (thrown) {
      if (!mayHaveBeenDone(thrown)) await journal.unposted(before);
      throw thrown;
    }
    await this.#settle(record.id, nonce, record, 'created');
    return this.#lasting.after(record, record, this.#options.wanted);
  }

  async #update(before: DataSource, transition: 'repaired' | 'renewed', signal: AbortSignal): Promise<readonly string[]> {
    const { api, journal, wanted } = this.#options;
    const { id } = before;
    const isFirstTry = journal.known.announced === undefined;
    const nonce = await this.#announced(false);
    let record: DataSource;
    try {
      record = await api.update(id, { ...this.#registered(nonce), status: 'active' }, signal);
    } catch (thrown) {
      if (isRefusal(thrown)) await this.#reconsider(id, nonce, isFirstTry && !mayHaveBeenDone(thrown), signal);
      throw thrown;
    }
    const left = this.#lasting.after(before, record, wanted);
    await this.#settle(id, nonce, record, left.length > 0 ? 'renewed' : transition);
    return left;
  }

  /** The body of a registration or change. */
  #registered(nonce: string): DataSourceCreate {
    const { audience, subject, schemaId, url, tokenLifetimeMinutes } = this.#options.wanted;
    return { audience, subject, nonce, schemaId, url, tokenLifetimeMinutes };
  }

  /**
   * A nonce that the token check knows already. Reuses the nonce of an attempt with unknown outcome: sending the same nonce twice does no
   * harm, and identifies a late registration.
   *
   * @throws AppError `store_failed` when the nonce cannot be stored: with a shared store always, otherwise when there is time for another
   * attempt.
   */
  async #announced(isRegistration: boolean): Promise<string> {
    const { journal, wanted, leader } = this.#options;
    const nonce = journal.known.announced?.nonce ?? randomBytes(NONCE_BYTES).toString('base64url');
    const unsaved = await journal.announce(nonce, wanted, isRegistration);
    this.#served.show(this.#served.id, journal.known);
    // After a restart such a token would be refused, but it is better than none. With a shared store, other servers would refuse it now.
    const hasTime = this.#served.id !== undefined && this.#time.expiresAtMs !== undefined && !this.#time.isAlarmed;
    if (unsaved !== undefined && (hasTime || leader !== undefined)) throw unsaved;
    return nonce;
  }

  /**
   * Handles a change that the platform refused: drops the nonce, unless an earlier attempt may already have set it; then it stays trusted.
   *
   * @param isSure - whether the platform surely did not accept the nonce and never will.
   */
  async #reconsider(id: string, nonce: string, isSure: boolean, signal: AbortSignal): Promise<void> {
    const record = await ifThere(this.#options.api.get(id, signal)).catch(() => undefined);
    if (record === undefined || record.nonce === nonce || (record.nonce === undefined && !isSure)) return;
    const { journal } = this.#options;
    await this.#shown(id, journal.withdraw(isSure));
  }

  /**
   * Takes over the platform's answer to a change, which may differ from what was sent.
   *
   * @throws AppError `platform_answer_invalid` when the answer has another nonce; then both are trusted, and the next step asks again.
   */
  async #settle(id: string, nonce: string, record: DataSource, transition: Transition): Promise<void> {
    const { clock, journal, wanted } = this.#options;
    const sent = nonceIn(record, journal.known, wanted) ?? { nonce, values: valuesIn(record, wanted) };
    const isTaken = sent.nonce === nonce;
    const assumedMs = isTaken ? clock.nowMs() + this.#lifetimeMs : this.#assumedEndMs(sent.nonce);
    await this.#took(id, sent, record.tokenExpiresAtMs ?? assumedMs);
    this.#foundId = id;
    if (!isTaken) throw otherNonce(id);
    this.#time.renewed();
    this.#notify(transition);
  }

  async #took(id: string, nonce: KnownNonce, expiresAtMs: number | undefined): Promise<void> {
    await this.#shown(id, this.#options.journal.confirm(id, nonce, expiresAtMs));
    this.#time.ends(expiresAtMs);
  }

  /** Trusts the nonces in the journal after a change. At once, without waiting until they are stored. */
  async #shown(id: string, written: Promise<void>): Promise<void> {
    this.#served.show(id, this.#options.journal.known);
    await written;
  }

  get #mustRenew(): boolean {
    return this.#isRenewalWanted;
  }

  get #lifetimeMs(): number {
    return this.#options.wanted.tokenLifetimeMinutes * 60_000;
  }

  #notify(transition: Transition, error?: AppError): void {
    const { wanted, observer } = this.#options;
    const { organizationId, transport } = wanted;
    const known = { dataSourceId: this.#served.id, expiresAtMs: this.#time.expiresAtMs, error };
    observer.dataSourceChanged({ organizationId, transport, transition, ...known });
  }
}

function isRefusal(thrown: unknown): thrown is AppError {
  return thrown instanceof AppError && thrown.code === 'platform_refused';
}
