// Keeps the bot's state of calls with sensitive inputs out of the open (G-83): such a state is sealed on its way into a
// store, whichever it is, and opened on its way out. Nobody above or below notices.
import { AppError } from '../base/errors.ts';
import { deepFreeze, type JsonValue } from '../base/json.ts';
import { callId, type CallKey } from '../dialog/call.ts';
import type { SessionStore } from '../session/ports.ts';
import type { SessionRecord } from '../session/record.ts';
import type { Seal } from './seal.ts';

/** Stands before any store. */
export class SealingStore implements SessionStore {
  readonly #store: SessionStore;
  readonly #seal: Seal;

  constructor(store: SessionStore, seal: Seal) {
    this.#store = store;
    this.#seal = seal;
  }

  /** @throws AppError `state_unreadable` for a state that was sealed with another key, for another call, or damaged. */
  async load(key: CallKey): Promise<SessionRecord | undefined> {
    const record = await this.#store.load(key);
    if (record?.sensitive !== true || typeof record.state !== 'string') return record;
    return Object.freeze({ ...record, state: this.#opened(record.state, key) });
  }

  commit(record: SessionRecord, expectedVersion: number): Promise<boolean> {
    if (!record.sensitive) return this.#store.commit(record, expectedVersion);
    // The whole state, a text as well: one that is sealed is a text and nothing else.
    const state = this.#seal.close(JSON.stringify(record.state), callId(record.call));
    return this.#store.commit({ ...record, state }, expectedVersion);
  }

  drop(key: CallKey): Promise<void> {
    return this.#store.drop(key);
  }

  #opened(sealed: string, key: CallKey): JsonValue {
    try {
      // Only `commit` seals, and it seals what is JSON.
      return deepFreeze(JSON.parse(this.#seal.open(sealed, callId(key))) as JsonValue);
    } catch (cause) {
      throw new AppError('state_unreadable', 'the sealed state of a call does not open with the key of this server', { cause });
    }
  }
}
