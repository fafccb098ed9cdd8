// Finds the home of a call that does not live here: asks the directory, checks whether the owner is alive, and asks all peers when the
// directory does not know the call. Caches no homes.
import { createHash } from 'node:crypto';
import { waitAtMost } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { callId, type CallKey } from '../dialog/call.ts';
import type { CallDirectory, Claim, ClaimRequest } from './call-directory.ts';
import { formOf } from './home.ts';
import type { ReadInstance } from './instance-table.ts';
import type { Instances } from './instances.ts';
import type { Asked, ForwardLoss, Located, Peer } from '../dialog/home.ts';

/** Longest wait for the directory, or for a peer whose counter has stopped, ms. */
export const ASK_LIMIT_MS = 250;
/** Factor on {@link ASK_LIMIT_MS} for asking all peers: longer, because without an answer the caller is transferred. */
const PEERS_PATIENCE = 4;
/** Most remembered silent instances. */
const MAX_SILENT = 1000;

export interface HomeSearchOptions {
  readonly directory: CallDirectory;
  readonly instances: Instances;
  readonly probe: (peer: Peer, callId: string) => Promise<boolean>;
  readonly clock: Clock;
}

/** Why the known home of a call is in doubt: a forwarded turn came back from it. */
export interface Doubt {
  readonly id: string;
  /** The epoch of the peer's ownership; undefined when a probe found the peer. */
  readonly epoch: number | undefined;
  readonly why: ForwardLoss;
}

/** The result of a search. */
export type HomeFound =
  | { readonly kind: 'mine'; readonly epoch: number; readonly text: string | undefined }
  /** The call lives here, unregistered because the directory is unavailable. */
  | { readonly kind: 'unregistered' }
  | { readonly kind: 'theirs'; readonly home: Peer; readonly epoch: number | undefined }
  /** Nobody has the call; the given peer should take it. */
  | { readonly kind: 'to_take'; readonly home: Peer }
  | { readonly kind: 'ended' }
  /** Nobody has the call, and no instance should take it. */
  | { readonly kind: 'nobody' };

type Theirs = Extract<Claim, { readonly kind: 'theirs' }>;

/** One per process. */
export class HomeSearch {
  readonly #options: HomeSearchOptions;
  /** Instances that did not answer a probe, each with its counter at that time. */
  readonly #silent = new Map<string, number>();

  constructor(options: HomeSearchOptions) {
    this.#options = options;
  }

  /**
   * @param doubt - set when the known home is in doubt.
   * @throws AppError `store_unavailable` when the home cannot be determined, `state_unreadable` for a snapshot that cannot be restored
   * here.
   */
  async find(call: CallKey, asked: Asked, doubt: Doubt | undefined): Promise<HomeFound> {
    const { instances } = this.#options;
    try {
      if (instances.isDraining && asked.isTied !== true) {
        const found = await this.#findDraining(call, asked, doubt);
        if (found !== undefined) return found;
      }
      const begins = asked.opensWith === 'start';
      const isForced = asked.isTied === true;
      const claim = await this.#claim(call, { mayCreate: begins || isForced, beginsAnew: begins, isForced });
      return await this.#concluded(call, asked, doubt, claim);
    } catch (thrown) {
      if (!(thrown instanceof AppError) || thrown.code !== 'store_unavailable') throw thrown;
      return this.#findAway(call, asked, thrown);
    }
  }

  /** Whether the directory names another owner now. @throws AppError `store_unavailable`. */
  async isTaken(call: CallKey, epoch: number): Promise<boolean> {
    const found = await this.#bounded(this.#options.directory.find(call));
    return found.kind === 'theirs' && found.owner !== this.#options.instances.self.id && found.epoch >= epoch;
  }

