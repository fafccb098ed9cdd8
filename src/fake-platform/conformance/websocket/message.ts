// A tolerant reader of messages on a socket. Reads whatever can be understood, so that one fault of a message is one
// breach and not one for everything in the message. Judges nothing.
import { parseJson, type JsonObject, type JsonValue } from '../../../base/json.ts';
import { dtmfCharacterOfName } from '../../../contract/numbers.ts';
import { isClosing, type Answer, type AnswerPrompt, type InputConfig, type ServerEvent } from '../../caller/answer.ts';
import { ANSWER_TYPES, EVENT_KINDS, INPUT_MODES } from '../../lines/socket/envelope-words.ts';
import { PLATFORM_NO_INPUT_MS } from '../../lines/wire-rules.ts';
import { answerText, quoted } from '../exchange.ts';
import { KEYS } from '../../caller/key.ts';

export interface Message {
  /** When the message came, monotonic, ms. */
  readonly atMs: number;
  readonly isBinary: boolean;
  readonly bytes: number;
  /** The content of the message; undefined when it is no JSON object. */
  readonly json: JsonObject | undefined;
  /** Undefined unless the message is a VOICE_VA_RESPONSE. */
  readonly answer: Answer | undefined;
}

export type AnswerMessage = Message & { readonly answer: Answer };

/** Longest part of a message that is shown as received, characters. */
const MAX_SHOWN = 160;

export function readMessage(data: Uint8Array, isBinary: boolean, atMs: number): Message {
  const json = objectOf(parseJson(data));
  const payload = json?.['type'] === 'VOICE_VA_RESPONSE' ? objectOf(json['payload']) : undefined;
  return { atMs, isBinary, bytes: data.length, json, answer: payload === undefined ? undefined : answerOf(payload) };
}

/** A value as an object; undefined when it is none, such as a list. */
export function objectOf(value: unknown): JsonObject | undefined {
  // The cast is safe: everything here was parsed from JSON.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** The objects of a list; empty when the value is no list. */
export function objectsOf(value: JsonValue | undefined): readonly JsonObject[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  return list.map(objectOf).filter((each) => each !== undefined);
}

export function answersIn(messages: readonly Message[]): readonly AnswerMessage[] {
  return messages.filter((message): message is AnswerMessage => message.answer !== undefined);
}

/** The first FINAL that closes a reply. */
export function finalIn(messages: readonly Message[]): AnswerMessage | undefined {
  return answersIn(messages).find(({ answer }) => isClosing(answer));
}

export function errorsIn(messages: readonly Message[]): readonly JsonObject[] {
  return messages.flatMap(({ json }) => (json?.['type'] === 'ERROR' ? [json] : []));
}

/** A message in a few words, with only the length of data about the caller. */
export function messageText({ json, answer, bytes, isBinary }: Message): string {
  const form = isBinary ? 'binary: ' : '';
  if (json === undefined) return `${form}${String(bytes)} bytes that are no object of JSON`;
  const { type, seq, code, status, detail } = json;
  const head = `${form}${typeof type === 'string' ? quoted(type).slice(1, -1) : 'a message without a type'} ${typeof seq === 'number' ? `#${String(seq)}` : ''}`;
  if (answer !== undefined) return `${head} ${answerText(answer, {})}`;
  if (type === 'ERROR') return `${head} ${JSON.stringify([code, status]).slice(0, MAX_SHOWN)} ${quoted(textOf(detail))}`;
  return type === undefined ? `${head}with ${Object.keys(json).slice(0, 8).map(quoted).join(', ')}` : head.trimEnd();
}

function answerOf(payload: JsonObject): Answer {
  const { response_type: type, prompts, output_events: events, input_mode: mode, input_handling_config: config } = payload;
  const [event] = objectsOf(events);
  return {
    // As on gRPC, where a missing type means FINAL. That the type must not be missing is a rule of its own (W-12).
    type: type === undefined ? 'final' : (ANSWER_TYPES.get(type) ?? 'unknown'),
    prompts: objectsOf(prompts).map(promptOf),
    event: event === undefined ? undefined : eventOf(event),
    mode: INPUT_MODES.get(mode),
    config: configOf(objectOf(config)),
    playsOn: payload['disable_prompt_cancellation'] === true,
    sensitive: payload['input_sensitive'] === true,
  };
}

function promptOf(prompt: JsonObject): AnswerPrompt {
  // The field's name on gRPC is accepted here, although it breaks a rule (W-12).
  const audio = prompt['audio_content_b64'] ?? prompt['audio_content'];
  return {
    text: textOf(prompt['text']),
    uri: textOf(prompt['audio_uri']),
    audio: Buffer.from(textOf(audio), 'base64'),
    bargeIn: prompt['is_barge_in_enabled'] === true,
  };
}

function eventOf(event: JsonObject): ServerEvent {
  return {
    kind: EVENT_KINDS.get(event['event_type']) ?? 'other',
    name: textOf(event['name']),
    metadata: objectOf(event['metadata']) ?? {},
  };
}

function configOf(config: JsonObject | undefined): InputConfig | undefined {
  if (config === undefined) return undefined;
  const [keys, timers] = [objectOf(config['dtmf_config']), objectOf(config['speech_timers'])];
  const terminator = dtmfCharacterOfName(textOf(keys?.['termchar']));
  return {
    interDigitMs: numberOf(keys?.['inter_digit_timeout_msec']) ?? 0,
    terminator: KEYS.find((key) => key === terminator),
    digits: numberOf(keys?.['dtmf_input_length']) ?? 0,
    noInputMs: numberOf(timers?.['no_input_timeout_msec']) ?? PLATFORM_NO_INPUT_MS,
  };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function numberOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
