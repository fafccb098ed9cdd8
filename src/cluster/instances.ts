// Which processes are alive, as this one sees it: each raises a counter in a shared table, and one whose counter stands still over three
// readings in a row is dead. Never compares clocks. Knows no calls but those that its inbox names.
import { waitAtMost } from '../base/abort.ts';
import { every, type CancelTimer, type Clock } from '../base/clock.ts';
import { AppError, toAppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { InstanceEntry, InstanceTable, ReadInstance, Reading, TakenCall } from './instance-table.ts';
import type { Peer } from '../dialog/home.ts';

/** Time between two beats, ms. */
export const BEAT_MS = 750;
/** Readings in a row that show the same counter: one that is dead. */
const STILL_READINGS = 3;
/** So many beats without an answer, and others may soon take this process for dead. */
const GAP_BEATS = 2;
/** Readings after which a dead one is taken out of the table: a minute. */
const FORGOTTEN_READINGS = 80;
/** Most calls whose old owners wait to be notified; an owner learns of others with its next save. */
const MAX_UNNOTIFIED = 1000;

/** What a process is, and where it meets the others. */
export interface InstancesOptions {
  readonly table: InstanceTable;
  /** Of this process; its id is a new one for each start. */
  readonly self: Omit<InstanceEntry, 'isDraining'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A beat that was answered. */
export interface Beat {
  /** The one before was not answered, or came long ago. */
  readonly wasAway: boolean;
  /** The table did not know this process. */
  readonly isNew: boolean;
}

/** What somebody does who follows the readings. None may throw. */
export interface InstancesListener {
  /** Calls of this process that others have taken. */
  onTakenCalls?(taken: readonly TakenCall[]): void;
  onBeat?(beat: Beat): void;
  /** An instance counts as dead from now on. */
  onDead?(peer: Peer): void;
}

/** `unknown`: too little was read to say. */
export type Life = 'alive' | 'dead' | 'unknown';

/** An instance as it was seen. */
interface Seen {
  entry: ReadInstance;
  /** Readings in a row without a change of its counter. */
  stillReadings: number;
}

/** The others. Whoever made it starts and closes it. */
export class Instances {
  readonly #options: InstancesOptions;
  readonly #seen = new Map<string, Seen>();
  readonly #listeners = new Set<InstancesListener>();
  /** Notifications that the table has not taken yet, by id and call. */
  readonly #unnotified = new Map<string, { readonly id: string; readonly taken: TakenCall }>();
  /** What the last beat that was answered has brought. */
  #heard: readonly TakenCall[] = [];
  #counter = 0;
  #isDraining = false;
  #isAway = false;
  /** Readings since the table was new. */
  #readings = 0;
  /** When the last beat that was answered began, ms. */
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

  /** Whether the last beat was not answered. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Beats from now on. Resolves after the first beat, answered or not. */
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
   * Whether this process may have stood still for so long that others took it for dead: no beat was answered for two of them. Ends with
   * the next beat that is answered, which brings what was taken meanwhile.
   */
  get mayBeTakenForDead(): boolean {
    return this.#options.clock.monotonicMs() - this.#beatAtMs > GAP_BEATS * BEAT_MS;
  }

  /** Others that are alive as far as is known and can be spoken to, those that drain included. */
  get peers(): readonly InstanceEntry[] {
    return [...this.#seen.values()].filter((seen) => !isStill(seen) && seen.entry.address !== '').map(({ entry }) => entry);
  }

  /** Another instance that is in the table, dead or alive. */
  get(id: string): ReadInstance | undefined {
    return this.#seen.get(id)?.entry;
  }

  /** What the readings say of an instance. One that is not in the table has left it, or was dead for long, once the table is no new one. */
  lifeOf(id: string): Life {
    const seen = this.#seen.get(id);
    if (seen !== undefined) return isStill(seen) ? 'dead' : 'alive';
    return this.#readings >= STILL_READINGS ? 'dead' : 'unknown';
  }

  /** Takes no new calls from now on, and notifies the others. */
  drain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    void this.beat();
  }

  /** Notifies an instance that one of its calls was taken; again with each beat until the table has taken it. */
  notify(id: string, taken: TakenCall): void {
    this.#unnotified.set(JSON.stringify([id, taken.call]), { id, taken });
    const [oldest] = this.#unnotified.keys();
    if (this.#unnotified.size > MAX_UNNOTIFIED && oldest !== undefined) this.#unnotified.delete(oldest);
    void this.#notifyAll();
  }

  /**
   * A beat beside the regular ones, for who needs to know now: it begins after this call, and others who ask meanwhile share it.
   * Counts as no reading, so nobody is found dead by it. Never rejects. @returns whether it was answered.
   */
  beat(): Promise<boolean> {
    return this.#beating === undefined ? this.#beat(false) : this.#beating.then(() => this.#beat(false));
  }

  /** Shared with one that is under way. */
  #beat(isRegular: boolean): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false);
    this.#beating ??= this.#beatOnce(isRegular).finally(() => {
      this.#beating = undefined;
    });
    return this.#beating;
  }

  /** Beats no more, and leaves the table; in the time that the table takes to answer. Never rejects. */
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
    const { table, self, clock, log } = this.#options;
    const beatAtMs = clock.monotonicMs();
    this.#counter += 1;
    try {
      const beat = table.beat({ ...self, counter: this.#counter, isDraining: this.#isDraining }, this.#heard);
      // Known to be away before this process is in doubt of itself: calls at home wait for nobody.
      const reading = await waitAtMost(beat, BEAT_MS, clock);
      if (this.#isClosed) return false;
      if (reading.kind !== 'value') throw new AppError('store_unavailable', 'the table of instances did not answer in time');
      this.#read(reading.value, beatAtMs, isRegular);
      return true;
    } catch (thrown) {
      // The answer may have come while this process stood still: that says nothing of the table.
      if (this.mayBeTakenForDead && clock.monotonicMs() - beatAtMs > GAP_BEATS * BEAT_MS) return false;
      const error = toAppError(thrown, 'store_unavailable');
      if (!this.#isAway) log.warn({ err: error }, 'the table of instances does not answer; nobody is judged by it');
      this.#isAway = true;
      // What stands still for us may stand still because of us, and comes back later than we do.
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

  /** @returns those that count as dead since this reading. */
  #findDead(instances: readonly ReadInstance[], isRegular: boolean): readonly Peer[] {
    const { table, self } = this.#options;
    const others = instances.filter(({ id }) => id !== self.id);
    const present = new Set(others.map(({ id }) => id));
    const dead: Peer[] = [];
    for (const [id, { entry }] of this.#seen) {
      // One that has left says so by it; a table that was lost says nothing.
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
