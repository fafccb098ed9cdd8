// Converts envelopes of a server to answers of the fake platform. Accepts more than the contract allows, so that a call can continue
// without an omitted field, and reports what was wrong.
import { AppError } from '../../../base/errors.ts';
import { parseJson, type JsonObject } from '../../../base/json.ts';
import { bytesOfBase64 } from '../../../contract/base64.ts';
import {
  readServerEnvelope,
  type ServerEnvelope,
  type SocketInputHandling,
  type SocketPrompt,
  type SocketResponse,
} from '../../../contract/envelope.ts';
import { dtmfCharacterOfName } from '../../../contract/numbers.ts';
import type { Answer, AnswerPrompt, InputConfig } from '../../caller/answer.ts';
import { KEYS } from '../../caller/key.ts';
import type { Revealed } from '../line.ts';
import type { Breach } from '../wire-rules.ts';
import { ANSWER_TYPES, EVENT_KINDS, INPUT_MODES } from './envelope-words.ts';

/** Member of an envelope's metadata in which our own server sends the texts of a reply, when a test setting allows it. */
const PROMPT_TEXTS_KEY = 'parley_prompt_texts';
const APOLOGY_KEY = 'parley_apology';
const NO_RECOGNIZER_KEY = 'parley_no_recognizer';
/** Most audio of one prompt, bytes: as much as the largest message can contain. */
const MAX_AUDIO_BYTES = 10 * 1024 * 1024;

const NO_AUDIO = new Uint8Array(0);

/** Fields whose absence breaks a rule of their own, and not only the rule about the shape. */
const RULE_OF: ReadonlyMap<string, string> = new Map([
  ['seq', 'W-10'],
  ['conversation_id', 'W-13'],
]);

/** Replace fields that a server omitted. */
const FILLING = { seq: 1, ts: '-', conversation_id: '' };

/**
 * Reads one message of a server.
 * @param found - called for each missing field, and for an invalid `seq` (W-10, W-12, W-13).
 * @returns the message, and whether its `seq` is valid.
 * @throws AppError `bad_message` when the text is no envelope.
 */
export function readAnswerEnvelope(text: string, found: (breach: Breach) => void): ServerEnvelope & { readonly hasSeq: boolean } {
  try {
    return { ...readServerEnvelope(text), hasSeq: true };
  } catch (error) {
    const json = parseJson(text);
    if (!(error instanceof AppError) || !isObject(json)) throw error;
    const payload = isObject(json['payload']) ? json['payload'] : undefined;
    const isCounted = isCount(json['seq']);
    const envelope = readServerEnvelope(
      JSON.stringify({
        ...{ ...FILLING, ...json },
        ...(isCounted ? {} : { seq: FILLING.seq }),
        ...(payload === undefined ? {} : { payload: { response_type: 'FINAL', ...payload } }),
      }),
    );
    const missing = Object.keys(FILLING).filter((name) => !(name in json));
    if (payload !== undefined && !('response_type' in payload)) missing.push('response_type');
    for (const name of missing)
      found({ code: 'envelope_wrong', rule: RULE_OF.get(name) ?? 'W-12', message: `an envelope carries no ${name}` });
    if ('seq' in json && !isCounted)
      found({ code: 'envelope_wrong', rule: 'W-10', message: 'the seq of an envelope is no whole number from 1 upwards' });
    return { ...envelope, hasSeq: isCounted };
  }
}

/** RFC 3339: date, time, and offset from UTC. */
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/iu;

/** What is wrong with the head of a readable envelope, apart from `seq`. */
export function headBreach({ ts, conversation_id: given }: ServerEnvelope, conversationId: string): Breach | undefined {
  // A replaced `conversation_id` has been reported already.
  if (given !== '' && given !== conversationId) {
    return { code: 'envelope_wrong', rule: 'W-13', message: 'an envelope carries the conversation_id of another call' };
  }
  if (ts !== FILLING.ts && !MOMENT.test(ts))
    return { code: 'envelope_wrong', rule: 'W-12', message: 'the ts of an envelope is no date-time' };
  return undefined;
}

/**
 * Reads one response.
 * @param ownNoInputMs - the platform's own silence before no-input, ms, for a server that names none (W-14).
 * @throws AppError `bad_message` when its audio is not Base64.
 */
export function answerFromEnvelope(response: SocketResponse, ownNoInputMs: number): Answer {
  // Only the first event counts: one is supported.
  const event = response.output_events?.[0];
  const config = response.input_handling_config ?? undefined;
  return {
    type: ANSWER_TYPES.get(response.response_type) ?? 'unknown',
    prompts: (response.prompts ?? []).map(promptFrom),
    event:
      event === undefined
        ? undefined
        : { kind: EVENT_KINDS.get(event.event_type) ?? 'other', name: event.name ?? '', metadata: event.metadata ?? {} },
    mode: INPUT_MODES.get(response.input_mode),
    config: configFrom(config ?? {}, ownNoInputMs),
    isConfigAssumed: config === undefined,
    ...(response.disable_prompt_cancellation === true ? { playsOn: true } : {}),
    sensitive: response.input_sensitive ?? false,
  };
}

/** What our own server reveals in the metadata of a FINAL. Ignores members of another form: a foreign server may use the names. */
export function revealedIn(metadata: JsonObject | undefined): Revealed {
  const texts = metadata?.[PROMPT_TEXTS_KEY];
  return {
    promptTexts: Array.isArray(texts) ? texts.filter((text): text is string => typeof text === 'string') : [],
    isApology: metadata?.[APOLOGY_KEY] === true,
    isWithoutWords: metadata?.[NO_RECOGNIZER_KEY] === true,
  };
}

function promptFrom({ text, audio_uri: uri, audio_content_b64: audio, is_barge_in_enabled: bargeIn }: SocketPrompt): AnswerPrompt {
  return {
    text: text ?? '',
    uri: uri ?? '',
    audio: audio === undefined || audio === null || audio === '' ? NO_AUDIO : bytesOfBase64(audio, MAX_AUDIO_BYTES),
    bargeIn: bargeIn ?? false,
  };
}

function configFrom({ dtmf_config: keys, speech_timers: timers }: SocketInputHandling, ownNoInputMs: number): InputConfig {
  const terminator = dtmfCharacterOfName(keys?.termchar ?? '');
  return {
    interDigitMs: keys?.inter_digit_timeout_msec ?? 0,
    terminator: KEYS.find((key) => key === terminator),
    digits: keys?.dtmf_input_length ?? 0,
    noInputMs: timers?.no_input_timeout_msec ?? ownNoInputMs,
  };
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
