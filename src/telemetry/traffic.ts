// Traffic of the last hour, in slots of half a minute, for people who look at a server without Prometheus. Counts only.
import type { Clock } from '../base/clock.ts';
import type { SessionObserver } from '../session/ports.ts';
import { LATENCY_BUCKETS_S } from './call-metrics.ts';
import { quantile } from './quantiles.ts';

/** Length of a slot, ms. */
export const SLOT_MS = 30_000;
const SLOTS = 120;

interface Counts {
  started: number;
  ended: number;
  refused: number;
  turns: number;
  failed: number;
  /** Replies by latency: one count for each bucket, the last one above all bounds. */
  readonly latency: number[];
}

/** The counts of one slot. */
export type TrafficSlot = Readonly<Omit<Counts, 'latency'>> & { readonly atMs: number; readonly latency: readonly number[] };

/** Counts calls. An observer of the engine. */
export class Traffic implements SessionObserver {
  readonly #clock: Clock;
  /** By number of the slot since the epoch, the oldest first. */
  readonly #slots = new Map<number, Counts>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The slots in which anything was counted, the oldest first. */
  get slots(): readonly TrafficSlot[] {
    const first = this.#number() - SLOTS;
    return [...this.#slots].flatMap(([number, counts]) => (number > first ? { atMs: number * SLOT_MS, ...counts } : []));
  }

  callRefused(): void {
    this.#now().refused += 1;
  }

  sessionStarted(_call: unknown, isContinued = false): void {
    if (!isContinued) this.#now().started += 1;
  }

  sessionEnded(_call: unknown, end: string): void {
    if (end !== 'moved') this.#now().ended += 1;
  }

  turnEnded(): void {
    this.#now().turns += 1;
  }

  botFailed(): void {
    this.#now().failed += 1;
  }

  replyStarted(_call: unknown, _turnId: string, latencyMs: number): void {
    const found = LATENCY_BUCKETS_S.findIndex((bound) => latencyMs <= bound * 1000);
    const bucket = found === -1 ? LATENCY_BUCKETS_S.length : found;
    const { latency } = this.#now();
    latency[bucket] = (latency[bucket] ?? 0) + 1;
  }

  #number(): number {
    return Math.floor(this.#clock.nowMs() / SLOT_MS);
  }

  #now(): Counts {
    const number = this.#number();
    const known = this.#slots.get(number);
    if (known !== undefined) return known;
    const counts = { started: 0, ended: 0, refused: 0, turns: 0, failed: 0, latency: noReplies() };
    this.#slots.set(number, counts);
    const [oldest] = this.#slots.keys();
    if (this.#slots.size > SLOTS && oldest !== undefined) this.#slots.delete(oldest);
    return counts;
  }
}

/** The sum over several processes. */
export function joinedTraffic(seen: readonly (readonly TrafficSlot[])[]): readonly TrafficSlot[] {
  const joined = new Map<number, TrafficSlot>();
  for (const one of seen.flat()) {
    const { started, ended, refused, turns, failed, latency } = joined.get(one.atMs) ?? NOTHING;
    joined.set(one.atMs, {
      atMs: one.atMs,
      started: one.started + started,
      ended: one.ended + ended,
      refused: one.refused + refused,
      turns: one.turns + turns,
      failed: one.failed + failed,
      latency: latency.map((count, bucket) => count + (one.latency[bucket] ?? 0)),
    });
  }
  return [...joined.values()].sort((one, other) => one.atMs - other.atMs);
}

/** Quantiles of the latency of replies, ms. */
export function latencyIn(slots: readonly TrafficSlot[]): { count: number; p50Ms?: number; p95Ms?: number; p99Ms?: number } {
  const counts = noReplies().map((_, bucket) => slots.reduce((sum, { latency }) => sum + (latency[bucket] ?? 0), 0));
  const ms = (part: number): number => Math.round((quantile(part, LATENCY_BUCKETS_S, counts) ?? 0) * 1000);
  const count = counts.reduce((sum, each) => sum + each, 0);
  return count === 0 ? { count } : { count, p50Ms: ms(0.5), p95Ms: ms(0.95), p99Ms: ms(0.99) };
}

function noReplies(): number[] {
  return Array.from({ length: LATENCY_BUCKETS_S.length + 1 }, () => 0);
}

const NOTHING: Omit<TrafficSlot, 'atMs'> = { started: 0, ended: 0, refused: 0, turns: 0, failed: 0, latency: noReplies() };
