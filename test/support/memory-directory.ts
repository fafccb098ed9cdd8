// The directory of calls in memory, for processes of one test that share it.
import type { Clock } from '../../src/base/clock.ts';
import { callId, type CallKey } from '../../src/dialog/call.ts';
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
} from '../../src/cluster/call-directory.ts';

/** What is kept of a call. */
interface Entry {
  /** Empty: released, or over. */
  readonly owner: string;
  readonly epoch: number;
  /** 0: the owner has written nothing yet. */
  readonly seq: number;
  readonly snapshot: string | undefined;
  readonly heardAtMs: number;
  /** Who had it before, did not release it, and may not have been told. */
  readonly takenFrom: readonly string[];
  readonly isEnded: boolean;
  /** Monotonic ms. */
  readonly untilMs: number;
}

/** Bounded by the calls that are claimed, each for its time. */
export class MemoryDirectory implements CallDirectory {
  readonly #entries = new Map<string, Entry>();
  readonly #clock: Clock;
  readonly #ttlMs: number;

  /** @param options.ttlMs - an entry that is not touched for this long is forgotten, ms. */
  constructor({ clock, ttlMs }: { readonly clock: Clock; readonly ttlMs: number }) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
  }

  /** Entries kept now. */
  get size(): number {
    return this.#entries.size;
  }

  claim(call: CallKey, { owner, mayCreate, beginsAnew = false, deadEpoch, isForced = false, heardAtMs }: ClaimRequest): Promise<Claim> {
    const entry = this.#get(call);
    const isMine = entry?.owner === owner;
    if (entry === undefined && !mayCreate) return Promise.resolve({ kind: 'unknown' });
    if (entry?.isEnded === true && !beginsAnew) return Promise.resolve({ kind: 'ended' });
    if (entry !== undefined && !isMine && entry.owner !== '' && entry.epoch !== deadEpoch && !isForced) {
      return Promise.resolve({ kind: 'theirs', owner: entry.owner, epoch: entry.epoch });
    }
    const epoch = isMine ? entry.epoch : (entry?.epoch ?? 0) + 1;
    const snapshot = beginsAnew ? undefined : entry?.snapshot;
    const takenFrom = unnotified(entry, owner);
    this.#set(call, { owner, epoch, seq: isMine ? entry.seq : 0, snapshot, heardAtMs, takenFrom, isEnded: false });
    return Promise.resolve({
      kind: 'mine',
      epoch,
      ...(snapshot === undefined ? {} : { snapshot }),
      ...(takenFrom.length === 0 ? {} : { takenFrom }),
    });
  }

  find(call: CallKey): Promise<Found> {
    const entry = this.#get(call);
    if (entry === undefined) return Promise.resolve({ kind: 'unknown' });
    if (entry.isEnded) return Promise.resolve({ kind: 'ended' });
    return Promise.resolve(entry.owner === '' ? { kind: 'free' } : { kind: 'theirs', owner: entry.owner, epoch: entry.epoch });
  }

  save(call: CallKey, { owner, epoch, seq, snapshot, heardAtMs, isRelease = false }: Saved): Promise<SaveResult> {
    const entry = this.#get(call);
    if (entry !== undefined) {
      if (entry.epoch > epoch || (entry.epoch === epoch && entry.owner !== owner)) return Promise.resolve({ kind: 'fenced' });
      if (entry.epoch === epoch && entry.seq >= seq) return Promise.resolve({ kind: 'old' });
    }
    this.#set(call, {
      owner: isRelease ? '' : owner,
      epoch,
      seq,
      snapshot: snapshot ?? entry?.snapshot,
      heardAtMs,
      takenFrom: [],
      isEnded: false,
    });
    const takenFrom = entry === undefined || entry.epoch === epoch || [owner, ''].includes(entry.owner) ? [] : [entry.owner];
    return Promise.resolve({ kind: 'saved', ...(takenFrom.length === 0 ? {} : { takenFrom }) });
  }

  register(call: CallKey, { owner, seq, snapshot, heardAtMs }: LateCall): Promise<Registered> {
    const entry = this.#get(call);
    const other = entry === undefined || entry.owner === '' || entry.owner === owner ? undefined : entry;
    if (other !== undefined && other.heardAtMs >= heardAtMs) return Promise.resolve({ kind: 'fenced' });
    const epoch = (entry?.epoch ?? 0) + 1;
    // A registration whose answer was lost is sent again.
    const takenFrom = unnotified(entry, owner);
    this.#set(call, { owner, epoch, seq, snapshot, heardAtMs, takenFrom, isEnded: false });
    return Promise.resolve({ kind: 'mine', epoch, ...(takenFrom.length === 0 ? {} : { takenFrom }) });
  }

  forget(call: CallKey, { owner, epoch }: Ownership): Promise<void> {
    const entry = this.#get(call);
    if (entry === undefined || (entry.owner === owner && entry.epoch === epoch)) {
      const mark = { owner: '', epoch, seq: 0, snapshot: undefined, heardAtMs: 0, takenFrom: [], isEnded: true };
      this.#set(call, mark, ENDED_MS);
    }
    return Promise.resolve();
  }

  touch(call: CallKey): Promise<boolean> {
    const entry = this.#get(call);
    if (entry === undefined || entry.isEnded) return Promise.resolve(entry !== undefined);
    this.#set(call, entry);
    return Promise.resolve(true);
  }

  #get(call: CallKey): Entry | undefined {
    const entry = this.#entries.get(callId(call));
    return entry !== undefined && entry.untilMs > this.#clock.monotonicMs() ? entry : undefined;
  }

  #set(call: CallKey, entry: Omit<Entry, 'untilMs'>, keptMs = this.#ttlMs): void {
    const id = callId(call);
    const nowMs = this.#clock.monotonicMs();
    // Whatever is written stands last, so that what was not touched for long stands first; a mark waits for its turn.
    this.#entries.delete(id);
    this.#entries.set(id, { ...entry, untilMs: nowMs + keptMs });
    for (const [oldest, { untilMs }] of this.#entries) {
      if (untilMs > nowMs) break;
      this.#entries.delete(oldest);
    }
  }
}

/** An owner that has written nothing may have told nobody. */
function unnotified(entry: Entry | undefined, owner: string): readonly string[] {
  if (entry === undefined) return [];
  const before = [...entry.takenFrom, entry.owner];
  return before.filter((id) => id !== '' && id !== owner);
}
