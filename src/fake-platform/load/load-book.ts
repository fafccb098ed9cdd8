// The records of a run: adds the reports that workers send every second, and computes the result at any time. Knows no process and no
// clock.
import { isRefused, type CallFacts, type WaitFact } from './call-facts.ts';
import { Histogram } from './histogram.ts';
import type { LoadResult, Times } from './load-result.ts';
import type { WorkerLoad } from './saturation.ts';
import { SecondSeries, type ServerSample } from './second-series.ts';
import type { WorkerSecond } from './worker-messages.ts';
import type { LevelTime } from './load-shape.ts';

/** Options of {@link LoadBook}. */
export interface LoadBookOptions {
  readonly workers: number;
  /** The measured part of the run, ms since it began: calls and waits count if they began in it. */
  readonly countedFromMs: number;
  readonly countedToMs: number;
}

const LONG_GAP_MS = 100;
/** Most lines for failures. */
const MAX_FAILURE_LINES = 50;

class WorkerAccount {
  live = 0;
  readonly timerLateness = Histogram.coarse();
  readonly startLateness = Histogram.coarse();
  loopDelayMaxMs = 0;
  residentBytes = 0;
  missed = 0;
  /** CPU time, and reported time, both within the measured part, ms. */
  #cpuMs = 0;
  #reportedMs = 0;

  /** @param countedMs - how much of the reported time is in the measured part, ms. */
  add(second: WorkerSecond, countedMs: number): void {
    this.live = second.live;
    this.residentBytes = Math.max(this.residentBytes, second.residentBytes);
    // Arrivals without room always count, even outside the measured part.
    this.missed += second.missed;
    if (countedMs <= 0) return;
    this.timerLateness.add(Histogram.decoded(second.timerLateness));
    this.startLateness.add(Histogram.decoded(second.startLateness));
    this.loopDelayMaxMs = Math.max(this.loopDelayMaxMs, second.loopDelayMaxMs);
    this.#cpuMs += second.cpu * countedMs;
    this.#reportedMs += countedMs;
  }

  /** Whether the worker reported nothing about the measured part. */
  get isSilent(): boolean {
    return this.#reportedMs === 0;
  }

  get load(): WorkerLoad {
    return {
      cpu: this.isSilent ? 0 : this.#cpuMs / this.#reportedMs,
      timerLateness: this.timerLateness.percentiles,
      startLateness: this.startLateness.percentiles,
      loopDelayMaxMs: this.loopDelayMaxMs,
      residentBytes: this.residentBytes,
      missed: this.missed,
    };
  }
}

