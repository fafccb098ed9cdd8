// The run in intervals of time, for charts. An interval is a second, or longer in a long run: a day must not become a hundred thousand
// points.
import type { CallFacts, WaitFact } from './call-facts.ts';
import { Histogram } from './histogram.ts';
import type { LoadResult, LoadSecond } from './load-result.ts';
import type { WorkerSecond } from './worker-messages.ts';

/** One sample of the metrics page of a server. */
export interface ServerSample {
  /** CPU time of the server since its process began, s. */
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  /** The server's open calls; undefined when its metrics page does not have them. */
  readonly sessions: number | undefined;
  /** When the sample was taken, ms. */
  readonly sampledAtMs: number;
}

class Stretch {
  readonly live = new Map<number, number>();
  started = 0;
  finished = 0;
  failed = 0;
  /** Created at the first wait: most intervals of a quiet run have no waits, and a long run has many intervals. */
  firstAudio: Histogram | undefined;
  replies: Histogram | undefined;
  generatorCpu = 0;
  /** `from`: the last sample before the interval, or else the first one in it. `to`: the last one in it. */
  server: { readonly from: ServerSample; to: ServerSample } | undefined;
  serverMb: number | null = null;
  serverSessions: number | null = null;
}

const MIN_STRETCH_MS = 1000;
const MAX_STRETCHES = 1200;
const MB = 2 ** 20;

export class SecondSeries {
  readonly stretchMs: number;
  readonly #stretches: Stretch[] = [];

  /** @param lengthMs - expected length of the run, ms. */
  constructor(lengthMs: number) {
    this.stretchMs = Math.max(MIN_STRETCH_MS, Math.ceil(lengthMs / MAX_STRETCHES / MIN_STRETCH_MS) * MIN_STRETCH_MS);
  }

  addWorker(worker: number, { live, started, cpu }: WorkerSecond, atMs: number): void {
    const stretch = this.#at(atMs);
    stretch.live.set(worker, Math.max(live, stretch.live.get(worker) ?? 0));
    stretch.started += started;
    stretch.generatorCpu = Math.max(stretch.generatorCpu, cpu);
  }

  addWait({ kind, fromMs, waitedMs }: WaitFact): void {
    const stretch = this.#at(fromMs);
    if (kind === 'first_audio') (stretch.firstAudio ??= Histogram.coarse()).record(waitedMs);
    else (stretch.replies ??= Histogram.coarse()).record(waitedMs);
  }

  addCall({ outcome }: CallFacts, atMs: number): void {
    const stretch = this.#at(atMs);
    stretch.finished += 1;
    if (outcome === 'failed') stretch.failed += 1;
  }

  addServer(sample: ServerSample, before: ServerSample | undefined, atMs: number): void {
    const stretch = this.#at(atMs);
    stretch.serverMb = Math.max(sample.residentBytes / MB, stretch.serverMb ?? 0);
    stretch.serverSessions = sample.sessions ?? null;
    stretch.server ??= { from: before ?? sample, to: sample };
    stretch.server.to = sample;
  }

  get seconds(): readonly LoadSecond[] {
    return this.#stretches.map((stretch, index) => {
      const { started, finished, failed, generatorCpu, serverMb, serverSessions } = stretch;
      const serverCpu = serverCpuOf(stretch);
      const first = orderOf(stretch.firstAudio);
      const reply = orderOf(stretch.replies);
      return {
        atS: (index * this.stretchMs) / 1000,
        live: liveOf(stretch),
        ...{ started, finished, failed },
        ...{ firstAudioP50: first.p50, firstAudioP99: first.p99, firstAudioMax: first.max },
        ...{ replyP50: reply.p50, replyP99: reply.p99, replyMax: reply.max },
        ...{ generatorCpu, serverCpu, serverMb, serverSessions },
      };
    });
  }

  liveBetween(fromMs: number, toMs: number): { readonly mean: number; readonly max: number } {
    const live = this.#between(fromMs, toMs).map(liveOf);
    return { mean: live.length === 0 ? 0 : sum(live) / live.length, max: Math.max(0, ...live) };
  }

  startedBetween(fromMs: number, toMs: number): number {
    const stretches = this.#between(fromMs, toMs);
    const lengthS = (stretches.length * this.stretchMs) / 1000;
    return lengthS === 0 ? 0 : sum(stretches.map(({ started }) => started)) / lengthS;
  }

  /** CPU and memory of the server; null without a measured CPU. */
  serverBetween(fromMs: number, toMs: number): LoadResult['server'] {
    const stretches = this.#between(fromMs, toMs);
    const cpu = stretches.flatMap((stretch) => serverCpuOf(stretch) ?? []);
    const memory = stretches.flatMap(({ serverMb }) => serverMb ?? []);
    if (cpu.length === 0) return null;
    return { cpuMean: sum(cpu) / cpu.length, cpuMax: Math.max(...cpu), memoryMaxMb: Math.max(0, ...memory) };
  }

  #between(fromMs: number, toMs: number): readonly Stretch[] {
    return this.#stretches.slice(Math.floor(fromMs / this.stretchMs), Math.max(1, Math.ceil(toMs / this.stretchMs)));
  }

  #at(atMs: number): Stretch {
    const index = Math.max(0, Math.floor(atMs / this.stretchMs));
    for (let next = this.#stretches.length; next <= index; next += 1) this.#stretches.push(new Stretch());
    return this.#stretches[index] ?? new Stretch();
  }
}

function liveOf({ live }: Stretch): number {
  return sum([...live.values()]);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** CPU of the server over all samples in the interval, as a part of one core. */
function serverCpuOf({ server }: Stretch): number | null {
  if (server === undefined || server.to.sampledAtMs <= server.from.sampledAtMs) return null;
  const { from, to } = server;
  return Math.max(0, (to.cpuSeconds - from.cpuSeconds) / ((to.sampledAtMs - from.sampledAtMs) / 1000));
}

function orderOf(waits: Histogram | undefined): Readonly<Record<'p50' | 'p99' | 'max', number | null>> {
  if (waits === undefined) return { p50: null, p99: null, max: null };
  return { p50: waits.at(50), p99: waits.at(99), max: waits.at(100) };
}
