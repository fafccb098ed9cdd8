// The homes of calls, for one process: tracks the calls that live here, caches the homes of other calls, searches unknown homes, and
// releases calls. Knows neither streams nor the engine.
import { waitAtMost } from '../base/abort.ts';
import { every, type CancelTimer, type Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { callId, type CallKey } from '../dialog/call.ts';
import type { Snapshots } from '../session/ports.ts';
import type { CallDirectory } from './call-directory.ts';
import { newHome, restoredOf, textOf, type Home } from './home.ts';
import { ASK_LIMIT_MS, closedTo, HomeSearch, located, type HomeFound } from './home-search.ts';
import { HomeWrites } from './home-writes.ts';
import type { TakenCall } from './instance-table.ts';
import type { Instances } from './instances.ts';
import { KnownHomes } from './known-homes.ts';
import { HERE, type Asked, type ForwardLoss, type Located, type Peer } from '../dialog/home.ts';

/** Longest wait for the save of a leaving call, ms. */
const LEAVE_LIMIT_MS = 1000;
/** How often a call's entry is touched within its expiry time. */
const TOUCHES = 3;

export interface CallHomesOptions {
  readonly directory: CallDirectory;
  /** The caller starts the instances after creating the homes, and closes them after the homes. */
  readonly instances: Instances;
  /** Asks a peer whether a call lives there ({@link CallHomes.has}). May reject; the caller limits the wait. */
  readonly probe: (peer: Peer, callId: string) => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Largest snapshot, bytes of JSON. */
  readonly maxSnapshotBytes: number;
  /** Time after which an untouched entry in the directory expires, ms. */
  readonly ttlMs: number;
  /** Whether a call that lives here has a session. Not called for a call that was heard within `sweepMs`. */
  readonly isInUse: (call: CallKey) => boolean;
  /** Interval of the sweep for unused calls, ms. */
  readonly sweepMs: number;
}

/** A running search. */
interface Asking {
  /** What the search may change, see {@link needOf}. */
  readonly need: number;
  readonly found: Promise<HomeFound>;
}

/** One per process. The creator closes it. */
export class CallHomes implements Snapshots {
  readonly isShared = true;
  readonly #options: CallHomesOptions;
  readonly #search: HomeSearch;
  readonly #writes: HomeWrites;
  readonly #homes = new Map<string, Home>();
  readonly #peerHomes: KnownHomes;
  readonly #asking = new Map<string, Asking>();
  readonly #listeners = new Set<(call: CallKey) => void>();
  readonly #stopListening: () => void;
  readonly #cancelTouching: CancelTimer;
  readonly #cancelSweep: CancelTimer;
  #isClosed = false;

  constructor(options: CallHomesOptions) {
    const { directory, instances, probe, clock, log, ttlMs, sweepMs } = options;
    this.#options = options;
    this.#peerHomes = new KnownHomes(clock);
    this.#search = new HomeSearch({ directory, instances, probe, clock });
    this.#writes = new HomeWrites({
      ...{ directory, instances, log },
      onFenced: (home) => {
        this.#lose(home);
      },
      onLeft: (home) => {
        this.#drop(home);
      },
    });
    this.#stopListening = instances.listen({
      onTakenCalls: (taken) => {
        for (const one of taken) this.#onTakenCall(one);
      },
      onBeat: (beat) => {
        this.#writes.answered(beat, this.#homes.values());
      },
    });
    this.#cancelTouching = every(clock, ttlMs / TOUCHES, () => {
      for (const home of this.#homes.values()) this.#writes.want(home, 'touch');
    });
    this.#cancelSweep = every(clock, sweepMs, () => {
      this.#sweep();
    });
  }

  /** False while the directory is unavailable: no other process could read released calls. */
  get canMove(): boolean {
    return !this.#options.instances.isAway;
  }

  /**
   * Finds where a call lives. Synchronous for a call that lives here.
   *
   * @throws AppError `store_unavailable` when the home cannot be determined, `state_unreadable` for a snapshot that cannot be restored
   * here; synchronously or through the promise.
   */
  locate(call: CallKey, asked: Asked): Located | Promise<Located> {
    if (this.#isClosed) return located(closedTo(asked), asked);
    const id = callId(call);
    const home = this.#homes.get(id);
    if (home !== undefined && home.leaving === undefined && !this.#isInDoubt(home)) return this.#atHome(home, asked);
    if (home?.leaving === 'forget' && asked.opensWith !== 'start') return { kind: 'ended' };
    const asking = this.#asking.get(id);
    if (asking !== undefined) return this.#share(asking, call, asked);
    if (home === undefined && asked.isTied !== true) {
      if (asked.forwarded?.isTaking === false) return { kind: 'not_mine' };
      // A peer that asks this process to take a call knows that the previous home has released the call.
      const known = asked.forwarded === undefined ? this.#peerHomes.get(id) : undefined;
      if (known !== undefined && this.#options.instances.lifeOf(known.home.id) === 'alive')
        return located({ kind: 'theirs', ...known }, asked);
    }
    return this.#ask(call, id, asked, home);
  }

  /** Notes that a forwarded turn came back: the peer answered "not mine", refused the connection, or broke it. */
  lost(call: CallKey, home: Peer, why: ForwardLoss): void {
    const id = callId(call);
    if (!this.#homes.has(id)) this.#peerHomes.lost(id, home, why);
  }

  /** Whether a call lives here; answers the probe of a peer. */
  has(callId: string): boolean {
    const home = this.#homes.get(callId);
    return home !== undefined && home.leaving !== 'forget';
  }

  /**
   * Calls `listener` for each call that another process has taken, until the returned function is called. The session of such a call must
   * end silently. `listener` must not throw.
   */
  onTaken(listener: (call: CallKey) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Stops claiming new calls, or starts again when `isDraining` is false. A draining process leaves new calls to live peers. */
  drain(isDraining = true): void {
    this.#options.instances.drain(isDraining);
  }

  save(call: CallKey, snapshot: object): void {
    const id = callId(call);
    const home = this.#homes.get(id);
    // Another process took the call after the lookup and before the session began.
    if (home === undefined && !this.#isClosed) {
      queueMicrotask(() => {
        if (!this.#homes.has(id)) this.#notifyTaken(call);
      });
    }
    if (home === undefined || home.leaving !== undefined) return;
    home.located = HERE;
    if (this.#keep(home, snapshot)) this.#writes.want(home);
  }

  async saved(call: CallKey): Promise<void> {
    const home = this.#homes.get(callId(call));
    if (home !== undefined) await this.#settled(home, LEAVE_LIMIT_MS);
  }

  async release(call: CallKey, snapshot?: object): Promise<void> {
    const home = this.#homes.get(callId(call));
    if (home === undefined || home.leaving !== undefined) return;
    if (snapshot !== undefined) this.#keep(home, snapshot);
    home.leaving = 'release';
    this.#writes.want(home);
    await this.#settled(home, LEAVE_LIMIT_MS);
  }

  forget(call: CallKey): void {
    const home = this.#homes.get(callId(call));
    if (home === undefined || home.leaving !== undefined) return;
    home.leaving = 'forget';
    home.text = undefined;
    this.#writes.want(home);
  }

  /** Waits for pending writes in bounded time. Does not release calls. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopListening();
    this.#cancelTouching();
    this.#cancelSweep();
    this.#writes.retry();
    await waitAtMost(this.#writes.idle(), LEAVE_LIMIT_MS, this.#options.clock);
    this.#listeners.clear();
  }

  /** Releases calls without a session: their turn was refused or cancelled, or was only a hang-up. */
  #sweep(): void {
    const { clock, isInUse, sweepMs } = this.#options;
    const heardBeforeMs = clock.nowMs() - sweepMs;
    for (const { call, heardAtMs } of this.#homes.values()) if (heardAtMs < heardBeforeMs && !isInUse(call)) void this.release(call);
  }

  #atHome(home: Home, { opensWith }: Asked): Located {
    home.heardAtMs = this.#options.clock.nowMs();
    const { located } = home;
    // The conversation restarts (G-28): do not restore the old snapshot.
    if (opensWith === 'start') home.located = HERE;
    return located;
  }

  /** Whether this process has stalled and must confirm its ownership, which is only possible with the directory. */
  #isInDoubt({ epoch }: Home): boolean {
    const { instances } = this.#options;
    return epoch !== undefined && instances.mayBeTakenForDead && !instances.isAway;
  }

  /** Shares the result of a running search with requests that need no more than that search. Other requests search after it. */
  async #share(asking: Asking, call: CallKey, asked: Asked): Promise<Located> {
    if (asking.need < needOf(asked) || asked.forwarded?.isTaking === false) {
      await asking.found.catch(() => undefined);
      return this.locate(call, asked);
    }
    return this.#settle(call, asked, await asking.found);
  }

  async #ask(call: CallKey, id: string, asked: Asked, home: Home | undefined): Promise<Located> {
    const found = this.#find(call, id, asked, home).finally(() => {
      this.#asking.delete(id);
    });
    // The result of a forwarded request is not shared.
    this.#asking.set(id, { need: asked.forwarded === undefined ? needOf(asked) : -1, found });
    return this.#settle(call, asked, await found);
  }

  /** Searches and applies the result. */
  async #find(call: CallKey, id: string, asked: Asked, home: Home | undefined): Promise<HomeFound> {
    if (home !== undefined && (await this.#isStillHome(home))) return { kind: 'mine', epoch: home.epoch ?? 0, text: undefined };
    if (asked.forwarded?.isTaking === false) return { kind: 'nobody' };
    const found = await this.#search.find(call, asked, this.#peerHomes.forget(id));
    if (this.#isClosed) return closedTo(asked);
    if (found.kind === 'theirs') this.#peerHomes.remember(id, found);
    if (found.kind === 'mine') this.#begin(call, id, found.epoch, found.text);
    if (found.kind === 'unregistered') this.#writes.want(this.#begin(call, id, undefined, undefined));
    return found;
  }

  /** Whether a call that is leaving or in doubt still lives here. */
  async #isStillHome(home: Home, epoch = home.epoch): Promise<boolean> {
    if (home.leaving === undefined) {
      const isTaken = epoch !== undefined && (await this.#search.isTaken(home.call, epoch).catch(() => false));
      if (isTaken) this.#lose(home);
    } else {
      await this.#settled(home, ASK_LIMIT_MS);
      if (!home.isGone) this.#comeBack(home);
    }
    return !home.isGone;
  }

  /** Takes back a call whose release failed or may have failed: registers it again. */
  #comeBack(home: Home): void {
    home.located = restoredOf(home.text, home.epoch);
    home.leaving = undefined;
    home.epoch = undefined;
    this.#writes.want(home);
  }

  async #settle(call: CallKey, asked: Asked, found: HomeFound): Promise<Located> {
    if (found.kind !== 'mine' && found.kind !== 'unregistered') return located(found, asked);
    const home = this.#homes.get(callId(call));
    // The call may have been taken or have ended meanwhile.
    return home === undefined || home.leaving !== undefined ? this.locate(call, asked) : this.#atHome(home, asked);
  }

  #begin(call: CallKey, id: string, epoch: number | undefined, text: string | undefined): Home {
    const home = newHome({ call, id, epoch, text, heardAtMs: this.#options.clock.nowMs() });
    this.#homes.set(id, home);
    return home;
  }

  /** @returns false when the snapshot is too large; the previous one stays. */
  #keep(home: Home, snapshot: object): boolean {
    const { instances, maxSnapshotBytes: limitBytes, log } = this.#options;
    const text = textOf(snapshot, instances.self.version);
    const bytes = Buffer.byteLength(text);
    if (bytes > limitBytes) {
      log.error(
        { ...home.call, bytes, limitBytes },
        'the snapshot of a call is too large and was not saved: another process would use an older one',
      );
      return false;
    }
    home.text = text;
    return true;
  }

  #onTakenCall({ call, epoch }: TakenCall): void {
    const home = this.#homes.get(callId(call));
    if (home?.epoch !== undefined && home.epoch < epoch) this.#lose(home);
  }

  /** Ends the home of a call that another process has taken. */
  #lose(home: Home): void {
    if (home.isGone) return;
    this.#drop(home);
    if (home.leaving === undefined) this.#notifyTaken(home.call);
  }

  #notifyTaken(call: CallKey): void {
    for (const listener of this.#listeners) listener(call);
  }

  #drop(home: Home): void {
    home.isGone = true;
    this.#homes.delete(home.id);
    this.#writes.drop(home);
  }

  async #settled(home: Home, limitMs: number): Promise<void> {
    await waitAtMost(this.#writes.settled(home), limitMs, this.#options.clock);
  }
}

/** How much a search may change: 0 only finds the call, 1 may create it, 2 restart it, 3 take it from any owner. */
function needOf({ opensWith, isTied }: Asked): number {
  if (isTied === true) return 3;
  return opensWith === 'start' ? 2 : opensWith === 'end' ? 0 : 1;
}
