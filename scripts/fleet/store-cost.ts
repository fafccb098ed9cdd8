// What the shared store costs a turn: the same calls to one server that keeps them in memory and to one that keeps them in Redis,
// without anything between. Read from what callers waited, from the server's own times, and from what Redis counted.
import { setTimeout as pause } from 'node:timers/promises';
import { Callers } from '../../test/fleet/callers.ts';
import type { Program } from '../../test/fleet/replica.ts';
import { hundredths, median, percentileFigure } from '../bench/figures.ts';
import { onLoneServer } from './lone-server.ts';

/** How it is measured. */
export interface StoreCostPlan {
  readonly calls: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly program: Program;
  readonly seed: number;
  readonly onProgress: (line: string) => void;
}

/** What it came to. Times are ms. */
export interface StoreCost {
  readonly ok: boolean;
  /** From the last key of a caller to the reply, without and with Redis; all answers, medians of the rounds. */
  readonly memory: Waits;
  readonly redis: Waits;
  readonly addedP50Ms: number;
  readonly addedP99Ms: number;
  /** Round trips to Redis for each turn of the wire, and for each answer of the bot, by the server's own count. */
  readonly operationsPerTurn: number;
  readonly operationsPerAnswer: number;
  /** One round trip as the server measured it; the bound of its bucket. */
  readonly operationP50Ms: number;
  readonly operationP99Ms: number;
  /** Round trips by operation. */
  readonly operations: Readonly<Record<string, number>>;
  /** Commands that Redis ran for each answer, those inside scripts included. */
  readonly commandsPerAnswer: number;
}

interface Waits {
  readonly answers: number;
  readonly p50: number;
  readonly p99: number;
}

/** Longest added wait that is wanted, ms, and most round trips for each turn of the wire. */
const MAX_ADDED_P99_MS = 2;
const MAX_PER_TURN = 2;
/** Keys alone: speech waits for silence, which is longer than what is measured. */
const INPUTS = 8;
const SPREAD_MS = 3000;
/** Of the whole, what is not counted at the beginning: code is compiled then, ms. */
const WARM_UP_MS = 6000;

/** Measures it. Both take turns at going first, and what counts is the median of the rounds: a machine has better and worse minutes. */
export async function storeCost(plan: StoreCostPlan): Promise<StoreCost> {
  const rounds: { readonly memory: Measured; readonly redis: Measured }[] = [];
  for (let round = 1; round <= plan.rounds; round += 1) {
    plan.onProgress(`round ${String(round)} of ${String(plan.rounds)}`);
    const isRedisFirst = round % 2 === 0;
    const first = await measured(plan, isRedisFirst);
    const second = await measured(plan, !isRedisFirst);
    rounds.push(isRedisFirst ? { memory: second, redis: first } : { memory: first, redis: second });
  }
  const shared = rounds.map(({ redis }) => redis);
  const turns = sumOf(shared.map((redis) => redis.turns - redis.before.turns));
  const operations: Record<string, number> = {};
  for (const { before, after } of shared)
    for (const [name, count] of after) operations[name] = (operations[name] ?? 0) + count - (before.counts.get(name) ?? 0);
  const total = sumOf(Object.values(operations));
  const answers = Math.max(1, operations['commit'] ?? 0);
  const added = (part: 'p50' | 'p99'): number =>
    hundredths(median(rounds.map(({ memory, redis }) => redis.waits[part] - memory.waits[part])));
  const addedP99Ms = added('p99');
  const operationsPerTurn = hundredths(total / Math.max(1, turns));
  return {
    ok: addedP99Ms < MAX_ADDED_P99_MS && operationsPerTurn <= MAX_PER_TURN && answers > 1,
    memory: medianWaits(rounds.map(({ memory }) => memory.waits)),
    redis: medianWaits(shared.map(({ waits }) => waits)),
    addedP50Ms: added('p50'),
    addedP99Ms,
    operationsPerTurn,
    operationsPerAnswer: hundredths(total / answers),
    operationP50Ms: hundredths(median(shared.map(({ operationP50Ms }) => operationP50Ms))),
    operationP99Ms: hundredths(median(shared.map(({ operationP99Ms }) => operationP99Ms))),
    operations,
    commandsPerAnswer: hundredths(sumOf(shared.map(({ commands }) => commands)) / answers),
  };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, each) => sum + each, 0);
}

