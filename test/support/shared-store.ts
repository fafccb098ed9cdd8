// A place that several engines share for their calls, as processes share a server: leases that end on the clock of the test,
// and interruptions that arrive at once. Small enough to be read as the meaning of the port.
import { AppError } from '../../src/base/errors.ts';
import { deepFreeze, type JsonValue } from '../../src/base/json.ts';
import { callId, type CallKey } from '../../src/dialog/call.ts';
import { toldLater, type Spoken } from '../../src/session/playout/playout.ts';
import type { Claim, Interrupted, Interruptions, KeptCall, OpenedCall, SessionStore } from '../../src/session/ports.ts';
import type { SessionRecord } from '../../src/session/snapshot/snapshot.ts';
import type { FakeClock } from './fake-clock.ts';

export const TEST_LEASE_MS = 1000;

interface Kept {
  record?: SessionRecord;
  spoken?: Spoken;
  toldAtMs: number;
  place: number;
  holder?: string;
  owner?: string;
  untilMs: number;
  pending?: string;
}

/** The place. */
export class SharedPlace {
  readonly calls = new Map<string, Kept>();
  readonly clock: FakeClock;
  /** What every operation does before anything else: tests make it fail or wait. */
  before: (operation: string, owner: string) => Promise<void> | void = () => undefined;
  /** The owners whose next commit is written, and the answer to it lost. */
  readonly losesAnswers = new Set<string>();
  /** The owners that die with their next commit: it is written, and nothing of them comes after it. */
  readonly dying = new Set<string>();
  readonly #dead = new Set<string>();
  readonly #listeners = new Map<string, (key: CallKey, interrupted: Interrupted) => void>();

  constructor(clock: FakeClock) {
    this.clock = clock;
  }

  /** The store of one process. */
  storeOf(owner: string): SessionStore {
    return new SharedStore(this, owner);
  }

