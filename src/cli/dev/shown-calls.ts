// The latest calls from the page, as the page shows them: recording, messages of the platform, when each reply arrived at the platform, log
// lines, and the lines of the bots that threw errors.
import path from 'node:path';
import { botsFolder } from '../../app/bot-folders.ts';
import type { AppOptions } from '../../app/app.ts';
import type { Settings } from '../../app/config/settings.ts';
import type { Clock } from '../../base/clock.ts';
import { parseJson, throughJson, type JsonObject } from '../../base/json.ts';
import { createLogger } from '../../base/log.ts';
import { locationInFolder } from '../../bot/error-location.ts';
import type { CallView, ShownError, ShownLog, ShownMessage, ShownTurn } from '../../dialog/call-view.ts';
import type { CallResult } from '../../fake-platform/caller/caller.ts';
import type { MessageLog } from '../../fake-platform/softphone/message-log.ts';
import type { CallWatch } from '../../fake-platform/softphone/softphone-call.ts';
import { viewOf } from '../../recording/call-view.ts';
import { peaksOf } from '../../recording/tracks.ts';
import type { SessionObserver } from '../../session/ports.ts';
import { LINE_RATE_HZ } from '../../speech/audio-format.ts';
import { pcmWav } from '../../speech/wav.ts';
import { withWire } from '../../telemetry/answer-parts.ts';
import { CallTimelines } from '../../telemetry/call-timeline.ts';
import { combineObservers } from '../../telemetry/observers.ts';
import { LiveRecording } from './live-recording.ts';

/** Most calls that are kept: the user can listen to an ended call during the next one. */
const MAX_CALLS = 5;
/** Most log lines of a call. */
const MAX_LOGS = 2000;
const LEVELS: Readonly<Record<string, ShownLog['level']>> = {
  trace: 'debug',
  debug: 'debug',
  info: 'info',
  warn: 'warn',
  error: 'error',
  fatal: 'error',
};
/** Fields of log lines that are left out: those of every line, and ids that the page shows elsewhere. */
const PLAIN_FIELDS = new Set(['time', 'level', 'server', 'version', 'organizationId', 'trackingId', 'agentId']);

interface LoggedLine {
  readonly monotonicMs: number;
  readonly turnId: string | undefined;
  readonly level: ShownLog['level'];
  readonly text: string;
}

/** One call from the page. */
class ShownCall implements CallWatch {
  readonly #messages: MessageLog;
  readonly #clock: Clock;
  readonly logs: LoggedLine[] = [];
  /** What the bot threw and where, by turn id. */
  readonly errors = new Map<string, Pick<ShownError, 'message' | 'at'>>();
  /** When the first sound of each turn was sent, `Clock.monotonicMs` by turn id. */
  readonly sentMs = new Map<string, number>();
  live: LiveRecording | undefined;
  result: CallResult | undefined;
  #shown = '';

  constructor(messages: MessageLog, clock: Clock) {
    this.#messages = messages;
    this.#clock = clock;
  }

  ended(call: CallResult): void {
    this.result = call;
  }

