// Tracks which processes are alive. Each process increases its counter in a shared table; a process whose counter is unchanged in three
// readings is dead. Compares no clocks. Knows only the calls in its inbox.
import { waitAtMost } from '../base/abort.ts';
import { every, type CancelTimer, type Clock } from '../base/clock.ts';
import { AppError, toAppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { InstanceEntry, InstanceTable, ReadInstance, Reading, TakenCall } from './instance-table.ts';
import type { Peer } from '../dialog/home.ts';

/** Time between two beats, ms. */
export const BEAT_MS = 750;
/** Consecutive readings with the same counter after which an instance is dead. */
const STILL_READINGS = 3;
/** Number of beat intervals without an answered beat after which other instances may consider this process dead. */
const GAP_BEATS = 2;
/** Consecutive readings with the same counter after which a dead instance is removed from the table: one minute. */
const FORGOTTEN_READINGS = 80;
/** Most notifications that wait to be written; the oldest is dropped. An owner also learns of a takeover with its next save. */
const MAX_UNNOTIFIED = 1000;

export interface InstancesOptions {
  readonly table: InstanceTable;
  /** The entry of this process; its id is new for each start. */
  readonly self: Omit<InstanceEntry, 'isDraining' | 'use'>;
  /** What each organization uses here, reported with each beat. Default: nothing. */
  readonly use?: () => NonNullable<InstanceEntry['use']>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** An answered beat. */
export interface Beat {
  /** True when the previous beat was unanswered or long ago. */
  readonly wasAway: boolean;
  /** True when this process was not in the table. */
  readonly isNew: boolean;
}

/** Listener for beats and their results. Must not throw. */
export interface InstancesListener {
  /** Called when other processes have taken calls of this one. */
  onTakenCalls?(taken: readonly TakenCall[]): void;
  onBeat?(beat: Beat): void;
  /** Called when an instance is found dead. */
  onDead?(peer: Peer): void;
}

/** `unknown`: there have been too few readings. */
export type Life = 'alive' | 'dead' | 'unknown';

interface Seen {
  entry: ReadInstance;
  /** Consecutive readings with the same counter. */
  stillReadings: number;
}

/** The other instances. The creator starts and closes this object. */
export class Instances {
  readonly #options: InstancesOptions;
  readonly #seen = new Map<string, Seen>();
  readonly #listeners = new Set<InstancesListener>();
  /** Notifications that are not written yet, by instance id and call. */
  readonly #unnotified = new Map<string, { readonly id: string; readonly taken: TakenCall }>();
  /** The inbox that the last answered beat returned. */
  #heard: readonly TakenCall[] = [];
  #counter = 0;
  #isDraining = false;
  #isAway = false;
  /** Regular readings since this process was last new in the table. */
  #readings = 0;
  /** Start of the last answered beat, monotonic ms. */
  #beatAtMs: number;
  #beating: Promise<boolean> | undefined;
  #cancelTimer: CancelTimer | undefined;
  #isClosed = false;

  constructor(options: InstancesOptions) {
    this.#options = options;
    this.#beatAtMs = options.clock.monotonicMs();
  }

  get self(): InstancesOptions['self'] {
    return this.#options.self;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Whether the last beat was unanswered. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Starts the beats. Resolves after the first one, answered or not. */
  async start(): Promise<void> {
    this.#cancelTimer ??= every(this.#options.clock, BEAT_MS, () => void this.#beat(true));
    await this.#beat(true);
  }

  /** Calls `listener` until the returned function is called. */
  listen(listener: InstancesListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Whether others may consider this process dead, because two beats were unanswered. Ends with the next answered beat, which also brings
   * the notifications of taken calls.
   */
  get mayBeTakenForDead(): boolean {
    return this.#options.clock.monotonicMs() - this.#beatAtMs > GAP_BEATS * BEAT_MS;
  }

  /** The other instances that are alive and reachable, including draining ones. */
  get peers(): readonly InstanceEntry[] {
    return [...this.#seen.values()].filter((seen) => !isStill(seen) && seen.entry.address !== '').map(({ entry }) => entry);
  }

  /** The entry of another instance in the table, dead or alive. */
  get(id: string): ReadInstance | undefined {
    return this.#seen.get(id)?.entry;
  }

  /** The state of an instance. An instance that is not in the table is dead, unless this process has made too few readings. */
  lifeOf(id: string): Life {
    const seen = this.#seen.get(id);
    if (seen !== undefined) return isStill(seen) ? 'dead' : 'alive';
    return this.#readings >= STILL_READINGS ? 'dead' : 'unknown';
  }

  /** Marks this process as draining, or removes the mark. */
  drain(isDraining = true): void {
    if (this.#isDraining === isDraining) return;
    this.#isDraining = isDraining;
    void this.beat();
  }

  /** Notifies an instance that one of its calls was taken. Repeated with each beat until the notification is written. */
  notify(id: string, taken: TakenCall): void {
    this.#unnotified.set(JSON.stringify([id, taken.call]), { id, taken });
    const [oldest] = this.#unnotified.keys();
    if (this.#unnotified.size > MAX_UNNOTIFIED && oldest !== undefined) this.#unnotified.delete(oldest);
    void this.#notifyAll();
  }

  /** Makes an extra beat, shared by concurrent callers. It does not count as a reading, so it finds no instance dead. Never rejects. */
  beat(): Promise<boolean> {
    return this.#beating === undefined ? this.#beat(false) : this.#beating.then(() => this.#beat(false));
  }

  /** Joins a running beat. */
  #beat(isRegular: boolean): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false);
    this.#beating ??= this.#beatOnce(isRegular).finally(() => {
      this.#beating = undefined;
    });
    return this.#beating;
  }

  /** Stops the beats and removes this process from the table. Never rejects. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancelTimer?.();
    this.#listeners.clear();
    await this.#beating;
    const { table, self } = this.#options;
    await table.remove({ id: self.id, counter: this.#counter }).catch(() => undefined);
  }

  async #beatOnce(isRegular: boolean): Promise<boolean> {
    const { table, self, use = () => [], clock, log } = this.#options;
    const beatAtMs = clock.monotonicMs();
    this.#counter += 1;
    try {
      const beat = table.beat({ ...self, use: use(), counter: this.#counter, isDraining: this.#isDraining }, this.#heard);
      // Limited to one interval, so that an outage is noticed before this process must doubt its ownership.
      const reading = await waitAtMost(beat, BEAT_MS, clock);
      if (this.#isClosed) return false;
      if (reading.kind !== 'value') throw new AppError('store_unavailable', 'the table of instances did not answer in time');
      this.#read(reading.value, beatAtMs, isRegular);
      return true;
    } catch (thrown) {
      // This process itself may have stalled, so the table need not be unavailable.
      if (this.mayBeTakenForDead && clock.monotonicMs() - beatAtMs > GAP_BEATS * BEAT_MS) return false;
      const error = toAppError(thrown, 'store_unavailable');
      if (!this.#isAway) log.warn({ err: error }, 'the table of instances does not answer; no instance is declared dead');
      this.#isAway = true;
      // After an outage of the table, an unchanged counter proves nothing: other instances may recover later than this one.
      for (const seen of this.#seen.values()) if (!isStill(seen)) seen.stillReadings = -STILL_READINGS;
      return false;
    }
  }

  #read({ instances, taken, isNew }: Reading, beatAtMs: number, isRegular: boolean): void {
    const wasAway = this.#isAway || beatAtMs - this.#beatAtMs > GAP_BEATS * BEAT_MS;
    this.#isAway = false;
    this.#beatAtMs = beatAtMs;
    this.#heard = taken;
    if (isNew) this.#readings = 0;
    if (isRegular) this.#readings += 1;
    const dead = this.#findDead(instances, isRegular);
    for (const listener of this.#listeners) {
      if (taken.length > 0) listener.onTakenCalls?.(taken);
      for (const peer of dead) listener.onDead?.(peer);
      listener.onBeat?.({ wasAway, isNew });
    }
    void this.#notifyAll();
  }

  /** @returns the instances that this reading finds dead. */
  #findDead(instances: readonly ReadInstance[], isRegular: boolean): readonly Peer[] {
    const { table, self } = this.#options;
    const others = instances.filter(({ id }) => id !== self.id);
    const present = new Set(others.map(({ id }) => id));
    const dead: Peer[] = [];
    for (const [id, { entry }] of this.#seen) {
      // An instance that is missing in an established table has left.
      if (present.has(id) || this.#readings < STILL_READINGS) continue;
      this.#seen.delete(id);
      dead.push(entry);
    }
    for (const entry of others) {
      const seen = this.#seen.get(entry.id);
      if (seen?.entry.counter !== entry.counter) {
        this.#seen.set(entry.id, { entry, stillReadings: 0 });
        continue;
      }
      if (!isRegular) continue;
      seen.stillReadings += 1;
      if (seen.stillReadings === STILL_READINGS) dead.push(entry);
      if (seen.stillReadings >= FORGOTTEN_READINGS) table.remove(entry).catch(() => undefined);
    }
    return dead;
  }

  async #notifyAll(): Promise<void> {
    const sent = [...this.#unnotified].map(async ([key, { id, taken }]) => {
      await this.#options.table.notify(id, taken);
      if (this.#unnotified.get(key)?.taken === taken) this.#unnotified.delete(key);
    });
    await Promise.allSettled(sent);
  }
}

function isStill({ stillReadings }: Seen): boolean {
  return stillReadings >= STILL_READINGS;
}
