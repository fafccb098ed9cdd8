// Sessions of all processes that share a Redis server: one hash for each call, changed by scripts in one step and one round
// trip. Knows neither connections nor what the records say.
import { createHash } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import { deepFreeze, parseJson, type JsonValue } from '../../base/json.ts';
import { callId, type CallKey } from '../../dialog/call.ts';
import { toldLater, type Spoken } from '../../session/heard.ts';
import type { Claim, KeptCall, OpenedCall, SessionStore } from '../../session/ports.ts';
import type { SessionRecord } from '../../session/record.ts';
import type { RedisConnection, RedisScript } from './connection.ts';
import { COMMIT, FIND, RELEASE, RENEW } from './scripts.ts';

/** Where calls are kept, and by whom. */
export interface RedisStoreOptions {
  /** Stays its owner's. */
  readonly connection: Pick<RedisConnection, 'send' | 'run'>;
  /** Names this process; no other one has it, and no earlier one had it. */
  readonly owner: string;
  /** What all keys begin with. */
  readonly keyPrefix: string;
  /** How long a claim lasts, whole ms. */
  readonly leaseMs: number;
  /** A call that nobody opens, claims, commits or touches for this long is forgotten, whole ms. */
  readonly ttlMs: number;
  /** Largest record as JSON in UTF-8. */
  readonly maxRecordBytes: number;
}

/** Bounded by `ttlMs`, and by what the engine drops. */
export class RedisStore implements SessionStore {
  readonly leaseMs: number;
  readonly #options: RedisStoreOptions;
  /** What most scripts begin with: who we are, how long a claim lasts, and how long a call is kept. */
  readonly #us: readonly [owner: string, leaseMs: string, ttlMs: string];

  constructor(options: RedisStoreOptions) {
    const { owner, leaseMs, ttlMs } = options;
    this.leaseMs = leaseMs;
    this.#options = options;
    this.#us = [owner, String(leaseMs), String(ttlMs)];
  }

  /** @throws AppError `store_unavailable`; `state_unreadable` for what is no record. */
  async load(key: CallKey): Promise<SessionRecord | undefined> {
    const record = await this.#options.connection.send(['HGET', this.#keyOf(key), 'record']);
    return typeof record === 'string' ? recordOf(record) : undefined;
  }

  /** @throws as `load`; the call is served here all the same. */
  async open(key: CallKey): Promise<OpenedCall> {
    const { place, kept } = await this.#find(key, 'open', undefined);
    return { place, kept };
  }

  /** @throws as `load`; the call is served here and the claim is ours all the same. */
  openClaimed(key: CallKey, first: SessionRecord | undefined): Promise<OpenedCall & { readonly claim: Claim }> {
    return this.#find(key, 'both', first);
  }

  async serves(key: CallKey): Promise<boolean> {
    const holder = await this.#options.connection.send(['HGET', this.#keyOf(key), 'holder']);
    return typeof holder !== 'string' || holder === this.#options.owner;
  }

