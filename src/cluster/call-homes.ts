// Where each call lives, for one process: remembers which live here and where others do, finds out the rest, and lets go of calls. Knows
// neither streams nor what the engine does with a call.
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

/** Longest wait until what leaves is written, ms. */
const LEAVE_LIMIT_MS = 1000;
/** How often the entry of a call at home is touched within the time that the directory keeps it. */
const TOUCHES = 3;

/** What homes are made with. */
export interface CallHomesOptions {
  readonly directory: CallDirectory;
  /** Stays its owner's, who starts it after the homes are made, and closes it after them. */
  readonly instances: Instances;
  /** Asks a peer whether a call lives there ({@link CallHomes.has}). May reject; nobody waits for long. */
  readonly probe: (peer: Peer, callId: string) => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Largest snapshot as JSON in UTF-8. */
  readonly maxSnapshotBytes: number;
  /** How long the directory keeps an entry that is not touched, ms. */
  readonly ttlMs: number;
  /** Whether a call that lives here still has a session; one whose turn has just come is not asked for. */
  readonly isInUse: (call: CallKey) => boolean;
  /** Pause between two searches for calls that live here and are not in use, ms. */
  readonly sweepMs: number;
}

/** A question under way. */
interface Asking {
  /** See {@link needOf}. */
  readonly need: number;
  readonly found: Promise<HomeFound>;
}

/** One for each process. Whoever made it closes it. */
export class CallHomes implements Snapshots {
  readonly isShared = true;
  readonly #options: CallHomesOptions;
  readonly #search: HomeSearch;
  readonly #writes: HomeWrites;
  readonly #homes = new Map<string, Home>();
  readonly #elsewhere: KnownHomes;
  readonly #asking = new Map<string, Asking>();
  readonly #listeners = new Set<(call: CallKey) => void>();
  readonly #stopListening: () => void;
  readonly #cancelTouching: CancelTimer;
  readonly #cancelSweep: CancelTimer;
  #isClosed = false;

