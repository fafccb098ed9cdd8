// Sessions of one process, kept in memory. Records go through JSON in both directions, so that a shared object or a Map
// in a bot's state fails on a laptop exactly as it would with a store on another machine.
import { deepFreeze, type JsonValue } from '../base/json.ts';
import { callId, type CallKey } from '../dialog/call.ts';
import type { Claim, KeptCall, OpenedCall, SessionStore } from '../session/ports.ts';
import type { SessionRecord } from '../session/record.ts';

interface Stored {
  readonly version: number;
  readonly json: string;
}

/** Claims of the one process there is never end. */
const LEASE_MS = Infinity;

/**
 * Bounded by the engine, which limits sessions and drops what it ends. Alone with its calls: every claim is granted, and
 * what a caller hears is known to the session itself.
 */
export class MemoryStore implements SessionStore {
  readonly leaseMs = LEASE_MS;
  readonly #records = new Map<string, Stored>();

  /** Records kept now. */
  get size(): number {
    return this.#records.size;
  }

  load(key: CallKey): Promise<SessionRecord | undefined> {
    const stored = this.#records.get(callId(key));
    if (stored === undefined) return Promise.resolve(undefined);
    // Only `commit` writes here, and it writes records: their JSON form parses back to a record.
    return Promise.resolve(deepFreeze(JSON.parse(stored.json) as JsonValue) as unknown as SessionRecord);
  }

  async open(key: CallKey): Promise<OpenedCall> {
    // Streams of one process know their order themselves.
    return { place: 0, kept: await this.#kept(key) };
  }

  async openClaimed(key: CallKey): Promise<OpenedCall & { readonly claim: Claim }> {
    const kept = await this.#kept(key);
    return { place: 0, kept, claim: { kind: 'ours', kept } };
  }

  serves(): Promise<boolean> {
    return Promise.resolve(true);
  }

  async claim(key: CallKey): Promise<Claim> {
    return { kind: 'ours', kept: await this.#kept(key) };
  }

  renew(): Promise<boolean> {
    return Promise.resolve(true);
  }

  commit(record: SessionRecord, expectedVersion: number): Promise<boolean> {
    const id = callId(record.call);
    if ((this.#records.get(id)?.version ?? 0) !== expectedVersion) return Promise.resolve(false);
    this.#records.set(id, { version: record.version, json: JSON.stringify(record) });
    return Promise.resolve(true);
  }

  release(): Promise<void> {
    return Promise.resolve();
  }

  touch(): Promise<void> {
    return Promise.resolve();
  }

  drop(key: CallKey): Promise<void> {
    this.#records.delete(callId(key));
    return Promise.resolve();
  }

  async #kept(key: CallKey): Promise<KeptCall | undefined> {
    const record = await this.load(key);
    return record === undefined ? undefined : { record, spoken: undefined };
  }
}