  /**
   * Searches on a draining instance, where a call without an owner goes to a peer. @returns undefined when this instance should claim the
   * call.
   */
  async #findDraining(call: CallKey, asked: Asked, doubt: Doubt | undefined): Promise<HomeFound | undefined> {
    const { directory, instances } = this.#options;
    // A forwarded turn is not forwarded again.
    if (asked.forwarded !== undefined) return { kind: 'nobody' };
    const found = await this.#bounded(directory.find(call)).catch(() => undefined);
    if (found?.kind === 'ended' && asked.opensWith !== 'start') return { kind: 'ended' };
    if (found?.kind === 'theirs') {
      // This instance already owns the call: the answer to its earlier claim was lost.
      if (found.owner === instances.self.id) return undefined;
      // Only this instance has the doubt; a peer without it would not take the call.
      const home = await this.#aliveHome(call, found, doubt);
      return home === undefined ? undefined : { kind: 'theirs', home, epoch: found.epoch };
    }
    return this.#toTake(call, doubt, instances.self.version);
  }

  async #concluded(call: CallKey, asked: Asked, doubt: Doubt | undefined, claim: Claim): Promise<HomeFound> {
    switch (claim.kind) {
      case 'ended':
        return claim;
      case 'mine':
        return this.#taken(call, claim, doubt);
      case 'unknown':
        return this.#unknown(call, asked, doubt);
      case 'theirs': {
        const home = await this.#aliveHome(call, claim, doubt);
        if (home !== undefined) return { kind: 'theirs', home, epoch: claim.epoch };
        const begins = asked.opensWith === 'start';
        const again = await this.#claim(call, { mayCreate: begins, beginsAnew: begins, deadEpoch: claim.epoch });
        return this.#concluded(call, asked, undefined, again);
      }
    }
  }

  /** The directory does not know the call, perhaps because it has lost its data: asks the peers. */
  async #unknown(call: CallKey, asked: Asked, doubt: Doubt | undefined): Promise<HomeFound> {
    const home = await this.#probeAll(call, doubt);
    if (home !== undefined) return { kind: 'theirs', home, epoch: undefined };
    if (asked.opensWith === 'end') return { kind: 'ended' };
    return this.#concluded(call, asked, doubt, await this.#claim(call, { mayCreate: true }));
  }

  /** The directory is unavailable: new calls begin here unregistered; for others, all peers are asked. */
  async #findAway(call: CallKey, asked: Asked, error: AppError): Promise<HomeFound> {
    if (asked.opensWith === 'start' || asked.isTied === true) return { kind: 'unregistered' };
    const home = await this.#probeAll(call, undefined);
    if (home !== undefined) return { kind: 'theirs', home, epoch: undefined };
    if (asked.opensWith === 'end') return { kind: 'ended' };
    throw error;
  }

  async #taken(call: CallKey, claim: Extract<Claim, { kind: 'mine' }>, doubt: Doubt | undefined): Promise<HomeFound> {
    const { directory, instances } = this.#options;
    const { epoch, snapshot: text, takenFrom } = claim;
    for (const before of takenFrom ?? []) instances.notify(before, { call, epoch });
    if (text === undefined || formOf(text) <= instances.self.version) return { kind: 'mine', epoch, text };
    // Releases the call again, for an instance with the newer version that wrote the snapshot.
    const given = { owner: instances.self.id, epoch, seq: 1, heardAtMs: this.#options.clock.nowMs(), isRelease: true };
    await this.#bounded(directory.save(call, given));
    const found = this.#toTake(call, doubt, formOf(text));
    if (found !== undefined) return found;
    throw new AppError('state_unreadable', 'the snapshot of a call was written by a newer version of the program', {
      details: { form: formOf(text), reads: instances.self.version },
    });
  }

  /**
   * Selects the peer that should take a call, the same one for all turns of the call. Excludes peers that cannot read the snapshot's
   * format, unless none can and this instance can.
   */
  #toTake(call: CallKey, doubt: Doubt | undefined, form: number): HomeFound | undefined {
    const { instances } = this.#options;
    const willing = instances.peers.filter(({ id, isDraining }) => !isDraining && id !== doubt?.id);
    const reading = willing.filter(({ version }) => version >= form);
    const candidates = reading.length === 0 && form <= instances.self.version ? willing : reading;
    const drawn = createHash('sha256').update(callId(call)).digest().readUInt32BE();
    const home = [...candidates].sort((one, other) => (one.id < other.id ? -1 : 1))[drawn % candidates.length];
    return home === undefined ? undefined : { kind: 'to_take', home };
  }

  /** @returns undefined when the owner is dead or no longer has the call. @throws AppError `store_unavailable` when that is unknown. */
  async #aliveHome(call: CallKey, { owner, epoch }: Theirs, doubt: Doubt | undefined): Promise<Peer | undefined> {
    const { instances } = this.#options;
    const isDoubted = doubt?.id === owner;
    if (isDoubted && (doubt.why === 'refused' || (doubt.why === 'not_mine' && doubt.epoch === epoch))) return undefined;
    // A process that has just started may be missing in the last reading.
    const isRead = isDoubted || instances.lifeOf(owner) !== 'alive' ? await this.#isRead() : true;
    const life = instances.lifeOf(owner);
    const home = instances.get(owner);
    if (home !== undefined && life === 'dead') return (await this.#isSilent(call, home)) ? undefined : home;
    if (home !== undefined && home.address !== '') return home;
    if (home === undefined && life === 'dead' && isRead) return undefined;
    throw new AppError('store_unavailable', 'a call belongs to a process that cannot be reached');
  }

  async #isRead(): Promise<boolean> {
    const beat = await waitAtMost(this.#options.instances.beat(), ASK_LIMIT_MS, this.#options.clock);
    return beat.kind === 'value' && beat.value;
  }

  /** Whether an instance that counts as dead does not answer either: it may only be cut off from the table. */
  async #isSilent(call: CallKey, { counter, ...home }: ReadInstance): Promise<boolean> {
    if (home.address === '' || this.#silent.get(home.id) === counter) return true;
    const answer = await this.#probe(home, callId(call), ASK_LIMIT_MS);
    if (answer !== undefined) return !answer;
    if (this.#silent.size >= MAX_SILENT) this.#silent.clear();
    this.#silent.set(home.id, counter);
    return true;
  }

  async #probeAll(call: CallKey, doubt: Doubt | undefined): Promise<Peer | undefined> {
    const { instances } = this.#options;
    const peers = instances.peers.filter(({ id }) => id !== doubt?.id || doubt.why === 'broken');
    const asked = peers.map(async (peer) => {
      if ((await this.#probe(peer, callId(call), PEERS_PATIENCE * ASK_LIMIT_MS)) !== true) throw new Error('the call does not live there');
      return peer;
    });
    return Promise.any(asked).catch(() => undefined);
  }

  /** @returns undefined when the peer does not answer. */
  async #probe(peer: Peer, id: string, limitMs: number): Promise<boolean | undefined> {
    const { probe, clock } = this.#options;
    const waited = await waitAtMost(probe(peer, id), limitMs, clock).catch(() => undefined);
    return waited?.kind === 'value' ? waited.value : undefined;
  }

  #claim(call: CallKey, request: Omit<ClaimRequest, 'owner' | 'heardAtMs'>): Promise<Claim> {
    const { directory, instances, clock } = this.#options;
    return this.#bounded(directory.claim(call, { ...request, owner: instances.self.id, heardAtMs: clock.nowMs() }));
  }

  async #bounded<T>(work: Promise<T>): Promise<T> {
    const waited = await waitAtMost(work, ASK_LIMIT_MS, this.#options.clock);
    if (waited.kind === 'value') return waited.value;
    throw new AppError('store_unavailable', 'the directory of calls did not answer in time');
  }
}

/** Converts the result of a search to a location. A forwarded turn is not forwarded again. */
export function located(found: Exclude<HomeFound, { readonly kind: 'mine' | 'unregistered' }>, { forwarded }: Asked): Located {
  if (found.kind === 'ended') return found;
  if (found.kind === 'nobody' || forwarded !== undefined) return { kind: 'not_mine' };
  return { kind: 'at_peer', home: found.home, isTaking: found.kind === 'to_take' };
}

/**
 * The answer of a process that has closed its homes while its peer port is still open. @throws AppError `store_unavailable` for a turn that
 * was not forwarded.
 */
export function closedTo({ forwarded }: Asked): { readonly kind: 'nobody' } {
  if (forwarded === undefined) throw new AppError('store_unavailable', 'this process takes no more calls');
  return { kind: 'nobody' };
}
