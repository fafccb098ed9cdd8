// The data sources of one organization in memory, as the platform keeps them, with the mishaps of a network: for the
// lifecycle, under a fake clock. The HTTP side is the fake platform's.
import { randomUUID } from 'node:crypto';
import type { DataSourcesApi } from '../../src/admin/lifecycle/ports.ts';
import type { DataSource, DataSourceCreate } from '../../src/admin/records.ts';
import type { Clock } from '../../src/base/clock.ts';
import { AppError } from '../../src/base/errors.ts';

/**
 * What goes wrong with the next call of an operation: nothing reaches the platform, or its answer is lost, or it refuses;
 * `late`: it gets no answer, and is carried out by {@link MemoryDataSources.catchUp}.
 */
export type Mishap = 'unreachable' | 'answer_lost' | 'late' | 'refused' | 'refused_after_all';

type Operation = 'list' | 'get' | 'create' | 'update' | 'delete';

/** One organization's data sources. */
export class MemoryDataSources implements DataSourcesApi {
  readonly records = new Map<string, DataSource>();
  /** What was asked, in order. */
  readonly asked: Operation[] = [];
  /** Mishaps that wait for their operation, first come first served. */
  readonly mishaps: [Operation, Mishap][] = [];
  /** Called with the nonce when the platform has taken it and its answer is still on the way. */
  onTaken: (nonce: string, id: string) => void = () => undefined;
  /** By how much the platform's clock is ahead of ours, ms. */
  skewMs = 0;
  /** True while nothing can be reached. */
  isDown = false;
  /** How it refuses what is not there; 410 is as good as 404. */
  goneStatus = 404;
  /** What updates do not change, although they are answered well. */
  readonly ignored = new Set<keyof DataSource>();
  /** What answers to updates leave out. */
  readonly unnotified = new Set<keyof DataSource>();
  /** What lists leave out. */
  readonly hiddenInList = new Set<keyof DataSource>();
  /** What answers leave out. */
  readonly hidden = new Set<keyof DataSource>();
  readonly #late: (() => unknown)[] = [];
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Registers a data source behind the server's back. */
  add(record: Partial<DataSource> & DataSourceCreate): DataSource {
    const id = record.id ?? randomUUID();
    const whole = { status: 'active', ...record, id, tokenExpiresAtMs: this.#endOf(record.tokenLifetimeMinutes) };
    this.records.set(id, whole);
    return whole;
  }

  list(): Promise<readonly DataSource[]> {
    return this.#answer('list', () =>
      [...this.records.values()].map((record) => ({ ...without(this.#told(record), this.hiddenInList), id: record.id })),
    );
  }

  get(id: string): Promise<DataSource> {
    return this.#answer('get', () => this.#told(this.#record(id)));
  }

  create(create: DataSourceCreate): Promise<DataSource> {
    return this.#answer('create', () => {
      const record = this.add(create);
      this.onTaken(create.nonce, record.id);
      return this.#told(record);
    });
  }

  update(id: string, asked: Partial<DataSource>): Promise<DataSource> {
    return this.#answer('update', () => {
      const before = this.#record(id);
      const update = without(asked, this.ignored);
      const isFresh = update.nonce !== undefined && update.nonce !== before.nonce;
      const minutes = update.tokenLifetimeMinutes ?? before.tokenLifetimeMinutes ?? 60;
      const record = { ...before, ...update, ...(isFresh ? { tokenExpiresAtMs: this.#endOf(minutes) } : {}) };
      this.records.set(id, record);
      if (update.nonce !== undefined) this.onTaken(update.nonce, id);
      return { ...without(this.#told(record), this.unnotified), id };
    });
  }

  delete(id: string): Promise<void> {
    return this.#answer('delete', () => {
      this.#record(id);
      this.records.delete(id);
    });
  }

  /** Carries out what was `late`. */
  catchUp(): void {
    for (const work of this.#late.splice(0)) work();
  }

  /** How often an operation was asked for. */
  count(operation: Operation): number {
    return this.asked.filter((each) => each === operation).length;
  }

  #endOf(lifetimeMinutes: number): number {
    return this.#clock.nowMs() + this.skewMs + lifetimeMinutes * 60_000;
  }

  #answer<T>(operation: Operation, work: () => T): Promise<T> {
    this.asked.push(operation);
    const next = this.mishaps.findIndex(([of]) => of === operation);
    const mishap = this.isDown ? 'unreachable' : next === -1 ? undefined : this.mishaps.splice(next, 1)[0]?.[1];
    if (mishap === 'unreachable') return Promise.reject(new AppError('platform_unavailable', 'no connection'));
    if (mishap === 'refused') return Promise.reject(refusal(409));
    if (mishap === 'late') {
      this.#late.push(work);
      return Promise.reject(lost());
    }
    try {
      const done = work();
      if (mishap === 'refused_after_all') return Promise.reject(refusal(409, true));
      if (mishap === 'answer_lost') return Promise.reject(lost());
      return Promise.resolve(done);
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error('unknown'));
    }
  }

  #record(id: string): DataSource {
    const record = this.records.get(id);
    if (record === undefined) throw refusal(this.goneStatus);
    return record;
  }

  #told(record: DataSource): DataSource {
    return { ...without(record, this.hidden), id: record.id };
  }
}

function without(record: Partial<DataSource>, members: ReadonlySet<string>): Partial<DataSource> {
  return Object.fromEntries(Object.entries(record).filter(([member]) => !members.has(member)));
}

function lost(): AppError {
  return new AppError('platform_unavailable', 'the answer was lost', { details: { mayHaveHappened: true } });
}

function refusal(status: number, mayHaveHappened = false): AppError {
  return new AppError('platform_refused', 'the platform refused', { details: { status, ...(mayHaveHappened ? { mayHaveHappened } : {}) } });
}
