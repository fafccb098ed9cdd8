// A result of a load as tests make it up: everything is fine until told otherwise.
import { Histogram } from '../../src/fake-platform/load/histogram.ts';
import type { LoadResult, Times } from '../../src/fake-platform/load/load-result.ts';

/** Times of these values, ms. */
export function timesOf(values: readonly number[]): Times {
  const histogram = Histogram.empty();
  for (const value of values) histogram.record(value);
  return { ...histogram.percentiles, histogram: histogram.encoded };
}

/** A result with 1000 calls, whose callers waited 1 to 100 ms for the first sound and 10 to 1000 ms for replies. */
export function madeUpResult(more: Partial<LoadResult> = {}): LoadResult {
  const hundred = Array.from({ length: 1000 }, (_, index) => (index % 100) + 1);
  return {
    version: 1,
    startedAt: '2027-01-15T08:00:00.000Z',
    target: 'grpc://127.0.0.1:50051',
    asked: '--rate 10/s',
    seed: 1,
    arrivals: 'fixed',
    machine: { node: 'v20.20.2', processor: 'A processor', cores: 2 },
    scenarios: [{ name: 'speak', weight: 1, meanMs: 10_000 }],
    countedFromS: 0,
    countedToS: 100,
    interrupted: false,
    saturated: false,
    saturation: [],
    doubts: [],
    calls: { finished: 1000, failed: 0, refused: 0, unheard: 0, brokenOff: 0, meanLive: 100, maxLive: 110, perSecond: 10 },
    turns: { replies: 3000, failed: 0 },
    ...{ turnsRepeated: 0, turnsReopened: 0, turnsLost: 0 },
    firstAudio: timesOf(hundred),
    reply: timesOf(hundred.map((value) => value * 10)),
    speechReply: timesOf(hundred.map((value) => value * 10)),
    keyReply: timesOf([]),
    silenceReply: timesOf([]),
    gap: timesOf(Array.from({ length: 3000 }, () => 0)),
    gapsOver100Ms: 0,
    sound: { compared: 2000, wrong: 0, short: 0, unknown: 1000 },
    breaches: {},
    failures: [],
    levels: [],
    workers: [
      {
        cpu: 0.4,
        timerLateness: { ...timesOf([1]) },
        startLateness: { ...timesOf([1]) },
        loopDelayMaxMs: 3,
        residentBytes: 100_000_000,
        missed: 0,
      },
    ],
    server: { cpuMean: 0.5, cpuMax: 0.7, memoryMaxMb: 120 },
    stretchS: 1,
    seconds: [0, 1, 2].map((atS) => ({
      ...{ atS, live: 100, started: 10, finished: 9, failed: 0 },
      ...{ firstAudioP50: 50, firstAudioP99: 99, firstAudioMax: 100, replyP50: 500, replyP99: null, replyMax: null },
      ...{ generatorCpu: 0.4, serverCpu: 0.5, serverMb: 120, serverSessions: 100 },
    })),
    ...more,
  };
}
