// The real engine with fake surroundings: a clock that stands still, a voice that speaks at once, no other process.
import type { Clock } from '../../src/base/clock.ts';
import type { Logger, LogFields } from '../../src/base/log.ts';
import { loadSignalEngines } from '../../src/app/signal-engines.ts';
import type { Bot } from '../../src/bot/bot.ts';
import { Catalog } from '../../src/bot/catalog.ts';
import type { PromptAudio } from '../../src/dialog/output.ts';
import type { Prompt } from '../../src/dialog/reply.ts';
import { Admission, type AdmissionLimits, type LoadReading } from '../../src/session/admission.ts';
import type { PromptVoice, Recognizer, Recorder, SessionObserver, Snapshots } from '../../src/session/ports.ts';
import { Sessions } from '../../src/session/sessions.ts';
import type { Snapshot } from '../../src/session/snapshot/snapshot.ts';
import type { EngineSettings } from '../../src/session/settings.ts';
import { Listener, type ListenerOptions } from '../../src/speech/listener.ts';
import { DEFAULT_PATIENCE } from '../../src/speech/patience.ts';
import { FakeClock } from './fake-clock.ts';

/** Numbers of their own, and no copies of the defaults: a test of a default reads it from test/support/defaults.ts. */
export const TEST_SETTINGS: EngineSettings = {
  maxSessions: 100,
  idleTimeoutMs: 600_000,
  maxDurationMs: 3_600_000,
  sweepMs: 60_000,
  maxStateBytes: 65_536,
  turnDeadlineMs: 10_000,
  slowReaderMs: 10_000,
  maxAheadMs: 300_000,
  fillerAfterMs: 0,
  // The clock stands still: only tests of the farewell wait for it.
  maxFarewellMs: 0,
  resumesPrompts: true,
  keepsTranscript: false,
  logsWords: false,
  patience: DEFAULT_PATIENCE,
  words: undefined,
  digitSilenceMs: 1500,
  mode: 'chunk',
  welcomeBargeIn: true,
  listen: { accept: 'both', digits: 1, interDigitMs: 3000, terminator: '#', noInputMs: 10_000, sensitive: false },
  language: 'en',
  lines: { filler: 'One moment.', apology: 'Sorry, please say that again.', transfer: 'I will connect you.' },
  linesByLanguage: new Map(),
};

const NO_LIMITS = {
  perOrganization: { maxSessions: 0, maxNewPerSecond: 0 },
  organizations: new Map(),
  maxStreams: Infinity,
  maxLoopDelayMs: 0,
  maxRssBytes: 0,
  maxHeapPercent: 0,
};

/** Of a process that is alone: nobody could go on with its calls. */
export const NO_SNAPSHOTS: Snapshots = {
  isShared: false,
  canMove: false,
  save: () => undefined,
  saved: () => Promise.resolve(),
  release: () => Promise.resolve(),
  forget: () => undefined,
};

/** Speaks every text in 10 ms a character, at once. */
export class FakeVoice implements PromptVoice {
  readonly canSpeak: boolean;
  /** Prompts whose sound was not waited for any longer. */
  readonly givenUp: Prompt[] = [];
  readonly #sounds = new Map<string, PromptAudio>();

  constructor(canSpeak = true) {
    this.canSpeak = canSpeak;
  }

  render(prompt: Prompt): ReturnType<PromptVoice['render']> {
    if (!this.canSpeak && prompt.kind === 'text') return undefined;
    if (prompt.kind === 'audio') return { mulaw: prompt.mulaw, durationMs: prompt.mulaw.length / 8 };
    const name = prompt.kind === 'text' ? prompt.text : prompt.file;
    const known = this.#sounds.get(name);
    if (known !== undefined) return known;
    const durationMs = name.length * 10;
    const sound = { mulaw: new Uint8Array(durationMs * 8).fill(0x55), durationMs };
    this.#sounds.set(name, sound);
    return sound;
  }

  late(prompt: Prompt): void {
    this.givenUp.push(prompt);
  }
}

/** Throws for a text when it is told to: a defect of ours, of which neither a bot nor a caller is the cause. */
export class DefectiveVoice extends FakeVoice {
  defectiveText: string | undefined;