  /** @throws as `load`; the claim is ours all the same. */
  async claim(key: CallKey, first: SessionRecord | undefined): Promise<Claim> {
    return (await this.#find(key, 'claim', first)).claim;
  }

  async renew(key: CallKey): Promise<boolean> {
    return (await this.#run(RENEW, key, this.#us)) === 1;
  }

  /** @throws AppError `store_unavailable`; `bot_failed` for a record that is too large. */
  async commit(record: SessionRecord, expectedVersion: number, isReply = false): Promise<boolean> {
    const limitBytes = this.#options.maxRecordBytes;
    const json = JSON.stringify(record);
    const bytes = Buffer.byteLength(json);
    if (bytes > limitBytes) {
      throw new AppError('bot_failed', 'the record of a call is larger than the store takes', { details: { bytes, limitBytes } });
    }
    const args = [
      ...this.#us,
      String(expectedVersion),
      json,
      String(record.version),
      isReply ? '1' : '0',
      record.writing ?? '',
      String(record.place ?? 0),
    ];
    return (await this.#run(COMMIT, record.call, args)) === 1;
  }

  /** Words that are larger than a record may be are not told. */
  async release(key: CallKey, spoken: Spoken | undefined): Promise<void> {
    const { owner, ttlMs, maxRecordBytes } = this.#options;
    const json = spoken === undefined ? '' : JSON.stringify(spoken);
    const told = Buffer.byteLength(json) > maxRecordBytes ? '' : json;
    await this.#run(RELEASE, key, [owner, String(ttlMs), spoken === undefined ? '0' : '1', told]);
  }

  async touch(key: CallKey): Promise<void> {
    await this.#options.connection.send(['PEXPIRE', this.#keyOf(key), String(this.#options.ttlMs)]);
  }

  async drop(key: CallKey): Promise<void> {
    await this.#options.connection.send(['DEL', this.#keyOf(key)]);
  }

  async #find(
    key: CallKey,
    purpose: 'open' | 'claim' | 'both',
    first: SessionRecord | undefined,
  ): Promise<OpenedCall & { readonly claim: Claim }> {
    const json = first === undefined ? '' : JSON.stringify(first);
    // One that is too large fails at the commit, where it is told.
    const begun = Buffer.byteLength(json) > this.#options.maxRecordBytes ? '' : json;
    const [place, claim, unheard, record, spoken, ageMs] = listOf(await this.#run(FIND, key, [...this.#us, purpose, begun]));
    const kept = keptCall(record, spoken, ageMs, unheard);
    return {
      place: Number(place),
      kept,
      claim: claim === 1 ? { kind: 'ours', kept } : { kind: 'held' },
    };
  }

  #run(script: RedisScript, key: CallKey, args: readonly string[]): Promise<unknown> {
    return this.#options.connection.run(script, this.#keyOf(key), args);
  }

  /** Ids of callers do not stand in names that every tool of the server shows. */
  #keyOf(key: CallKey): string {
    return `${this.#options.keyPrefix}:call:${createHash('sha256').update(callId(key)).digest('base64url')}`;
  }
}

function listOf(reply: unknown): readonly unknown[] {
  return Array.isArray(reply) ? reply : [];
}

function keptCall(record: unknown, spoken: unknown, ageMs: unknown, unheard: unknown): KeptCall | undefined {
  if (typeof record !== 'string') return undefined;
  return {
    record: recordOf(record),
    spoken: typeof spoken === 'string' ? spokenOf(spoken, Number(ageMs)) : undefined,
    unheard: unheard === 1 ? 'here' : unheard === 2 ? 'elsewhere' : undefined,
  };
}

function recordOf(json: string): SessionRecord {
  const record = objectOf(json);
  if (typeof record['version'] !== 'number' || typeof record['call'] !== 'object') throw unreadable();
  // Only `commit` and the first claim write here, and they write records: their JSON form parses back to a record.
  return record as unknown as SessionRecord;
}

/** What was told `ageMs` ago, as of now. */
function spokenOf(json: string, ageMs: number): Spoken {
  const told = objectOf(json);
  if (!Array.isArray(told['prompts'])) throw unreadable();
  // Only `release` writes here, and it writes this.
  const spoken = toldLater(told as unknown as Spoken, ageMs);
  return Object.freeze({ ...spoken, prompts: Object.freeze(spoken.prompts.map((part) => Object.freeze(part))) });
}

/** Frozen in depth. */
function objectOf(json: string): Readonly<Record<string, JsonValue>> {
  const value = parseJson(json);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unreadable();
  // What was parsed is JSON, and this one an object.
  return deepFreeze(value as JsonValue) as Readonly<Record<string, JsonValue>>;
}

/** Without a cause: it could quote the record. */
function unreadable(): AppError {
  return new AppError('state_unreadable', 'what the store has of a call is no record');
}
