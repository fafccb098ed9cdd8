// What was sent and what came back while a check ran, line by line: the proof of its verdict. Bounded, without a token, and
// safe to be shown. Knows no rule.
import type { Clock } from '../../base/clock.ts';
import { EVENT_INPUT, type MediaRequest } from '../../contract/grpc.ts';
import { startsAsWav } from '../../speech/wav.ts';
import type { Answer, AnswerPrompt } from '../answer.ts';

/** One line of an exchange. */
export interface ExchangeLine {
  /** ms since the exchange began. */
  readonly atMs: number;
  /** `suite`: a remark of ours that nobody sent. */
  readonly who: 'platform' | 'server' | 'suite';
  /** Names the RPC, such as `RPC2`; empty for remarks. */
  readonly rpc: string;
  readonly what: string;
  /** How often in a row it was said on this RPC by this side. */
  readonly times: number;
}

/** Most lines kept of one exchange; a server that floods must not fill the report. */
const MAX_LINES = 300;
/** Longest text of the other side that is quoted, characters. */
const MAX_QUOTED = 160;

/** Collects the lines of one exchange. */
export class ExchangeLog {
  readonly #clock: Clock;
  readonly #zeroMs: number;
  readonly #lines: { atMs: number; who: ExchangeLine['who']; rpc: string; what: string; times: number }[] = [];

  /** The exchange begins now. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#zeroMs = clock.monotonicMs();
  }

  /** Adds a line; one that repeats the last line of its side of the RPC is counted there. */
  add(who: ExchangeLine['who'], rpc: string, what: string): void {
    const last = this.#lines.findLast((line) => line.rpc === rpc && line.who === who);
    if (last?.what === what && this.#lines.at(-1)?.who === who) {
      last.times += 1;
      return;
    }
    if (this.#lines.length >= MAX_LINES) return;
    this.#lines.push({ atMs: Math.round(this.#clock.monotonicMs() - this.#zeroMs), who, rpc, what, times: 1 });
  }

  /** All lines so far, in order. */
  get lines(): readonly ExchangeLine[] {
    return this.#lines;
  }
}

/** Text of the other side: one line, bounded, without control characters. */
export function quoted(text: string): string {
  return `"${text
    .replaceAll(/\p{C}+/gu, ' ')
    .slice(0, MAX_QUOTED)
    .trim()}"`;
}

/** A line as text: time, direction, RPC and what. */
export function exchangeText({ atMs, who, rpc, what, times }: ExchangeLine): string {
  const direction = who === 'platform' ? '>' : who === 'server' ? '<' : '#';
  const repeated = times === 1 ? '' : ` ×${String(times)}`;
  return `${String(atMs).padStart(6)} ms  ${rpc.padEnd(5)} ${direction} ${what}${repeated}`;
}

const EVENT_NAMES: ReadonlyMap<number, string> = new Map(Object.entries(EVENT_INPUT).map(([name, number]) => [number, name]));

/** What a request says, in a few words; keys are counted and not named (G-68). */
export function requestText(message: MediaRequest | Uint8Array): string {
  if (message instanceof Uint8Array) return `${String(message.length)} bytes as they are`;
  const { event_input: event, dtmf_input: keys, audio_input: audio } = message;
  if (event !== undefined) return EVENT_NAMES.get(event.event_type ?? 0) ?? `event ${String(event.event_type)}`;
  if (keys !== undefined) return `${String(keys.dtmf_events?.length ?? 0)} keys`;
  if (audio === undefined) return 'a message without input';
  const sound = audio.caller_audio ?? new Uint8Array(0);
  const named = audio.encoding === undefined ? '' : `, encoding ${String(audio.encoding)} at ${String(audio.sample_rate_hertz ?? 0)} Hz`;
  return `audio ${String(sound.length)} B${isSilent(sound) ? ' silent' : ''}${named}`;
}

function isSilent(sound: Uint8Array): boolean {
  return sound.length > 0 && sound.every((code) => code === 0xff);
}

/** What a response says, in a few words. */
export function answerText(answer: Answer): string {
  const { type, event, prompts, mode, config, sensitive } = answer;
  return [
    type.toUpperCase(),
    event === undefined ? '' : `${event.kind.toUpperCase()}${event.name === '' ? '' : ` ${quoted(event.name)}`}`,
    ...prompts.map(promptText),
    mode === undefined ? '' : `input mode ${mode}`,
    config === undefined ? '' : 'input settings',
    sensitive ? 'sensitive' : '',
  ]
    .filter((part) => part !== '')
    .join(', ');
}

function promptText({ text, uri, audio, bargeIn }: AnswerPrompt): string {
  const sound = audio.length === 0 ? '' : `${startsAsWav(audio) ? 'WAV' : 'raw audio'} ${String(audio.length)} B`;
  const parts = [text === '' ? '' : `text ${String(text.length)} chars`, uri === '' ? '' : 'an address', sound].filter(
    (part) => part !== '',
  );
  return `prompt (${parts.length === 0 ? 'empty' : parts.join(', ')}${bargeIn ? ', barge-in' : ''})`;
}
