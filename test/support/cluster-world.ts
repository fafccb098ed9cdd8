// Several processes of a cluster in one: each with a clock of its own and a line to what they share, an engine that counts turns, and peers
// that can be killed, frozen and cut off. Forwards turns as a server does.
import { afterEach, beforeEach, expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { CallHomes, type CallHomesOptions } from '../../src/cluster/call-homes.ts';
import type { CallDirectory } from '../../src/cluster/call-directory.ts';
import { BEAT_MS, Instances } from '../../src/cluster/instances.ts';
import type { Asked, Located, Peer } from '../../src/dialog/home.ts';
import { MemoryDirectory } from './memory-directory.ts';
import { MemoryInstances } from './memory-instances.ts';
import { callId, type CallKey } from '../../src/dialog/call.ts';
import { ClusterLine } from './cluster-line.ts';
import { FakeClock, flushMicrotasks } from './fake-clock.ts';

/** Of a clock, ms. */
const STEP_MS = 50;
/** Longest that a turn may take to find its home, ms. */
const TURN_LIMIT_MS = 20_000;
/** As often as a turn is forwarded. */
const MAX_ATTEMPTS = 5;
export const TTL_MS = 600_000;
export const MAX_SNAPSHOT_BYTES = 1000;
export const SWEEP_MS = 60_000;

/** What became of a turn. */
export interface Turned {
  /** The process that answered it; undefined when the call is over. */
  readonly at: string | undefined;
  /** How many turns the session had with it; 1 for one that has just begun. */
  readonly turns: number;
}

type Opens = Asked['opensWith'];

/** All processes, and what they share. */
export class ClusterWorld {
  readonly clock = new FakeClock();
  readonly processes = new Map<string, ClusterProcess>();
  directory: MemoryDirectory = this.#newDirectory();
  table = new MemoryInstances();
  readonly #waiting: (() => void)[] = [];

  /** What the processes share is there again, and empty. */
  empty(): void {
    this.directory = this.#newDirectory();
    this.table = new MemoryInstances();
  }

  /** Starts a process. */
  async start(id: string, change: Partial<CallHomesOptions> & { readonly version?: number } = {}): Promise<ClusterProcess> {
    const process = new ClusterProcess(this, id, change);
    this.processes.set(id, process);
    await process.instances.start();
    return process;
  }

  process(id: string): ClusterProcess {
    const process = this.processes.get(id);
    if (process === undefined) throw new Error(`no process ${id}`);
    return process;
  }

  /** Lets time pass for all that are not frozen. */
  async pass(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= STEP_MS) {
      const stepMs = Math.min(STEP_MS, leftMs);
      this.clock.advance(stepMs);
      for (const process of this.processes.values()) process.pass(stepMs);
      for (const resolve of this.#waiting.splice(0)) resolve();
      await flushMicrotasks();
    }
  }

  /** Resolves when some time has passed. */
  stepped(): Promise<undefined> {
    return new Promise((resolve) => {
      this.#waiting.push(() => {
        resolve(undefined);
      });
    });
  }

  /** What `work` brings while time passes. */
  async during<T>(work: T | Promise<T>): Promise<T> {
    const run = { isOver: false };
    const end = (): void => {
      run.isOver = true;
    };
    Promise.resolve(work).then(end, end);
    await flushMicrotasks();
    for (let ms = 0; ms < TURN_LIMIT_MS; ms += STEP_MS) {
      if (run.isOver) return work;
      await this.pass(STEP_MS);
    }
    throw new Error('it takes too long');
  }

  /** One turn of a call that arrives at a process. */
  turn(at: string, call: CallKey, opensWith: Opens = 'input'): Promise<Turned> {
    return this.during(this.begin(at, call, opensWith));
  }

  async stop(): Promise<void> {
    for (const process of this.processes.values()) await this.during(process.stop());
  }

  /** One turn of a call that arrives at a process, while time passes by other hands. */
  async begin(at: string, call: CallKey, opensWith: Opens = 'input'): Promise<Turned> {
    const process = this.process(at);
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const located = await process.homes.locate(call, { opensWith });
      if (located.kind !== 'at_peer') return process.answer(call, opensWith, located);
      const { home, isTaking } = located;
      const peer = this.process(home.id);
      if (!peer.isRunning || process.isCutFrom(peer)) {
        process.homes.lost(call, home, 'refused');
        continue;
      }
      const there = await process.forward(peer, async () => {
        const found = await peer.homes.locate(call, { opensWith, forwarded: { isTaking } });
        return found.kind === 'not_mine' ? 'not_mine' : peer.answer(call, opensWith, found);
      });
      if (typeof there !== 'string') return there;
      process.homes.lost(call, home, there);
    }
    throw new Error('nobody takes the turn');
  }

  #newDirectory(): MemoryDirectory {
    return new MemoryDirectory({ clock: this.clock, ttlMs: TTL_MS });
  }
}

/** One of them. */
export class ClusterProcess {
  readonly id: string;
  readonly clock = new FakeClock();
  readonly line = new ClusterLine();
  readonly instances: Instances;
  readonly homes: CallHomes;
  /** Turns of the sessions that live here. */
  readonly sessions = new Map<string, number>();
  /** Calls that were taken from it. */
  readonly taken: string[] = [];
  readonly logged: string[] = [];
  isRunning = true;
  isFrozen = false;
  readonly #world: ClusterWorld;
  readonly #cutFrom = new Set<string>();
  #missedMs = 0;

