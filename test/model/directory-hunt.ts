// Random courses of two to four processes that share calls: turns arrive anywhere while processes die, freeze, thaw, are cut off from each other
// and lose the directory. Whatever happens, a call never has two homes for longer than its old one needs to hear of the new one, and never
// none: when all is well again, every turn finds the one home, and what was said before.
import { seededNumbers } from '../../src/base/seeded-numbers.ts';
import { AppError } from '../../src/base/errors.ts';
import { BEAT_MS } from '../../src/cluster/instances.ts';
import { callId, type CallKey } from '../../src/dialog/call.ts';
import { ClusterWorld, type ClusterProcess } from '../support/cluster-world.ts';
import type { Hunt } from './hunt.ts';

const STEPS = 240;
const STEP_MS = 50;
/** Between a takeover and the beat with which the old owner reads of it: the telling takes no beat of its own. */
const TWO_HOMES_MS = BEAT_MS + 2 * STEP_MS;
/** Until what happened while a line was not up is settled: registered with one beat, read with the next one. */
const SETTLED_MS = 2 * BEAT_MS + 2 * STEP_MS;
/** Of a course that fails. */
const TOLD = 100;
const LINES = ['away', 'hanging', 'answers_lost'] as const;

/** Plays `runs` courses, each from the seed behind the one before, until one goes wrong. */
export async function huntDirectory(runs: number, seed: number): Promise<Hunt> {
  for (let course = 0; course < runs; course += 1) {
    const faults = await new Course(seed + course).run();
    if (faults.length > 0) {
      const found = { wrong: faults.at(-1) ?? '', seed: seed + course, exchange: faults };
      return { interleavings: course + 1, found };
    }
  }
  return { interleavings: runs, found: undefined };
}

/** One course, drawn from a seed. */
class Course {
  readonly world = new ClusterWorld();
  readonly #draw: () => number;
  readonly #calls: readonly CallKey[];
  /** Calls that were answered by a process that could write them down, and did. */
  readonly #kept = new Set<string>();
  /** What happened, for whoever reads a failure. */
  readonly #story: string[] = [];
  readonly #faults: string[] = [];
  /** Since when a call has two homes that can hear of each other, ms, by call and pair. */
  readonly #doubleSinceMs = new Map<string, number>();
  /** When a process was last out of touch with the directory, ms. */
  readonly #outOfTouchMs = new Map<string, number>();
  #processes = 0;
  #underWay = 0;
  #wasEmptied = false;

