// Callers as the one who orders them sees them: processes that hold calls and tell of each, and what all of them have heard
// so far.
import { fork, type ChildProcess } from 'node:child_process';
import { ODDITIES, verdictOf, type HeardCall, type Oddity, type Verdict } from './heard-call.ts';
import { compiledModule } from '../support/compiled-program.ts';
import type { CallersReport, CallersWish } from './caller-messages.ts';

/** Calls that one process holds at once, so that it keeps its pace. */
const CALLERS_PER_PROCESS = 150;
/** Longest time that the calls which run are given to end, ms; they say so by themselves long before. */
const END_LIMIT_MS = 90_000;
/** Most stories of calls that are kept. */
const MAX_STORIES = 50;

/** A silence inside a prompt that callers notice, ms. */
const LONG_GAP_MS = 200;

/** What callers have heard. */
export interface HeardSum {
  calls: number;
  turns: number;
  turnsRepeated: number;
  turnsReopened: number;
  turnsLost: number;
  gapsOver200Ms: number;
  maxGapMs: number;
  /** Longest wait for a reply, ms. */
  maxWaitMs: number;
  breaches: number;
  readonly verdicts: Record<Verdict, number>;
  readonly oddities: Record<Oddity, number>;
  readonly failures: Map<string, number>;
}

/** A call and when it began, ms since the epoch. */
export type PlacedCall = HeardCall & { readonly beganAtMs: number };

/** Running callers. Whoever starts them ends them. */
export class Callers {
  readonly #processes: readonly ChildProcess[];
  readonly #done: Promise<unknown>;
  readonly #endsInTransfer: boolean;
  readonly #running = new Map<number, number>();
  readonly calls: PlacedCall[] = [];
  readonly sum = emptySum();
  /** Of calls that were not whole, and of those with something odd. */
  readonly stories: string[] = [];
  /** The worst second of the callers themselves: how late a timer was, ms. */
  lateMs = 0;