  constructor(options: CallHomesOptions) {
    const { directory, instances, probe, clock, log, ttlMs, sweepMs } = options;
    this.#options = options;
    this.#elsewhere = new KnownHomes(clock);
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

  /** While the directory is away, nobody could read what is released. */
  get canMove(): boolean {
    return !this.#options.instances.isAway;
  }

  /**
   * Where a call lives. At once, without a promise, for a call that lives here.
   *
   * @throws AppError `store_unavailable` where nobody can say, `state_unreadable` for a snapshot that cannot be restored here; also
   *   through the promise.
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
      const known = this.#elsewhere.get(id);
      if (known !== undefined && this.#options.instances.lifeOf(known.home.id) === 'alive')
        return located({ kind: 'theirs', ...known }, asked);
    }
    return this.#ask(call, id, asked, home);
  }

  /** A forwarded stream came back: the peer said "not mine", refused the connection, or broke. */
  lost(call: CallKey, home: Peer, why: ForwardLoss): void {
    const id = callId(call);
    if (!this.#homes.has(id)) this.#elsewhere.lost(id, home, why);
  }

  /** Whether a call lives here: the answer to a probe of a peer. */
  has(callId: string): boolean {
    const home = this.#homes.get(callId);
    return home !== undefined && home.leaving !== 'forget';
  }

  /** Calls `listener`, which must not throw, for calls that another process has taken, until the returned function is called: their sessions end without a word. */
  onTaken(listener: (call: CallKey) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Claims nothing new from now on; new calls go to a live peer. */
  drain(): void {
    this.#options.instances.drain();
  }

  save(call: CallKey, snapshot: object): void {
    const id = callId(call);
    const home = this.#homes.get(id);
    // It was taken between a turn that found it here and its session.
    if (home === undefined && !this.#isClosed) {
      queueMicrotask(() => {
        if (!this.#homes.has(id)) this.#notifyTaken(call);
      });
    }
    if (home === undefined || home.leaving !== undefined) return;
    home.located = HERE;
    if (this.#keep(home, snapshot)) this.#writes.want(home);
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

  /** Writes what waits, in bounded time. Calls that still live here are not released. */
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

  /** Releases the calls whose turn was refused, went away or was a hang-up, so that they have no session: nobody else would. */
  #sweep(): void {
    const { clock, isInUse, sweepMs } = this.#options;
    const heardBeforeMs = clock.nowMs() - sweepMs;
    for (const { call, heardAtMs } of this.#homes.values()) if (heardAtMs < heardBeforeMs && !isInUse(call)) void this.release(call);
  }

  #atHome(home: Home, { opensWith }: Asked): Located {
    home.heardAtMs = this.#options.clock.nowMs();
    const { located } = home;
    // The conversation begins anew (G-28): what was left of the one before is for the bot that hears of its end, and for nobody else.
    if (opensWith === 'start') home.located = HERE;
    return located;
  }

  /** A process that has stood still asks before it trusts what it owns; one without its directory has nobody to ask. */
  #isInDoubt({ epoch }: Home): boolean {
    const { instances } = this.#options;
    return epoch !== undefined && instances.mayBeTakenForDead && !instances.isAway;
  }

  /** A question that is under way answers others that need no more; those that do ask after it. */
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
    // One that was forwarded is answered for that alone.
    this.#asking.set(id, { need: asked.forwarded === undefined ? needOf(asked) : -1, found });
    return this.#settle(call, asked, await found);
  }

  /** What was found is in force when this resolves. */
  async #find(call: CallKey, id: string, asked: Asked, home: Home | undefined): Promise<HomeFound> {
    if (home !== undefined && (await this.#isStillHome(home))) return { kind: 'mine', epoch: home.epoch ?? 0, text: undefined };
    if (asked.forwarded?.isTaking === false) return { kind: 'nobody' };
    const found = await this.#search.find(call, asked, this.#elsewhere.forget(id));
    if (this.#isClosed) return closedTo(asked);
    if (found.kind === 'theirs') this.#elsewhere.remember(id, found);
    if (found.kind === 'mine') this.#begin(call, id, found.epoch, found.text);
    if (found.kind === 'unregistered') this.#writes.want(this.#begin(call, id, undefined, undefined));
    return found;
  }

  /** Of a call that leaves, or that others may have taken. */
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

  /** The release of the call failed, or may have failed: it is registered anew. */
  #comeBack(home: Home): void {
    home.located = restoredOf(home.text, home.epoch);
    home.leaving = undefined;
    home.epoch = undefined;
    this.#writes.want(home);
  }

  async #settle(call: CallKey, asked: Asked, found: HomeFound): Promise<Located> {
    if (found.kind !== 'mine' && found.kind !== 'unregistered') return located(found, asked);
    const home = this.#homes.get(callId(call));
    // It may have been taken, or be over, within a moment.
    return home === undefined || home.leaving !== undefined ? this.locate(call, asked) : this.#atHome(home, asked);
  }

  #begin(call: CallKey, id: string, epoch: number | undefined, text: string | undefined): Home {
    const home = newHome({ call, id, epoch, text, heardAtMs: this.#options.clock.nowMs() });
    this.#homes.set(id, home);
    return home;
  }

  /** @returns false for a snapshot that is too large: the one before stays. */
  #keep(home: Home, snapshot: object): boolean {
    const { instances, maxSnapshotBytes: limitBytes, log } = this.#options;
    const text = textOf(snapshot, instances.self.version);
    const bytes = Buffer.byteLength(text);
    if (bytes > limitBytes) {
      log.error(
        { ...home.call, bytes, limitBytes },
        'the snapshot of a call is too large and is not kept: another process would go on from an older one',
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

  /** Another process has the call. */
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

/** How much is done for an answer: a call is taken, begun anew, or begun; or only found. */
function needOf({ opensWith, isTied }: Asked): number {
  if (isTied === true) return 3;
  return opensWith === 'start' ? 2 : opensWith === 'end' ? 0 : 1;
}