  constructor(seed: number) {
    this.#draw = seededNumbers(seed);
    this.#calls = Array.from({ length: 1 + this.#below(3) }, (_, index) => ({
      organizationId: 'org',
      conversationId: `call ${String(index)}`,
    }));
  }

  /** @returns what went wrong, with what had happened before. */
  async run(): Promise<readonly string[]> {
    const { world } = this;
    for (let count = 2 + this.#below(3); count > 0; count -= 1) await this.#start();
    await world.pass(3 * BEAT_MS);
    for (const call of this.#calls) this.#turn(call, 'start');
    for (let step = 0; step < STEPS; step += 1) {
      await this.#happen();
      await world.pass(STEP_MS);
      this.#watch();
    }
    await this.#mend();
    // Who has claimed a call and has not heard that it got it finds out with its next turn, and tells the one before.
    for (const call of this.#calls) await this.world.turn(this.#one().id, call);
    await this.world.pass(2 * BEAT_MS);
    for (const call of this.#calls) await this.#demandOneHome(call);
    await world.stop();
    return this.#faults.length === 0 ? [] : [...this.#story.slice(-TOLD), ...this.#faults];
  }

  async #happen(): Promise<void> {
    const drawn = this.#draw();
    const process = this.#one();
    const other = this.#one();
    if (drawn < 0.3) this.#turn(this.#calls[this.#below(this.#calls.length)] ?? never(), 'input');
    else if (drawn < 0.31) await this.#kill(process);
    else if (drawn < 0.33) this.#freeze(process);
    else if (drawn < 0.36) for (const frozen of this.#running.filter(({ isFrozen }) => isFrozen)) this.#thaw(frozen);
    else if (drawn < 0.38) this.#cut(process, other, true);
    else if (drawn < 0.41) this.#cut(process, other, false);
    else if (drawn < 0.43) this.#line(process, LINES[this.#below(LINES.length)] ?? never());
    else if (drawn < 0.45) for (const each of this.#running) this.#line(each, LINES[this.#below(LINES.length)] ?? never());
    else if (drawn < 0.5) for (const each of this.#running) this.#line(each, 'up');
    else if (drawn < 0.504) this.#empty();
    else if (drawn < 0.52) this.#release(process);
  }

  /** A turn that arrives at some process; it is waited for by nobody. */
  #turn(call: CallKey, opensWith: 'start' | 'input'): void {
    const process = this.#one();
    if (process.isFrozen) return;
    const said = `${opensWith} of ${call.conversationId} at ${process.id}`;
    this.#tell(said);
    this.#underWay += 1;
    this.world
      .begin(process.id, call, opensWith)
      .then(
        ({ at, turns }) => {
          this.#tell(`${said}: answered by ${String(at)}, ${String(turns)}`);
          if (at === undefined) this.#faults.push(`${said}: the call is over`);
        },
        (error: unknown) => {
          this.#tell(`${said}: ${String(error)}`);
          if (error instanceof AppError && error.code === 'store_unavailable') return;
          if (String(error).includes('nobody takes the turn')) return;
          this.#faults.push(`${said}: ${String(error)}`);
        },
      )
      .finally(() => {
        this.#underWay -= 1;
      });
  }

  async #kill(process: ClusterProcess): Promise<void> {
    if (this.#wasEmptied || this.#running.length < 2) return;
    this.#tell(`${process.id} dies`);
    process.kill();
    // What it knew alone is gone with it.
    await this.#start();
  }

  #freeze(process: ClusterProcess): void {
    if (process.isFrozen || this.#wasEmptied) return;
    this.#tell(`${process.id} freezes`);
    process.freeze();
  }

  #thaw(process: ClusterProcess): void {
    this.#tell(`${process.id} thaws`);
    process.thaw();
  }

  #cut(process: ClusterProcess, other: ClusterProcess, isCut: boolean): void {
    if (process === other || (isCut && this.#wasEmptied)) return;
    this.#tell(`${process.id} and ${other.id} are ${isCut ? 'cut' : 'joined'}`);
    process.cut(other, isCut);
  }

  #line(process: ClusterProcess, state: ClusterProcess['line']['state']): void {
    if (process.isFrozen || process.line.state === state) return;
    this.#tell(`the directory is ${state} for ${process.id}`);
    process.line.state = state;
  }

  /** Only a home that lives knows a call that the directory has lost: from then on nobody dies, and what nobody has is lost with it. */
  #empty(): void {
    if (this.#running.some((process) => process.isFrozen || this.#running.some((other) => process.isCutFrom(other)))) return;
    this.#tell('the directory is empty');
    this.#wasEmptied = true;
    this.world.empty();
    // Their lines are as if they had just come back.
    for (const { id } of this.#running) this.#outOfTouchMs.set(id, this.world.clock.monotonicMs() + BEAT_MS);
    for (const call of this.#calls) if (!this.#running.some(({ sessions }) => sessions.has(callId(call)))) this.#kept.delete(callId(call));
  }

  #release(process: ClusterProcess): void {
    if (process.isFrozen || this.#wasEmptied) return;
    for (const call of this.#calls.filter((each) => process.sessions.has(callId(each)))) {
      this.#tell(`${process.id} releases ${call.conversationId}`);
      void process.release(call);
    }
  }

  #watch(): void {
    const nowMs = this.world.clock.monotonicMs();
    for (const { id, line, isFrozen } of this.#running) if (isFrozen || line.state !== 'up') this.#outOfTouchMs.set(id, nowMs);
    for (const call of this.#calls) {
      const id = callId(call);
      const homes = this.#running.filter(({ sessions, isFrozen }) => !isFrozen && sessions.has(id));
      const inTouch = homes.filter(({ id: name }) => nowMs - (this.#outOfTouchMs.get(name) ?? -Infinity) > SETTLED_MS);
      this.#watchPairs(
        call,
        inTouch.map(({ id: name }) => name),
        nowMs,
      );
      if (inTouch.length > 0) this.#kept.add(id);
    }
  }

  /** A call may be taken again and again, each time by another one. */
  #watchPairs({ conversationId }: CallKey, homes: readonly string[], nowMs: number): void {
    const pairs = homes.flatMap((one, index) => homes.slice(index + 1).map((other) => `${conversationId} lives at ${one} and ${other}`));
    for (const known of [...this.#doubleSinceMs.keys()].filter((pair) => pair.startsWith(`${conversationId} `))) {
      if (!pairs.includes(known)) this.#doubleSinceMs.delete(known);
    }
    for (const pair of pairs) {
      const sinceMs = this.#doubleSinceMs.get(pair) ?? nowMs;
      this.#doubleSinceMs.set(pair, sinceMs);
      if (nowMs - sinceMs > TWO_HOMES_MS) this.#faults.push(`${String(nowMs)}: ${pair}`);
    }
  }

  /** All is well again, and has been for a while. */
  async #mend(): Promise<void> {
    this.#tell('all is well');
    for (const process of this.#running) {
      if (process.isFrozen) process.thaw();
      process.line.state = 'up';
      for (const other of this.#running) process.cut(other, false);
    }
    // Longer than streams to a frozen home wait.
    for (let beat = 0; beat < 8; beat += 1) await this.world.pass(BEAT_MS);
    const stuck = this.#underWay;
    await this.world.pass(BEAT_MS);
    this.#tell(`${String(stuck)} turns under way`);
  }

  async #demandOneHome(call: CallKey): Promise<void> {
    const { conversationId } = call;
    const homes = this.#running.filter(({ sessions }) => sessions.has(callId(call))).map(({ id }) => id);
    if (homes.length > 1) this.#faults.push(`${conversationId} lives at ${homes.join(' and ')} in the end`);
    const owners = new Set<string | undefined>();
    for (const { id } of this.#running) {
      const { at, turns } = await this.world.turn(id, call);
      owners.add(at);
      this.#tell(`${conversationId} at ${id}: answered by ${String(at)}, ${String(turns)}`);
      if (turns < 2 && this.#kept.has(callId(call))) this.#faults.push(`${conversationId} has begun over`);
      this.#kept.add(callId(call));
    }
    if (owners.size !== 1) this.#faults.push(`${conversationId} is answered by ${[...owners].join(' and ')}`);
  }

  async #start(): Promise<void> {
    this.#processes += 1;
    await this.world.start(String.fromCharCode(64 + this.#processes));
  }

  get #running(): readonly ClusterProcess[] {
    return [...this.world.processes.values()].filter(({ isRunning }) => isRunning);
  }

  #one(): ClusterProcess {
    return this.#running[this.#below(this.#running.length)] ?? never();
  }

  #below(limit: number): number {
    return Math.floor(this.#draw() * limit);
  }

  #tell(what: string): void {
    this.#story.push(`${String(this.world.clock.monotonicMs())}: ${what}`);
  }
}

function never(): never {
  throw new Error('nothing to draw from');
}