  override render(prompt: Prompt): ReturnType<PromptVoice['render']> {
    if (prompt.kind === 'text' && prompt.text === this.defectiveText) throw new Error('no such sound');
    return super.render(prompt);
  }
}

/** One line that was logged. */
export interface LogLine extends LogFields {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
}

/** A logger that keeps its lines. */
export function recordingLog(lines: LogLine[] = [], base: LogFields = {}): Logger & { readonly lines: LogLine[] } {
  const write = (level: LogLine['level']) => (fields: LogFields, message: string) => {
    lines.push({ ...base, ...fields, level, message });
  };
  return {
    lines,
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => recordingLog(lines, { ...base, ...fields }),
  };
}

/** Is in its set until it is closed. */
class CountedListener extends Listener {
  readonly #open: Set<Listener>;

  constructor(open: Set<Listener>, options: ListenerOptions) {
    super(options);
    this.#open = open.add(this);
  }

  override close(): void {
    super.close();
    this.#open.delete(this);
  }
}

/** The engine under test. */
export interface TestEngine {
  readonly sessions: Sessions;
  readonly clock: FakeClock;
  readonly log: Logger & { readonly lines: LogLine[] };
  /** Observed events as `name detail`. */
  readonly seen: string[];
  /** Listeners that were made and not closed. */
  readonly listeners: ReadonlySet<Listener>;
}

/** What is known of a call between its turns. */
export async function snapshotOf({ sessions }: Pick<TestEngine, 'sessions'>, conversationId = 'call-1'): Promise<Snapshot | undefined> {
  return (await sessions.find({ organizationId: 'org', conversationId }))?.snapshot;
}

/** Makes an engine. Loading the signal modules makes it asynchronous. */
export async function testEngine(
  bots: readonly Bot[],
  options: {
    readonly settings?: Partial<EngineSettings>;
    readonly voice?: PromptVoice;
    readonly recognizer?: Recognizer;
    /** Default: no other process can go on with a call. */
    readonly snapshots?: Snapshots;
    readonly clock?: FakeClock;
    /** Limits beside `settings.maxSessions`; none are set. */
    readonly limits?: Partial<AdmissionLimits>;
    readonly load?: LoadReading;
    /** In place of the one that fills `seen`. */
    readonly observer?: SessionObserver;
    readonly recorder?: Recorder;
  } = {},
): Promise<TestEngine> {
  const engines = await loadSignalEngines();
  const clock = options.clock ?? new FakeClock();
  const log = recordingLog();
  const seen: string[] = [];
  const listeners = new Set<Listener>();
  const settings = { ...TEST_SETTINGS, ...options.settings };
  const limits = { ...NO_LIMITS, maxSessions: settings.maxSessions, ...options.limits };
  const load = options.load ?? { loopDelayMs: 0, rssBytes: 0, heapPercent: 0 };
  const sessions = new Sessions(
    {
      settings,
      admission: new Admission({ limits, load: { reading: () => load }, clock }),
      snapshots: options.snapshots ?? NO_SNAPSHOTS,
      voice: options.voice ?? new FakeVoice(),
      recognizer: options.recognizer,
      recorder: options.recorder,
      observer: options.observer ?? seeing(seen),
      clock: clock satisfies Clock,
      log,
      createListener: (given) => new CountedListener(listeners, { engines, ...given }),
    },
    { current: new Catalog(bots) },
  );
  return { sessions, clock, log, seen, listeners };
}

function seeing(seen: string[]): SessionObserver {
  return {
    callRefused: (_call, reason) => seen.push(`call_refused ${reason}`),
    sessionStarted: (_call, isContinued = false) => seen.push(isContinued ? 'session_continued' : 'session_started'),
    sessionEnded: (_call, end) => seen.push(`session_ended ${end}`),
    turnEnded: (_call, _turnId, end) => seen.push(`turn_ended ${end}`),
    bargeIn: () => seen.push('barge_in'),
    replyStarted: (_call, _turnId, latencyMs) => seen.push(`reply_started ${String(latencyMs)}`),
    replyRepeated: () => seen.push('reply_repeated'),
    botFailed: (_call, _turnId, error) => seen.push(`bot_failed ${error.code}`),
  };
}
