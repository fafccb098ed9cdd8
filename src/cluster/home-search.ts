// Finds out where a call lives that does not live here: asks the directory, doubts what is dead, and asks the peers where the directory does
// not know. Remembers no calls.
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

/** Longest wait for one answer of the directory, or of one peer whose counter stands still, ms. */
export const ASK_LIMIT_MS = 250;
/**
 * How many times as long as the directory all peers together may take to say whether they have a call, when nobody else knows: without an
 * answer the caller is transferred.
 */
const PEERS_PATIENCE = 4;
/** Most silent instances that are remembered. */
const MAX_SILENT = 1000;

/** What a search needs. */
export interface HomeSearchOptions {
  readonly directory: CallDirectory;
  readonly instances: Instances;
  readonly probe: (peer: Peer, callId: string) => Promise<boolean>;
  readonly clock: Clock;
}

/** What a forwarded stream has shown of a peer. */
export interface Doubt {
  readonly id: string;
  /** Under which the peer was found to own the call; undefined when a probe found it. */
  readonly epoch: number | undefined;
  readonly why: ForwardLoss;
}

/** Where a call lives, as it was found. */
export type HomeFound =
  | { readonly kind: 'mine'; readonly epoch: number; readonly text: string | undefined }
  /** Here, and the directory does not know: it is away. */
  | { readonly kind: 'unregistered' }
  | { readonly kind: 'theirs'; readonly home: Peer; readonly epoch: number | undefined }
  /** Nobody has it, and this instance is not the one to take it. */
  | { readonly kind: 'to_take'; readonly home: Peer }
  | { readonly kind: 'ended' }
  /** Nobody has it, and this instance is not the one to take it, and no other one is. */
  | { readonly kind: 'nobody' };

type Theirs = Extract<Claim, { readonly kind: 'theirs' }>;

/** One for each process. */
export class HomeSearch {
  readonly #options: HomeSearchOptions;
  /** Counters of instances that stood still and did not answer a probe. */
  readonly #silent = new Map<string, number>();

  constructor(options: HomeSearchOptions) {
    this.#options = options;
  }

  /**
   * @param doubt - why the home that was known is asked for again.
   * @throws AppError `store_unavailable` where nobody can say, `state_unreadable` for a snapshot that cannot be restored here.
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

  /** Whether the directory gives the call to another one by now. @throws AppError `store_unavailable`. */
  async isTaken(call: CallKey, epoch: number): Promise<boolean> {
    const found = await this.#bounded(this.#options.directory.find(call));
    return found.kind === 'theirs' && found.owner !== this.#options.instances.self.id && found.epoch >= epoch;
  }

  /** A call that nobody has goes to a peer that takes calls. @returns undefined when this instance is to claim it, or to take it over. */
  async #findDraining(call: CallKey, asked: Asked, doubt: Doubt | undefined): Promise<HomeFound | undefined> {
    const { directory, instances } = this.#options;
    // One hop: it cannot go on to another one.
    if (asked.forwarded !== undefined) return { kind: 'nobody' };
    const found = await this.#bounded(directory.find(call)).catch(() => undefined);
    if (found?.kind === 'ended' && asked.opensWith !== 'start') return { kind: 'ended' };
    if (found?.kind === 'theirs') {
      // A claim whose answer was lost.
      if (found.owner === instances.self.id) return undefined;
      // No peer has seen of the home what this instance has: it would not take the call.
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

  /** Unknown is not new: the directory may have lost the call. */
  async #unknown(call: CallKey, asked: Asked, doubt: Doubt | undefined): Promise<HomeFound> {
    const home = await this.#probeAll(call, doubt);
    if (home !== undefined) return { kind: 'theirs', home, epoch: undefined };
    if (asked.opensWith === 'end') return { kind: 'ended' };
    return this.#concluded(call, asked, doubt, await this.#claim(call, { mayCreate: true }));
  }

  /** The directory is away: calls begin all the same, and others are searched where they were. */
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
    // Written by a newer program: one like it goes on with it.
    const given = { owner: instances.self.id, epoch, seq: 1, heardAtMs: this.#options.clock.nowMs(), isRelease: true };
    await this.#bounded(directory.save(call, given));
    const found = this.#toTake(call, doubt, formOf(text));
    if (found !== undefined) return found;
    throw new AppError('state_unreadable', 'the snapshot of a call was written by a newer version of the program', {
      details: { form: formOf(text), reads: instances.self.version },
    });
  }

  /** A peer that takes calls, for all turns of a call the same; of those that read no such form only when this instance would read it. */
  #toTake(call: CallKey, doubt: Doubt | undefined, form: number): HomeFound | undefined {
    const { instances } = this.#options;
    const willing = instances.peers.filter(({ id, isDraining }) => !isDraining && id !== doubt?.id);
    const reading = willing.filter(({ version }) => version >= form);
    const candidates = reading.length === 0 && form <= instances.self.version ? willing : reading;
    const drawn = createHash('sha256').update(callId(call)).digest().readUInt32BE();
    const home = [...candidates].sort((one, other) => (one.id < other.id ? -1 : 1))[drawn % candidates.length];
    return home === undefined ? undefined : { kind: 'to_take', home };
  }

  /** @returns undefined when the owner is dead, or has the call no more. @throws AppError `store_unavailable` when that cannot be said. */
  async #aliveHome(call: CallKey, { owner, epoch }: Theirs, doubt: Doubt | undefined): Promise<Peer | undefined> {
    const { instances } = this.#options;
    const isDoubted = doubt?.id === owner;
    if (isDoubted && (doubt.why === 'refused' || (doubt.why === 'not_mine' && doubt.epoch === epoch))) return undefined;
    // A process that has just started is not read yet.
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

  /** Whether an instance that the table takes for dead is: one that is only cut off from the table serves on. */
  async #isSilent(call: CallKey, { counter, ...home }: ReadInstance): Promise<boolean> {
    if (home.address === '' || this.#silent.get(home.id) === counter) return true;
    const answer = await this.#probe(home, callId(call), ASK_LIMIT_MS);
    if (answer !== undefined) return !answer;
    if (this.#silent.size >= MAX_SILENT) this.#silent.clear();
    this.#silent.set(home.id, counter);
    return true;
  }

  /** The first peer that has the call. */
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

/** What was found, for who asks. One hop: what was forwarded goes nowhere else. */
export function located(found: Exclude<HomeFound, { readonly kind: 'mine' | 'unregistered' }>, { forwarded }: Asked): Located {
  if (found.kind === 'ended') return found;
  if (found.kind === 'nobody' || forwarded !== undefined) return { kind: 'not_mine' };
  return { kind: 'elsewhere', home: found.home, isTaking: found.kind === 'to_take' };
}

/** What a process that has closed its homes says, while its peer port is still open. @throws AppError `store_unavailable` for turns of its own. */
export function closedTo({ forwarded }: Asked): { readonly kind: 'nobody' } {
  if (forwarded === undefined) throw new AppError('store_unavailable', 'this process takes no calls any more');
  return { kind: 'nobody' };
}