  private constructor(wish: CallersWish, endsInTransfer: boolean) {
    this.#endsInTransfer = endsInTransfer;
    const count = wish.callers === undefined ? 1 : Math.max(1, Math.ceil(wish.callers / CALLERS_PER_PROCESS));
    const started = Array.from({ length: count }, (_, index) => this.#start(wish, index, count));
    this.#processes = started.map(({ child }) => child);
    this.#done = Promise.all(started.map(({ done }) => done));
    // Whoever ends them hears of it.
    this.#done.catch(() => undefined);
  }

  /** @param endsInTransfer - the server may turn calls away; a human then takes them. */
  static begin(wish: CallersWish, endsInTransfer = false): Callers {
    return new Callers(wish, endsInTransfer);
  }

  /** Calls at this moment. */
  get running(): number {
    return [...this.#running.values()].reduce((sum, each) => sum + each, 0);
  }

  /** No new calls; resolves when those that run are over. @throws Error when callers themselves failed. */
  async end(withinMs = END_LIMIT_MS): Promise<HeardSum> {
    for (const child of this.#processes) child.send({ kind: 'end', withinMs });
    try {
      await this.#done;
    } finally {
      this.kill();
    }
    return this.sum;
  }

  /** Ends them at once. */
  kill(): void {
    for (const child of this.#processes) child.kill('SIGKILL');
  }

  #start(wish: CallersWish, index: number, count: number): { readonly child: ChildProcess; readonly done: Promise<void> } {
    const child = fork(compiledModule('test/fleet/caller-process.ts'), { execArgv: [] });
    const done = new Promise<void>((resolve, reject) => {
      child.once('exit', (code, signal) => {
        reject(new Error(`callers have ended by themselves (${String(code ?? signal)})`));
      });
      child.on('message', (report: CallersReport) => {
        if (report.kind === 'call') this.#take(report.call, report.beganAtMs);
        else if (report.kind === 'pulse') {
          this.#running.set(index, report.running);
          this.lateMs = Math.max(this.lateMs, report.lateMs);
        } else if (report.kind === 'done') resolve();
        else reject(new Error(report.message));
      });
    });
    const callers = wish.callers === undefined ? {} : { callers: Math.floor((wish.callers + index) / count) };
    child.send({ kind: 'begin', wish: { ...wish, ...callers, seed: wish.seed + index } });
    return { child, done };
  }

  #take(call: HeardCall, beganAtMs: number): void {
    const verdict = verdictOf(call, this.#endsInTransfer);
    const { sum } = this;
    this.calls.push({ ...call, beganAtMs });
    sum.verdicts[verdict] += 1;
    if (verdict === 'broken_off') return;
    sum.calls += 1;
    sum.turns += call.answers;
    sum.turnsRepeated += call.turnsRepeated;
    sum.turnsReopened += call.turnsReopened;
    sum.turnsLost += call.turnsLost;
    sum.gapsOver200Ms += call.gapsMs.filter((ms) => ms > LONG_GAP_MS).length;
    sum.maxGapMs = Math.max(sum.maxGapMs, ...call.gapsMs);
    sum.maxWaitMs = Math.max(sum.maxWaitMs, ...call.waitsMs);
    sum.breaches += call.breaches.length;
    for (const oddity of call.oddities) sum.oddities[oddity] += 1;
    for (const failure of call.failures) sum.failures.set(failure, (sum.failures.get(failure) ?? 0) + 1);
    const isReported = (verdict !== 'whole' && verdict !== 'refused') || call.oddities.length > 0 || call.breaches.length > 0;
    if (isReported && this.stories.length < MAX_STORIES) this.stories.push(storyOf(call, verdict));
  }
}

/** Nothing heard yet. */
function emptySum(): HeardSum {
  // Each name gets its number.
  const zeros = <Name extends string>(names: readonly Name[]): Record<Name, number> =>
    Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
  return {
    ...{ calls: 0, turns: 0, turnsRepeated: 0, turnsReopened: 0, turnsLost: 0, gapsOver200Ms: 0, maxGapMs: 0, maxWaitMs: 0, breaches: 0 },
    verdicts: zeros(['whole', 'lost_between_turns', 'lost_in_turn', 'refused', 'broken_off']),
    oddities: zeros(ODDITIES),
    failures: new Map(),
  };
}

/** What callers heard, as lines of a table for people. */
export function heardTable(sum: HeardSum): readonly string[] {
  const rows: readonly (readonly [string, number])[] = [
    ['calls', sum.calls],
    ['  heard to their end', sum.verdicts.whole],
    ['  lost between turns', sum.verdicts.lost_between_turns],
    ['  lost in a turn', sum.verdicts.lost_in_turn],
    ['answers', sum.turns],
    ['turns said again', sum.turnsRepeated],
    ['turns opened again', sum.turnsReopened],
    ['turns lost for good', sum.turnsLost],
    ['gaps over 200 ms in a prompt', sum.gapsOver200Ms],
    ['longest gap, ms', Math.round(sum.maxGapMs)],
    ['longest wait for a reply, ms', Math.round(sum.maxWaitMs)],
    ['rules of the contract broken', sum.breaches],
    ...ODDITIES.map((name) => [`odd: ${name}`, sum.oddities[name]] as const).filter(([, count]) => count > 0),
    ...[...sum.failures].map(([failure, count]) => [`failure: ${failure}`.slice(0, 100), count] as const),
  ];
  return rows.map(([name, count]) => `${String(count).padStart(8)}  ${name}`);
}

function storyOf({ outcome, oddities, failures, breaches, story, turnsRepeated, turnsLost }: HeardCall, verdict: Verdict): string {
  const facts = [
    `${verdict}, ${outcome}`,
    `${String(turnsRepeated)} said again, ${String(turnsLost)} lost`,
    ...oddities,
    ...failures,
    ...breaches,
  ];
  return [facts.join('; '), ...story.map((line) => `    ${line}`)].join('\n');
}
