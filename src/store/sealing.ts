// Keeps what callers entered in calls with sensitive inputs out of the open (G-83), and lets nobody change a record: the bot's
// state, its last reply and the words that are being heard are sealed on their way into a store, whichever it is, and opened on
// their way out. The rest of a record lies open, and the seal opens only beside it. Nobody above or below notices.
import { AppError } from '../base/errors.ts';
import { deepFreeze, type JsonValue } from '../base/json.ts';
import { callId, type CallKey } from '../dialog/call.ts';
import type { Spoken } from '../session/heard.ts';
import type { Claim, KeptCall, OpenedCall, SessionStore } from '../session/ports.ts';
import type { KeptReply, SessionRecord } from '../session/record.ts';
import type { Seal } from './seal.ts';

/** Stands before any store. */
export class SealingStore implements SessionStore {
  readonly #store: SessionStore;
  readonly #seal: Seal;

  constructor(store: SessionStore, seal: Seal) {
    this.#store = store;
    this.#seal = seal;
  }

  get leaseMs(): number {
    return this.#store.leaseMs;
  }

  /** @throws AppError `state_unreadable` for a record that was sealed with another key, for another call, or changed since. */
  async load(key: CallKey): Promise<SessionRecord | undefined> {
    const record = await this.#store.load(key);
    return record === undefined ? undefined : this.#opened(record, key);
  }

  /** @throws AppError `state_unreadable`, like `load`. */
  async open(key: CallKey): Promise<OpenedCall> {
    const { place, kept } = await this.#store.open(key);
    return { place, kept: this.#unsealed(kept, key) };
  }

  /** @throws AppError `state_unreadable`, like `load`; the claim is ours all the same. */
  async openClaimed(key: CallKey, first: SessionRecord | undefined): Promise<OpenedCall & { readonly claim: Claim }> {
    const { place, kept: sealed, claim } = await this.#store.openClaimed(key, first && this.#sealed(first));
    const kept = this.#unsealed(sealed, key);
    return { place, kept, claim: claim.kind === 'held' ? claim : { ...claim, kept } };
  }

  serves(key: CallKey): Promise<boolean> {
    return this.#store.serves(key);
  }

  /** @throws AppError `state_unreadable`, like `load`; the claim is ours all the same. */
  async claim(key: CallKey, first: SessionRecord | undefined): Promise<Claim> {
    const claim = await this.#store.claim(key, first && this.#sealed(first));
    return claim.kind === 'held' ? claim : { ...claim, kept: this.#unsealed(claim.kept, key) };
  }

  renew(key: CallKey): Promise<boolean> {
    return this.#store.renew(key);
  }

  commit(record: SessionRecord, expectedVersion: number, isReply?: boolean): Promise<boolean> {
    return this.#store.commit(this.#sealed(record), expectedVersion, isReply);
  }

  /** The words are sealed in every call: that nothing sensitive was read out is known to the bot alone. */
  release(key: CallKey, spoken: Spoken | undefined): Promise<void> {
    if (spoken === undefined) return this.#store.release(key, undefined);
    const words = this.#seal.close(JSON.stringify(wordsOf(spoken)), callId(key));
    return this.#store.release(key, withWords(spoken, [words]));
  }

  touch(key: CallKey): Promise<void> {
    return this.#store.touch(key);
  }

  drop(key: CallKey): Promise<void> {
    return this.#store.drop(key);
  }

  #sealed(record: SessionRecord): SealedRecord {
    const { reply, ...rest } = record;
    const hidden: Hidden = record.sensitive ? { state: record.state, ...(reply === undefined ? {} : { reply }) } : {};
    const open: SessionRecord = record.sensitive ? { ...rest, state: null } : record;
    return { ...open, seal: this.#seal.close(JSON.stringify(hidden), belongingTo(open, record.call)) };
  }

  #unsealed(kept: KeptCall | undefined, key: CallKey): KeptCall | undefined {
    if (kept === undefined) return undefined;
    const { record, spoken } = kept;
    return { ...kept, record: this.#opened(record, key), spoken: spoken === undefined ? undefined : this.#spoken(spoken, key) };
  }

  #opened({ seal = '', ...open }: SealedRecord, key: CallKey): SessionRecord {
    // Only `#sealed` seals what belongs to a record, and it seals this.
    const hidden = deepFreeze(this.#json(seal, belongingTo(open, key))) as unknown as Hidden;
    return Object.freeze({ ...open, ...hidden });
  }

  #spoken(spoken: Spoken, key: CallKey): Spoken {
    // Only `release` seals, and it seals a list of texts.
    return withWords(spoken, this.#json(spoken.before.text, callId(key)) as readonly string[]);
  }

  #json(sealed: string, owner: string): JsonValue {
    try {
      return JSON.parse(this.#seal.open(sealed, owner)) as JsonValue;
    } catch (cause) {
      throw new AppError('state_unreadable', 'the record of a call does not open with the key of this server, or was changed', { cause });
    }
  }
}

/** What is sealed of a record with sensitive inputs; of others nothing. */
interface Hidden {
  readonly state?: JsonValue;
  readonly reply?: KeptReply;
}

/** A record as it lies in the store; undefined for one that somebody else has written. */
type SealedRecord = SessionRecord & { readonly seal?: string };

/** What a seal is bound to: its call, and all of the record that lies open. JSON that is parsed and written again is the same. */
function belongingTo(open: SessionRecord, key: CallKey): string {
  return JSON.stringify([callId(key), open]);
}

/** The texts of what is heard: before a cut, of the cut, and of each prompt; empty for none. */
function wordsOf({ before, cutHeard, prompts }: Spoken): readonly string[] {
  return [before.text, cutHeard?.text ?? '', ...prompts.map(({ text }) => text ?? '')];
}

/** The same with other texts in their order; those that are missing are empty. */
function withWords(spoken: Spoken, [before = '', cut = '', ...texts]: readonly string[]): Spoken {
  const { cutHeard } = spoken;
  return {
    ...spoken,
    before: { ...spoken.before, text: before },
    ...(cutHeard === undefined ? {} : { cutHeard: { ...cutHeard, text: cut } }),
    prompts: spoken.prompts.map((part, index) => ({ ...part, text: texts[index] ?? '' })),
  };
}
