// The messages of a check, sent and received, line by line: the evidence of its verdict. Bounded, without a token, and
// safe to show. Knows no rule.
import { oneLine } from '../../base/one-line.ts';
import type { Clock } from '../../base/clock.ts';
import { EVENT_INPUT, type MediaRequest, type MediaResponse } from '../../contract/grpc.ts';
import { startsAsWav } from '../../speech/wav.ts';
import type { Answer, AnswerPrompt, InputConfig, ServerEvent } from '../caller/answer.ts';

export interface ExchangeLine {
  /** ms since the exchange began. */
  readonly atMs: number;
  /** `suite`: a remark of this suite, which nobody sent. */
  readonly who: 'platform' | 'server' | 'suite';
  /** The RPC, such as `RPC2`, or the socket, such as `WS1`; empty for remarks. */
  readonly rpc: string;
  readonly what: string;
  /** How many times in a row this side sent the same line on this RPC. */
  readonly times: number;
}

/** Most lines kept from the beginning and from the end of an exchange; a server that sends too much must not fill the report. */
const [MAX_HEAD, MAX_TAIL] = [200, 100];
/** Longest quoted text of the other side, characters. */
const MAX_QUOTED = 160;

interface Line extends ExchangeLine {
  times: number;
}

export class ExchangeLog {
  readonly #clock: Clock;
  readonly #zeroMs: number;
  readonly #head: Line[] = [];
  readonly #tail: Line[] = [];
  #leftOut = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#zeroMs = clock.monotonicMs();
  }

  /** Adds a line. If it repeats the last line of this side on this RPC, the count of that line grows instead. */
  add(who: ExchangeLine['who'], rpc: string, what: string): void {
    const lines = this.#tail.length === 0 ? this.#head : this.#tail;
    const last = lines.findLast((line) => line.rpc === rpc && line.who === who);
    if (last?.what === what && lines.at(-1)?.who === who) {
      last.times += 1;
      return;
    }
    const to = this.#head.length < MAX_HEAD ? this.#head : this.#tail;
    to.push({ atMs: Math.round(this.#clock.monotonicMs() - this.#zeroMs), who, rpc, what, times: 1 });
    if (this.#tail.length <= MAX_TAIL) return;
    this.#tail.shift();
    this.#leftOut += 1;
  }

  /** The lines so far, in order; a remark takes the place of lines that were left out. */
  get lines(): readonly ExchangeLine[] {
    if (this.#leftOut === 0) return [...this.#head, ...this.#tail];
    const what = `${String(this.#leftOut)} lines left out`;
    return [...this.#head, { atMs: this.#tail[0]?.atMs ?? 0, who: 'suite', rpc: '', what, times: 1 }, ...this.#tail];
  }
}

/** Text of the other side: one line, bounded, without control characters. */
export function quoted(text: string): string {
  return `"${oneLine(text, MAX_QUOTED)}"`;
}

export function exchangeText({ atMs, who, rpc, what, times }: ExchangeLine): string {
  const direction = who === 'platform' ? '>' : who === 'server' ? '<' : '#';
  const repeated = times === 1 ? '' : ` ×${String(times)}`;
  return `${String(atMs).padStart(6)} ms  ${rpc.padEnd(5)} ${direction} ${what}${repeated}`;
}

const EVENT_NAMES: ReadonlyMap<number, string> = new Map(Object.entries(EVENT_INPUT).map(([name, number]) => [number, name]));

/** A request in a few words, with the number of keys instead of the keys (G-68). */
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

/** A response in a few words, with only the length of data about the caller. */
export function answerText(answer: Answer, { session_summary: summary, session_transcript: transcript }: MediaResponse): string {
  const { type, event, prompts, mode, config, sensitive, playsOn = false } = answer;
  return [
    type.toUpperCase(),
    event === undefined ? '' : eventText(event),
    ...prompts.map(promptText),
    mode === undefined ? '' : `input mode ${mode}`,
    config === undefined ? '' : configText(config),
    sensitive ? 'sensitive' : '',
    playsOn ? 'not cancelled by a later reply' : '',
    summary === undefined ? '' : `session summary ${lengthText(summary)}`,
    transcript === undefined ? '' : `session transcript ${lengthText(transcript)}`,
  ]
    .filter((part) => part !== '')
    .join(', ');
}

function eventText({ kind, name, metadata }: ServerEvent): string {
  // A routing hint is shown: it names a destination and no caller, and its form is a rule (G-79).
  const data = Object.entries(metadata).map(([key, value]) =>
    typeof value !== 'string' ? quoted(key) : `${plain(key)} ${key === 'routing_hint' ? quoted(value) : `${String(value.length)} chars`}`,
  );
  return `${kind.toUpperCase()}${name === '' ? '' : ` ${quoted(name)}`}${data.length === 0 ? '' : ` with ${data.join(', ')}`}`;
}

function configText({ noInputMs, digits, interDigitMs, terminator }: InputConfig): string {
  const keys = `${String(digits)} digits, between digits ${String(interDigitMs)} ms`;
  return `input settings (no input ${String(noInputMs)} ms, ${keys}${terminator === undefined ? '' : `, terminator ${terminator}`})`;
}

function lengthText({ text, ssml }: { readonly text?: string; readonly ssml?: string }): string {
  return `${String((text ?? ssml ?? '').length)} chars`;
}

/** A name from the other side: unchanged when it is a plain word, otherwise quoted. */
function plain(name: string): string {
  return /^\w{1,64}$/u.test(name) ? name : quoted(name);
}

function promptText({ text, uri, audio, bargeIn }: AnswerPrompt): string {
  const sound = audio.length === 0 ? '' : `${startsAsWav(audio) ? 'WAV' : 'raw audio'} ${String(audio.length)} B`;
  const parts = [text === '' ? '' : `text ${String(text.length)} chars`, uri === '' ? '' : 'an address', sound].filter(
    (part) => part !== '',
  );
  return `prompt (${parts.length === 0 ? 'empty' : parts.join(', ')}${bargeIn ? ', barge-in' : ''})`;
}

/** A call that several checks use as evidence. */
export interface Proof {
  /** The purpose of the call, such as `speech`. */
  readonly name: string;
  readonly log: ExchangeLog;
  /** Whether the server said that it has no room. */
  readonly isOverloaded: boolean;
}