  view(): CallView | undefined {
    const { live } = this;
    if (live === undefined) return undefined;
    const state = [live.changes, this.#messages.changes, this.logs.length, this.result !== undefined].join();
    if (state === this.#shown) return undefined;
    this.#shown = state;
    const view = viewOf(live.recording, this.#sound(live.conversationId));
    const numbers = new Map(view.turns.map(({ id, number }) => [id, number]));
    const { call } = view;
    return {
      ...view,
      call: { ...call, durationMs: call.end === undefined ? since(live, this.#clock.monotonicMs()) : call.durationMs },
      turns: view.turns.map((turn) => this.#completed(turn)),
      messages: this.#messages.entries.map(({ monotonicMs, ...message }): ShownMessage => ({ atMs: since(live, monotonicMs), ...message })),
      logs: this.logs.map(({ monotonicMs, turnId, ...line }): ShownLog => {
        const turn = turnId === undefined ? undefined : numbers.get(turnId);
        return { atMs: since(live, monotonicMs), ...line, ...(turn !== undefined && { turn }) };
      }),
    };
  }

  /** The audio of one side from the start of the session, 8 kHz. Undefined while the call runs, and for an unknown side. */
  track(side: string): Int16Array | undefined {
    const { live, result } = this;
    if (live === undefined || result === undefined || (side !== 'caller' && side !== 'bot')) return undefined;
    const track = side === 'caller' ? result.said : result.heard;
    // The track begins with the dialling of the call, the session later: with the call's first message.
    return track.subarray(Math.max(0, Math.round(((live.startedAtMs - this.#messages.startedAtMs) * LINE_RATE_HZ) / 1000)));
  }

  /** Adds when the first sound arrived at the platform, and where the bot threw an error. */
  #completed(turn: ShownTurn): ShownTurn {
    const { id, parts } = turn;
    const [sentMs, thrown] = [this.sentMs.get(id), this.errors.get(id)];
    const arrivedMs = sentMs === undefined ? undefined : this.#arrival(sentMs);
    return {
      ...turn,
      ...(parts !== undefined && sentMs !== undefined && arrivedMs !== undefined && { parts: withWire(parts, sentMs, arrivedMs) }),
      ...(turn.error !== undefined && { error: { ...turn.error, ...thrown } }),
    };
  }

  /** When the sound sent at `sentMs` arrived: before the next sound was sent. Both sides number turns differently, so times decide. */
  #arrival(sentMs: number): number | undefined {
    const nextMs = Math.min(...[...this.sentMs.values()].filter((other) => other > sentMs));
    return this.#messages.firstSounds.find((atMs) => atMs >= sentMs && atMs < nextMs);
  }

  #sound(conversationId: string): CallView['sound'] {
    const [caller, bot] = [this.track('caller'), this.track('bot')];
    if (caller === undefined || bot === undefined) return {};
    const href = (side: string): string => `calls/${conversationId}/${side}.wav`;
    return { caller: { peaks: peaksOf(caller), href: href('caller') }, bot: { peaks: peaksOf(bot), href: href('bot') } };
  }
}

function since({ startedAtMs }: LiveRecording, monotonicMs: number): number {
  return Math.round(monotonicMs - startedAtMs);
}

/** The latest calls. */
export class ShownCalls {
  readonly #clock: Clock;
  /** The oldest first. */
  readonly #calls = new Map<string, ShownCall>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Begins to watch a call, and drops the oldest one if there are too many. */
  watch(conversationId: string, messages: MessageLog): CallWatch {
    const [oldest] = this.#calls.keys();
    if (this.#calls.size >= MAX_CALLS && oldest !== undefined) this.#calls.delete(oldest);
    const call = new ShownCall(messages, this.#clock);
    this.#calls.set(conversationId, call);
    return call;
  }

  /** The audio of one side of an ended call, as WAV; undefined: there is none. */
  sound(conversationId: string, side: string): Uint8Array | undefined {
    const track = this.#calls.get(conversationId)?.track(side);
    return track === undefined ? undefined : pcmWav([track], LINE_RATE_HZ);
  }

  /** The log, observer and recorder for a server with these settings. */
  observers(settings: Settings): Pick<AppOptions, 'log' | 'observer' | 'recorder'> {
    const onLine = (line: string): void => {
      this.#logged(line);
    };
    const log = createLogger({ level: settings.log.level, isDevelopment: true, onLine });
    const facts = new CallTimelines({
      ...{ clock: this.#clock, maxCalls: 0 },
      onFact: ({ conversationId }, { event, turnId, ...details }) => {
        // JSON cannot have undefined members.
        this.#calls.get(conversationId)?.live?.fact(event, turnId, throughJson(details) as JsonObject);
      },
    });
    return {
      log,
      observer: combineObservers([facts, this.#observer(path.resolve(botsFolder(settings.bots)))], log),
      recorder: {
        begin: (recorded) => {
          const call = this.#calls.get(recorded.call.conversationId);
          if (call === undefined) return undefined;
          call.live = new LiveRecording(recorded, this.#clock);
          return call.live;
        },
      },
    };
  }

  #observer(folder: string): SessionObserver {
    return {
      replyStarted: ({ conversationId }, turnId) => {
        this.#calls.get(conversationId)?.sentMs.set(turnId, this.#clock.monotonicMs());
      },
      botFailed: ({ conversationId }, turnId, error) => {
        const thrown = error.cause instanceof Error ? error.cause : error;
        const at = locationInFolder(folder, thrown);
        this.#calls.get(conversationId)?.errors.set(turnId, { message: thrown.message, ...(at !== undefined && { at }) });
      },
    };
  }

  #logged(line: string): void {
    const fields = parseJson(line);
    if (typeof fields !== 'object' || fields === null) return;
    const { conversationId, turnId, level, msg, event, ...more } = fields as Readonly<Record<string, unknown>>;
    const call = typeof conversationId === 'string' ? this.#calls.get(conversationId) : undefined;
    // The page shows the events of a call elsewhere.
    const isShown = event !== undefined && (level === 'info' || level === 'debug');
    if (call === undefined || isShown || call.logs.length >= MAX_LOGS) return;
    const details = Object.entries(more).flatMap(([name, value]) => (PLAIN_FIELDS.has(name) ? [] : [`${name}=${shown(value)}`]));
    call.logs.push({
      monotonicMs: this.#clock.monotonicMs(),
      turnId: typeof turnId === 'string' ? turnId : undefined,
      level: LEVELS[String(level)] ?? 'info',
      text: [String(msg), ...details].join('  '),
    });
  }
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