export class LoadBook {
  readonly #options: LoadBookOptions;
  readonly #workers: readonly WorkerAccount[];
  readonly #series: SecondSeries;
  readonly #waits: Readonly<Record<WaitFact['kind'], Histogram>> = {
    first_audio: Histogram.empty(),
    speech_reply: Histogram.empty(),
    key_reply: Histogram.empty(),
    silence_reply: Histogram.empty(),
  };
  readonly #gaps = Histogram.empty();
  readonly #calls = { finished: 0, failed: 0, refused: 0, unheard: 0, brokenOff: 0 };
  readonly #turns = { replies: 0, failed: 0 };
  readonly #lostTurns = { turnsRepeated: 0, turnsReopened: 0, turnsLost: 0 };
  readonly #sound = { compared: 0, wrong: 0, short: 0, unknown: 0 };
  readonly #breaches = new Map<string, number>();
  readonly #failures = new Map<string, LoadResult['failures'][number]>();
  readonly #lengths = new Map<number, { calls: number; totalMs: number }>();
  #gapsOver100Ms = 0;
  #server: ServerSample | undefined;

  constructor(options: LoadBookOptions) {
    this.#options = options;
    this.#workers = Array.from({ length: options.workers }, () => new WorkerAccount());
    this.#series = new SecondSeries(options.countedToMs);
  }

  /** Number of calls under way. */
  get live(): number {
    return this.#workers.reduce((sum, { live }) => sum + live, 0);
  }

  /** Number of calls that count, finished and failed ones. */
  get counts(): { readonly finished: number; readonly failed: number } {
    return this.#calls;
  }

  /** Waits for the first sound and for replies so far. */
  get soFar(): { readonly firstAudio: Histogram; readonly reply: Histogram } {
    return { firstAudio: this.#waits.first_audio, reply: this.#replies() };
  }

  /** How busy and how late the workers were. */
  get workers(): readonly WorkerLoad[] {
    return this.#workers.map(({ load }) => load);
  }

  /** Indexes of workers, from 0, that reported nothing about the measured part. */
  get silentWorkers(): readonly number[] {
    return [...this.#workers.entries()].filter(([, { isSilent }]) => isSilent).map(([index]) => index);
  }

  /** Mean length of a scenario's calls that did not fail, ms; undefined without any. */
  meanMsOf(scenario: number): number | undefined {
    const length = this.#lengths.get(scenario);
    return length === undefined ? undefined : length.totalMs / length.calls;
  }

  add(worker: number, second: WorkerSecond): void {
    const { countedFromMs, countedToMs } = this.#options;
    const { fromMs, toMs } = second;
    this.#workers[worker]?.add(second, Math.min(toMs, countedToMs) - Math.max(fromMs, countedFromMs));
    // A busy worker reports late, so the reported time counts and not the time of arrival.
    const atMs = (fromMs + toMs) / 2;
    this.#series.addWorker(worker, second, atMs);
    for (const wait of second.waits) {
      this.#series.addWait(wait);
      if (this.#counts(wait.fromMs)) this.#waits[wait.kind].record(wait.waitedMs);
    }
    for (const call of second.calls) {
      this.#series.addCall(call, atMs);
      if (this.#counts(call.dueMs)) this.#addCall(call);
    }
  }

  /** Adds a sample of the server. @param atMs - ms since the run began. */
  addServer(sample: ServerSample, atMs: number): void {
    this.#series.addServer(sample, this.#server, atMs);
    this.#server = sample;
  }

  /** The result of everything so far. */
  get account() {
    const { countedFromMs, countedToMs } = this.#options;
    const { finished, failed, refused, unheard, brokenOff } = this.#calls;
    const live = this.#series.liveBetween(countedFromMs, countedToMs);
    const begun = this.#series.startedBetween(countedFromMs, countedToMs);
    return {
      calls: { finished, failed, refused, unheard, brokenOff, meanLive: live.mean, maxLive: live.max, perSecond: begun },
      turns: { ...this.#turns },
      ...this.#lostTurns,
      firstAudio: timesOf(this.#waits.first_audio),
      reply: timesOf(this.#replies()),
      speechReply: timesOf(this.#waits.speech_reply),
      keyReply: timesOf(this.#waits.key_reply),
      silenceReply: timesOf(this.#waits.silence_reply),
      gap: timesOf(this.#gaps),
      gapsOver100Ms: this.#gapsOver100Ms,
      sound: { ...this.#sound },
      breaches: Object.fromEntries(this.#breaches),
      failures: [...this.#failures.values()].sort((a, b) => b.count - a.count),
      server: this.#series.serverBetween(countedFromMs, countedToMs),
      stretchS: this.#series.stretchMs / 1000,
      seconds: [...this.#series.seconds],
    };
  }

  #counts(atMs: number): boolean {
    return atMs >= this.#options.countedFromMs && atMs <= this.#options.countedToMs;
  }

  #replies(): Histogram {
    const all = Histogram.empty();
    for (const kind of ['speech_reply', 'key_reply', 'silence_reply'] as const) all.add(this.#waits[kind]);
    return all;
  }

  #addLength({ scenario, durationMs }: CallFacts): void {
    const length = this.#lengths.get(scenario) ?? { calls: 0, totalMs: 0 };
    this.#lengths.set(scenario, { calls: length.calls + 1, totalMs: length.totalMs + durationMs });
  }

  #addCall(call: CallFacts): void {
    if (call.outcome === 'interrupted') {
      this.#calls.brokenOff += 1;
    } else {
      this.#calls.finished += 1;
      if (call.outcome === 'failed') this.#calls.failed += 1;
      if (isRefused(call)) this.#calls.refused += 1;
      if (call.outcome !== 'failed') this.#addLength(call);
    }
    if (!call.isHeard) this.#calls.unheard += 1;
    this.#turns.replies += call.replies;
    this.#turns.failed += call.failures.filter(({ code }) => code !== 'unexpected_transfer').length;
    for (const name of ['turnsRepeated', 'turnsReopened', 'turnsLost'] as const) this.#lostTurns[name] += call[name];
    for (const gapMs of call.gapsMs) {
      this.#gaps.record(gapMs);
      if (gapMs > LONG_GAP_MS) this.#gapsOver100Ms += 1;
    }
    for (const kind of ['compared', 'wrong', 'short', 'unknown'] as const) this.#sound[kind] += call.sound[kind];
    for (const rule of call.breaches) this.#breaches.set(rule, (this.#breaches.get(rule) ?? 0) + 1);
    for (const { code, message } of call.failures) {
      // Transfers have a line for each reason. When there are too many lines, further reasons share one.
      const isKept = this.#failures.has(message) || this.#failures.size < MAX_FAILURE_LINES;
      const key = code === 'unexpected_transfer' && isKept ? message : code;
      const known = this.#failures.get(key);
      this.#failures.set(key, { code, count: (known?.count ?? 0) + 1, example: known?.example ?? message });
    }
  }
}

function timesOf(histogram: Histogram): Times {
  return { ...histogram.percentiles, histogram: histogram.encoded };
}

export class LevelBooks {
  readonly #levels: readonly { readonly time: LevelTime; readonly book: LoadBook }[];

  constructor(levels: readonly LevelTime[], workers: number) {
    this.#levels = levels.map((time) => ({ time, book: new LoadBook({ workers, countedFromMs: time.fromMs, countedToMs: time.toMs }) }));
  }

  add(worker: number, second: WorkerSecond): void {
    for (const { time, book } of this.#levels) {
      const isWithin = (atMs: number): boolean => atMs >= time.fromMs && atMs <= time.toMs;
      book.add(worker, {
        ...second,
        waits: second.waits.filter(({ fromMs }) => isWithin(fromMs)),
        calls: second.calls.filter(({ dueMs }) => isWithin(dueMs)),
      });
    }
  }

  /** The results of the levels that began before `endMs`. @param endMs - end of the measurement, ms since the run began. */
  resultsUntil(endMs: number): LoadResult['levels'] {
    return this.#levels.flatMap(({ time: { name, fromMs, toMs }, book }) => {
      if (fromMs >= endMs) return [];
      const { calls, turns, firstAudio, reply, gapsOver100Ms } = book.account;
      return [{ name, fromS: fromMs / 1000, toS: Math.min(toMs, endMs) / 1000, calls, turns, firstAudio, reply, gapsOver100Ms }];
    });
  }
}