  constructor(world: ClusterWorld, id: string, { version = 1, ...change }: Partial<CallHomesOptions> & { readonly version?: number }) {
    this.id = id;
    this.#world = world;
    const log = createLogger({ level: 'info', destination: { write: (line: string) => void this.logged.push(line) } });
    const { clock } = this;
    // Whatever is shared now: it may be lost.
    const table = this.line.tableOf({
      beat: (entry, heard) => world.table.beat(entry, heard),
      notify: (other, taken) => world.table.notify(other, taken),
      remove: (gone) => world.table.remove(gone),
    });
    const directory: CallDirectory = this.line.directoryOf({
      claim: (call, request) => world.directory.claim(call, request),
      find: (call) => world.directory.find(call),
      save: (call, saved) => world.directory.save(call, saved),
      register: (call, late) => world.directory.register(call, late),
      forget: (call, ownership) => world.directory.forget(call, ownership),
      touch: (call) => world.directory.touch(call),
    });
    const self = { id, address: `${id}:1`, certificate: id, version };
    this.instances = new Instances({ table, self, clock, log });
    const probe = (peer: Peer, call: string): Promise<boolean> => this.#probe(peer, call);
    const limits = { maxSnapshotBytes: MAX_SNAPSHOT_BYTES, ttlMs: TTL_MS, sweepMs: SWEEP_MS };
    const isInUse = (call: CallKey): boolean => this.sessions.has(callId(call));
    this.homes = new CallHomes({ directory, instances: this.instances, probe, clock, log, isInUse, ...limits, ...change });
    this.homes.onTaken((call) => {
      this.taken.push(callId(call));
      this.sessions.delete(callId(call));
    });
  }

  pass(ms: number): void {
    if (!this.isRunning) return;
    if (this.isFrozen) this.#missedMs += ms;
    else this.clock.advance(ms);
  }

  /** Gone at once: its peer port refuses. */
  kill(): void {
    this.isRunning = false;
    this.sessions.clear();
    this.line.state = 'hanging';
  }

  /** It stands still. */
  freeze(): void {
    this.isFrozen = true;
    this.line.state = 'hanging';
  }

  /** It goes on, and the clock has gone on. */
  thaw(): void {
    this.isFrozen = false;
    this.line.state = 'up';
    this.clock.jump(this.#missedMs);
    this.#missedMs = 0;
  }

  /** Neither hears the other. */
  cut(other: ClusterProcess, isCut = true): void {
    for (const [one, another] of [[this, other] as const, [other, this] as const]) {
      if (isCut) one.#cutFrom.add(another.id);
      else one.#cutFrom.delete(another.id);
    }
  }

  isCutFrom({ id }: ClusterProcess): boolean {
    return this.#cutFrom.has(id);
  }

  /** What a session here makes of a turn. */
  answer(call: CallKey, opensWith: Opens, located: Located): Turned {
    if (located.kind === 'not_mine' || located.kind === 'at_peer') throw new Error('it does not live here');
    if (located.kind === 'ended') return { at: undefined, turns: 0 };
    const id = callId(call);
    const before = this.sessions.get(id) ?? Number(located.restored?.snapshot['turns'] ?? 0);
    if (opensWith === 'end') {
      this.sessions.delete(id);
      this.homes.forget(call);
      return { at: this.id, turns: before };
    }
    const turns = opensWith === 'start' ? 1 : before + 1;
    this.sessions.set(id, turns);
    this.homes.save(call, { turns });
    return { at: this.id, turns };
  }

  /** Lets a call go, as a drain does between two turns. */
  async release(call: CallKey): Promise<void> {
    const turns = this.sessions.get(callId(call)) ?? 0;
    this.sessions.delete(callId(call));
    await this.homes.release(call, { turns });
  }

  /** What a peer makes of a stream, unless the stream breaks before: the peer is killed, cut off, or counts as dead here. */
  async forward<T>(peer: ClusterProcess, work: () => Promise<T>): Promise<T | 'broken'> {
    // A frozen one takes the stream in when it thaws.
    const worked = peer.isFrozen ? peer.#thawed().then(work) : work();
    for (;;) {
      const answer = await Promise.race([worked, this.#world.stepped()]);
      if (!peer.isRunning || this.isCutFrom(peer)) return 'broken';
      if (peer.isFrozen && this.instances.lifeOf(peer.id) !== 'alive') return 'broken';
      if (answer !== undefined && !peer.isFrozen) return answer;
    }
  }

  async #thawed(): Promise<void> {
    while (this.isFrozen) await this.#world.stepped();
  }

  async stop(): Promise<void> {
    if (this.isFrozen) this.thaw();
    this.line.state = this.isRunning ? 'up' : 'away';
    await this.homes.close();
    await this.instances.close();
  }

  async #probe({ id }: Peer, call: string): Promise<boolean> {
    const peer = this.#world.process(id);
    if (!peer.isRunning || this.isCutFrom(peer)) throw new Error('refused');
    await peer.#thawed();
    return peer.homes.has(call);
  }
}

/** Two processes that know each other, for each test of a file; behind it none of those that run has a timer left. */
export function forEachTwoProcesses(
  started: (two: { readonly world: ClusterWorld; readonly one: ClusterProcess; readonly other: ClusterProcess }) => void,
): void {
  let world: ClusterWorld;
  beforeEach(async () => {
    world = new ClusterWorld();
    started({ world, one: await world.start('one'), other: await world.start('other') });
    await world.pass(3 * BEAT_MS);
  });
  afterEach(async () => {
    await world.stop();
    for (const process of world.processes.values()) if (process.isRunning) expect(process.clock.pendingTimers).toBe(0);
  });
}
