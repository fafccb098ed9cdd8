// The result of a load, as written to a file and read again: figures for people and programs, and histograms, so that two runs can be
// compared. Knows the form of a result, and not how it is measured.
import { z } from 'zod';
import { LOAD_FAILURES } from './call-facts.ts';

/** Times as percentiles, ms, and the histogram from which they are computed. */
const times = z.object({
  count: z.number(),
  mean: z.number(),
  p50: z.number(),
  p90: z.number(),
  p99: z.number(),
  p999: z.number(),
  max: z.number(),
  /** HDR histogram of µs, compressed, base64. */
  histogram: z.string(),
});
export type Times = z.infer<typeof times>;

const percentiles = times.omit({ histogram: true });

const calls = z.object({
  /** Finished calls that count; calls that the load itself ended do not. */
  finished: z.number(),
  failed: z.number(),
  /** Failed calls that the server did not accept. */
  refused: z.number(),
  /** Calls in which nothing was heard. */
  unheard: z.number(),
  brokenOff: z.number(),
  /** Parallel calls in the measured part of the run. */
  meanLive: z.number(),
  maxLive: z.number(),
  /** Arrivals per second in the measured part of the run. */
  perSecond: z.number(),
});
const turns = z.object({ replies: z.number(), failed: z.number() });

/** One of several levels of a run, from the time at which it is reached. */
const level = z.object({
  name: z.string(),
  /** The measured part of the level, s since the run began. */
  fromS: z.number(),
  toS: z.number(),
  calls,
  turns,
  firstAudio: times,
  reply: times,
  gapsOver100Ms: z.number(),
});

const second = z.object({
  /** Beginning of the interval, s since the run began. */
  atS: z.number(),
  live: z.number(),
  started: z.number(),
  finished: z.number(),
  failed: z.number(),
  /** The waits that began in this interval, ms; null without any. */
  firstAudioP50: z.number().nullable(),
  firstAudioP99: z.number().nullable(),
  firstAudioMax: z.number().nullable(),
  replyP50: z.number().nullable(),
  replyP99: z.number().nullable(),
  replyMax: z.number().nullable(),
  /** CPU of the busiest worker, as a part of one core. */
  generatorCpu: z.number(),
  /** Null when the server's metrics page was not read or did not answer. */
  serverCpu: z.number().nullable(),
  serverMb: z.number().nullable(),
  serverSessions: z.number().nullable(),
});
/** One interval of the run, for charts. */
export type LoadSecond = z.infer<typeof second>;

export const loadResultSchema = z.object({
  version: z.literal(1),
  /** When the run began, ISO 8601. */
  startedAt: z.string(),
  target: z.string(),
  /** The requested load, in the words of the command line. */
  asked: z.string(),
  seed: z.number(),
  arrivals: z.enum(['poisson', 'fixed']),
  machine: z.object({ node: z.string(), processor: z.string(), cores: z.number() }),
  scenarios: z.array(z.object({ name: z.string(), weight: z.number(), meanMs: z.number() })),
  /** The measured part of the run, s since the run began: calls that are due in it count. */
  countedFromS: z.number(),
  countedToS: z.number(),
  /** Whether the run was stopped early. */
  interrupted: z.boolean(),
  /** Whether the load failed to keep its own pace or lost a worker; the figures are then invalid. */
  saturated: z.boolean(),
  saturation: z.array(z.string()),
  /** Effects that the load itself may have caused and not the server, one sentence each. */
  doubts: z.array(z.string()),
  calls,
  turns,
  /** Turns whose RPC was lost. Repeated: sent again on another RPC; reopened: opened again without input; lost: not opened again. */
  turnsRepeated: z.number().default(0),
  turnsReopened: z.number().default(0),
  turnsLost: z.number().default(0),
  firstAudio: times,
  /** Waits for replies to speech, keys and silence together, and for each kind alone. */
  reply: times,
  speechReply: times,
  keyReply: times,
  silenceReply: times,
  /** Longest silence within each reply, ms. */
  gap: times,
  /** Replies with a silence of more than 100 ms. */
  gapsOver100Ms: z.number(),
  sound: z.object({ compared: z.number(), wrong: z.number(), short: z.number(), unknown: z.number() }),
  /** How often each rule of the contract was broken. */
  breaches: z.record(z.string(), z.number()),
  failures: z.array(z.object({ code: z.enum(LOAD_FAILURES), count: z.number(), example: z.string() })),
  /** Each level alone, if there are several; all other figures are those of the whole run. */
  levels: z.array(level),
  workers: z.array(
    z.object({
      cpu: z.number(),
      timerLateness: percentiles,
      startLateness: percentiles,
      loopDelayMaxMs: z.number(),
      residentBytes: z.number(),
      missed: z.number(),
    }),
  ),
  server: z.object({ cpuMean: z.number(), cpuMax: z.number(), memoryMaxMb: z.number() }).nullable(),
  /** Length of one interval in `seconds`, s. */
  stretchS: z.number(),
  seconds: z.array(second),
});
export type LoadResult = z.infer<typeof loadResultSchema>;

/** Reads a stored result. @throws RangeError with a sentence for the user when it is not valid. */
export function readLoadResult(text: string, name: string): LoadResult {
  try {
    const read = loadResultSchema.safeParse(JSON.parse(text));
    if (read.success) return read.data;
    const [issue] = read.error.issues;
    throw new RangeError(`${name} is no result of a load: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`);
  } catch (error) {
    if (error instanceof SyntaxError) throw new RangeError(`${name} is no JSON`, { cause: error });
    throw error;
  }
}

/** Times in display order. An indented label is a part of the one above. `name` is the name in criteria. */
export const TIMES = [
  { name: 'first-audio', label: 'first audio', key: 'firstAudio' },
  { name: 'reply', label: 'reply', key: 'reply' },
  { name: 'speech-reply', label: '  to speech', key: 'speechReply' },
  { name: 'key-reply', label: '  to keys', key: 'keyReply' },
  { name: 'silence-reply', label: '  to silence', key: 'silenceReply' },
  { name: 'gap', label: 'gap in reply', key: 'gap' },
] as const;

interface Counted {
  readonly count: number;
  readonly of: number;
}

interface CountFigure {
  /** The name in criteria. */
  readonly name: string;
  readonly label: string;
  readonly of: (result: LoadResult) => Counted;
}

export const COUNTS: readonly CountFigure[] = [
  { name: 'failed', label: 'failed calls', of: ({ calls }) => ({ count: calls.failed, of: calls.finished }) },
  { name: 'refused', label: 'refused calls', of: ({ calls }) => ({ count: calls.refused, of: calls.finished }) },
  { name: 'unheard', label: 'calls without a sound', of: ({ calls }) => ({ count: calls.unheard, of: calls.finished + calls.brokenOff }) },
  { name: 'failed-turns', label: 'failed turns', of: ({ turns }) => ({ count: turns.failed, of: turns.replies + turns.failed }) },
  { name: 'long-gaps', label: 'gaps > 100 ms', of: ({ gapsOver100Ms, gap }) => ({ count: gapsOver100Ms, of: gap.count }) },
  { name: 'wrong-sound', label: 'wrong or short sound', of: ({ sound }) => ({ count: sound.wrong + sound.short, of: sound.compared }) },
  {
    name: 'breaches',
    label: 'broken rules',
    of: ({ breaches, turns }) => ({
      count: Object.values(breaches).reduce((sum, each) => sum + each, 0),
      of: turns.replies + turns.failed,
    }),
  },
];
