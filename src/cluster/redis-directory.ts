// The call directory on a shared Redis server: one hash per call, changed by atomic scripts in one round trip. Snapshots are sealed for
// their call. Knows no connections.
import { createHash } from 'node:crypto';
import { AppError } from '../base/errors.ts';
import { callId, type CallKey } from '../dialog/call.ts';
import {
  ENDED_MS,
  type CallDirectory,
  type Claim,
  type ClaimRequest,
  type Found,
  type LateCall,
  type Ownership,
  type Registered,
  type Saved,
  type SaveResult,
} from './call-directory.ts';
import { CLAIM, FORGET, REGISTER, SAVE, type Script } from './redis-scripts.ts';
import { homeKey } from './redis-use.ts';

/** A connection to a Redis server. Throws AppError `store_unavailable` within a bounded time. */
export interface RedisCommands {
  send(args: readonly string[]): Promise<unknown>;
  /** Runs a script that works on one key. */
  run(script: Script, key: string, args: readonly string[]): Promise<unknown>;
}

/** Encrypts texts for the server. */
export interface Sealing {
  /** @param owner - what the text belongs to; it opens only for the same owner. */
  close(text: string, owner: string): string;
  /** @throws AppError when the text was sealed with another key or for another owner, or was modified. */
  open(sealed: string, owner: string): string;
}

export interface RedisDirectoryOptions {
  /** The caller closes the connection. */
  readonly connection: RedisCommands;
  readonly seal: Sealing;
  /** Prefix of all keys. */
  readonly keyPrefix: string;
  /** Time after which an untouched entry expires, whole ms. */
  readonly ttlMs: number;
}

export class RedisDirectory implements CallDirectory {
  readonly #options: RedisDirectoryOptions;
  readonly #ttl: string;

  constructor(options: RedisDirectoryOptions) {
    this.#options = options;
    this.#ttl = String(options.ttlMs);
  }

  async claim(call: CallKey, { owner, mayCreate, beginsAnew, deadEpoch, isForced, heardAtMs }: ClaimRequest): Promise<Claim> {
    const dead = deadEpoch === undefined ? '' : String(deadEpoch);
    const args = [owner, flag(mayCreate), flag(beginsAnew), dead, flag(isForced), String(heardAtMs), this.#ttl];
    const [kind, ...rest] = listOf(await this.#run(CLAIM, call, args));
    switch (kind) {
      case 'unknown':
      case 'ended':
        return { kind };
      case 'theirs':
        return { kind, owner: textOf(rest[0]), epoch: numberOf(rest[1]) };
      case 'mine': {
        const [epoch, snapshot, takenFrom] = rest;
        return {
          kind,
          epoch: numberOf(epoch),
          ...(snapshot === '' ? {} : { snapshot: this.#opened(textOf(snapshot), call) }),
          ...fromOf(takenFrom, owner),
        };
      }
      default:
        throw otherForm();
    }
  }

  async find(call: CallKey): Promise<Found> {
    const fields = await this.#options.connection.send(['HMGET', this.#keyOf(call), 'owner', 'epoch', 'ended']);
    const [owner, epoch, ended] = listOf(fields);
    if (typeof epoch !== 'string') return { kind: 'unknown' };
    if (typeof ended === 'string') return { kind: 'ended' };
    return owner === '' ? { kind: 'free' } : { kind: 'theirs', owner: textOf(owner), epoch: numberOf(Number(epoch)) };
  }

  async save(call: CallKey, { owner, epoch, seq, snapshot, heardAtMs, isRelease }: Saved): Promise<SaveResult> {
    const sealed = this.#sealed(snapshot, call);
    const args = [owner, String(epoch), String(seq), sealed, String(heardAtMs), flag(isRelease), this.#ttl];
    const [kind, takenFrom] = listOf(await this.#run(SAVE, call, args));
    if (kind === 'saved') return { kind, ...fromOf(takenFrom, owner) };
    if (kind === 'old' || kind === 'fenced') return { kind };
    throw otherForm();
  }

  async register(call: CallKey, { owner, seq, snapshot, heardAtMs }: LateCall): Promise<Registered> {
    const args = [owner, String(seq), this.#sealed(snapshot, call), String(heardAtMs), this.#ttl];
    const [kind, epoch, takenFrom] = listOf(await this.#run(REGISTER, call, args));
    if (kind === 'fenced') return { kind };
    if (kind !== 'mine') throw otherForm();
    return { kind, epoch: numberOf(epoch), ...fromOf(takenFrom, owner) };
  }

  async forget(call: CallKey, { owner, epoch }: Ownership): Promise<void> {
    await this.#run(FORGET, call, [owner, String(epoch), String(ENDED_MS)]);
  }

  async touch(call: CallKey): Promise<boolean> {
    return (await this.#options.connection.send(['PEXPIRE', this.#keyOf(call), this.#ttl])) === 1;
  }

  #run(script: Script, call: CallKey, args: readonly string[]): Promise<unknown> {
    return this.#options.connection.run(script, this.#keyOf(call), args);
  }

  #sealed(snapshot: string | undefined, call: CallKey): string {
    return snapshot === undefined ? '' : this.#options.seal.close(snapshot, callId(call));
  }

  #opened(sealed: string, call: CallKey): string {
    try {
      return this.#options.seal.open(sealed, callId(call));
    } catch (cause) {
      throw new AppError('state_unreadable', 'the snapshot of a call was sealed with another key or was modified', { cause });
    }
  }

  /** Hashed, because every Redis tool shows key names. */
  #keyOf(call: CallKey): string {
    return homeKey(this.#options.keyPrefix, createHash('sha256').update(callId(call)).digest('base64url'));
  }
}

function flag(is: boolean | undefined): string {
  return is === true ? '1' : '0';
}

function listOf(reply: unknown): readonly unknown[] {
  return Array.isArray(reply) ? reply : [];
}

/** The earlier owners that must be notified, without the current owner. */
function fromOf(ids: unknown, owner: string): { readonly takenFrom?: readonly string[] } {
  const takenFrom = textOf(ids)
    .split(' ')
    .filter((id) => id !== '' && id !== owner);
  return takenFrom.length === 0 ? {} : { takenFrom };
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw otherForm();
  return value;
}

function numberOf(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw otherForm();
  return value;
}

function otherForm(): AppError {
  return new AppError('store_unavailable', 'the shared store returned an unexpected reply');
}