function medianWaits(waits: readonly Waits[]): Waits {
  const of = (figure: (each: Waits) => number): number => hundredths(median(waits.map(figure)));
  return { answers: sumOf(waits.map(({ answers }) => answers)), p50: of(({ p50 }) => p50), p99: of(({ p99 }) => p99) };
}

interface Measured {
  readonly waits: Waits;
  readonly before: { readonly counts: ReadonlyMap<string, number>; readonly turns: number };
  readonly after: ReadonlyMap<string, number>;
  readonly turns: number;
  readonly commands: number;
  readonly operationP50Ms: number;
  readonly operationP99Ms: number;
}

async function measured({ calls, seconds, program, seed, onProgress }: StoreCostPlan, isShared: boolean): Promise<Measured> {
  onProgress(`  ${isShared ? 'redis' : 'memory'}: ${String(calls)} calls, ${String(seconds)} s`);
  const flags = ['--log.level=warn', '--sessions.max=100000'];
  return onLoneServer({ program, isShared, isDirect: true, flags }, async (fleet, replica) => {
    const wish = {
      access: fleet.accessTo(replica),
      callers: calls,
      inputs: INPUTS,
      phrases: [],
      repeatsLostTurns: false,
      spreadMs: SPREAD_MS,
      seed,
    };
    const callers = Callers.begin(wish);
    await pause(WARM_UP_MS);
    const firstCounted = callers.calls.length;
    await fleet.redis.ask('CONFIG', 'RESETSTAT');
    const before = await replica.metrics();
    await pause(seconds * 1000);
    const after = await replica.metrics();
    const commands = [...(await fleet.redis.commandCounts())]
      .filter(([name]) => !HOUSEKEEPING.has(name))
      .reduce((sum, [, count]) => sum + count, 0);
    await callers.end();
    // Calls that were already under way are counted whole: the warm-up is longer than what is compiled.
    const times = callers.calls.slice(firstCounted).flatMap(({ waitsMs }) => waitsMs);
    return {
      waits: { answers: times.length, p50: percentileFigure(times, 0.5), p99: percentileFigure(times, 0.99) },
      before: { counts: operationCounts(before), turns: turnsIn(before) },
      after: operationCounts(after),
      turns: turnsIn(after),
      commands,
      operationP50Ms: bucketPercentile(before, after, 0.5),
      operationP99Ms: bucketPercentile(before, after, 0.99),
    };
  });
}

/** What this measurement itself asks. */
const HOUSEKEEPING: ReadonlySet<string> = new Set(['info', 'config|resetstat', 'ping']);

function operationCounts(page: string): ReadonlyMap<string, number> {
  const lines = page.matchAll(/^parley_store_operation_seconds_count\{operation="(?<name>\w+)"\} (?<count>\d+)/gmu);
  return new Map([...lines].map(({ groups }) => [groups?.['name'] ?? '', Number(groups?.['count'])]));
}

function turnsIn(page: string): number {
  const lines = page.matchAll(/^parley_turns_ended_total(?:\{[^}]*\})? (?<count>\d+)/gmu);
  return [...lines].reduce((sum, { groups }) => sum + Number(groups?.['count']), 0);
}

/** The bound of the bucket in which so many of the operations between two readings lie, ms. */
function bucketPercentile(before: string, after: string, part: number): number {
  const bucketsOf = (page: string): ReadonlyMap<number, number> => {
    const buckets = new Map<number, number>();
    for (const { groups } of page.matchAll(
      /^parley_store_operation_seconds_bucket\{le="(?<le>[^"]+)",operation="\w+"\} (?<count>\d+)/gmu,
    )) {
      const bound = groups?.['le'] === '+Inf' ? Infinity : Number(groups?.['le']);
      buckets.set(bound, (buckets.get(bound) ?? 0) + Number(groups?.['count']));
    }
    return buckets;
  };
  const was = bucketsOf(before);
  const counts = [...bucketsOf(after)].map(([bound, count]) => [bound, count - (was.get(bound) ?? 0)] as const).sort(([a], [b]) => a - b);
  const all = counts.at(-1)?.[1] ?? 0;
  const [bound = 0] = counts.find(([, count]) => count >= all * part) ?? [];
  return hundredths(bound * 1000);
}