  /** The interruptions of one process. */
  interruptionsOf(owner: string): Interruptions {
    return {
      tell: (key, interrupted) => {
        for (const [other, listener] of this.#listeners) if (other !== owner) listener(key, interrupted);
      },
      listen: (listener) => {
        this.#listeners.set(owner, listener);
        return () => this.#listeners.delete(owner);
      },
    };
  }

  /** Nothing of the process comes any more. */
  kill(owner: string): Promise<never> {
    this.#dead.add(owner);
    this.#listeners.delete(owner);
    return new Promise(() => undefined);
  }

  /** Where each operation begins. */
  async enter(operation: string, owner: string): Promise<void> {
    if (this.#dead.has(owner)) await this.kill(owner);
    await this.before(operation, owner);
  }

  of(key: CallKey): Kept {
    const known = this.calls.get(callId(key));
    if (known !== undefined) return known;
    const made: Kept = { toldAtMs: 0, untilMs: 0, place: 0 };
    this.calls.set(callId(key), made);
    return made;
  }
}

class SharedStore implements SessionStore {
  readonly leaseMs = TEST_LEASE_MS;
  readonly #place: SharedPlace;
  readonly #owner: string;

  constructor(place: SharedPlace, owner: string) {
    this.#place = place;
    this.#owner = owner;
  }

  async load(key: CallKey): Promise<SessionRecord | undefined> {
    await this.#place.enter('load', this.#owner);
    return copied(this.#place.of(key).record);
  }

  async open(key: CallKey): Promise<OpenedCall> {
    await this.#place.enter('open', this.#owner);
    return this.#open(key);
  }

  async openClaimed(key: CallKey, first: SessionRecord | undefined): Promise<OpenedCall & { readonly claim: Claim }> {
    await this.#place.enter('open_claimed', this.#owner);
    return { ...this.#open(key), claim: this.#claim(key, first) };
  }

  async serves(key: CallKey): Promise<boolean> {
    await this.#place.enter('serves', this.#owner);
    return (this.#place.of(key).holder ?? this.#owner) === this.#owner;
  }

  async claim(key: CallKey, first: SessionRecord | undefined): Promise<Claim> {
    await this.#place.enter('claim', this.#owner);
    return this.#claim(key, first);
  }

  async renew(key: CallKey): Promise<boolean> {
    await this.#place.enter('renew', this.#owner);
    const kept = this.#place.of(key);
    if (this.#isTaken(kept)) return false;
    this.#lease(kept);
    return true;
  }

  async commit(record: SessionRecord, expectedVersion: number, isReply = false): Promise<boolean> {
    await this.#place.enter('commit', this.#owner);
    const kept = this.#place.of(record.call);
    if (this.#isTaken(kept)) return false;
    if (record.writing !== undefined && kept.record?.writing === record.writing) return true;
    if (kept.record !== undefined && kept.record.version > 0 && kept.record.version !== expectedVersion) return false;
    if ((kept.record?.version ?? 0) === 0) kept.place = Math.max(kept.place, record.place ?? 0);
    kept.record = copied(record);
    kept.holder ??= this.#owner;
    if (isReply) kept.pending = this.#owner;
    if (isReply || kept.owner === this.#owner) this.#lease(kept);
    if (this.#place.dying.has(this.#owner)) return this.#place.kill(this.#owner);
    if (this.#place.losesAnswers.delete(this.#owner)) throw new AppError('store_unavailable', 'the answer was lost');
    return true;
  }

  async release(key: CallKey, spoken: Spoken | undefined): Promise<void> {
    await this.#place.enter('release', this.#owner);
    const kept = this.#place.of(key);
    if (kept.owner !== this.#owner) return;
    delete kept.owner;
    if (spoken === undefined) return;
    delete kept.pending;
    kept.spoken = copied(spoken);
    kept.toldAtMs = this.#place.clock.monotonicMs();
  }

  async touch(_key: CallKey): Promise<void> {
    await this.#place.enter('touch', this.#owner);
  }

  async drop(key: CallKey): Promise<void> {
    await this.#place.enter('drop', this.#owner);
    this.#place.calls.delete(callId(key));
  }

  #open(key: CallKey): OpenedCall {
    const kept = this.#place.of(key);
    kept.place += 1;
    if (kept.record !== undefined) kept.holder = this.#owner;
    return { place: kept.place, kept: this.#told(kept) };
  }

  #claim(key: CallKey, first: SessionRecord | undefined): Claim {
    const kept = this.#place.of(key);
    if (this.#isTaken(kept)) return { kind: 'held' };
    this.#lease(kept);
    const claim: Claim = { kind: 'ours', kept: this.#told(kept) };
    if (kept.record === undefined && first !== undefined) Object.assign(kept, { record: copied(first), holder: this.#owner });
    return claim;
  }

  #isTaken({ owner, untilMs }: Kept): boolean {
    return owner !== undefined && owner !== this.#owner && untilMs > this.#place.clock.monotonicMs();
  }

  #lease(kept: Kept): void {
    kept.owner = this.#owner;
    kept.untilMs = this.#place.clock.monotonicMs() + TEST_LEASE_MS;
  }

  #told({ record, spoken, toldAtMs, pending }: Kept): KeptCall | undefined {
    if (record === undefined) return undefined;
    const ageMs = this.#place.clock.monotonicMs() - toldAtMs;
    const unheard = pending === undefined ? undefined : pending === this.#owner ? 'here' : 'elsewhere';
    return { record: copied(record), spoken: spoken === undefined ? undefined : toldLater(spoken, ageMs), unheard };
  }
}

/** Through JSON and frozen, as from another machine. */
function copied<T>(value: T): T {
  if (value === undefined) return value;
  // The JSON form of a record or of what was told parses back to the same.
  return deepFreeze(JSON.parse(JSON.stringify(value)) as JsonValue) as T;
}
