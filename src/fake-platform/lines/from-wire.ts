// Response messages of the wire as answers in our own words. The only reader of wire names among the caller's files.
import {
  DTMF_KEY,
  EVENT_OUTPUT,
  INPUT_MODE,
  RESPONSE_TYPE,
  type MediaResponse,
  type WireInputHandling,
  type WirePrompt,
} from '../../contract/grpc.ts';
import { jsonFromStruct } from '../../contract/struct.ts';
import type { Answer, AnswerPrompt, AnswerType, InputConfig, InputMode, ServerEventKind } from '../caller/answer.ts';
import { KEYS, type Key } from '../caller/key.ts';

const TYPES: ReadonlyMap<number, AnswerType> = new Map([
  [RESPONSE_TYPE.FINAL, 'final'],
  [RESPONSE_TYPE.PARTIAL, 'partial'],
  [RESPONSE_TYPE.CHUNK, 'chunk'],
]);

const EVENTS: ReadonlyMap<number, ServerEventKind> = new Map([
  [EVENT_OUTPUT.SESSION_END, 'session_end'],
  [EVENT_OUTPUT.TRANSFER_TO_AGENT, 'transfer'],
  [EVENT_OUTPUT.CUSTOM_EVENT, 'custom_event'],
  [EVENT_OUTPUT.START_OF_INPUT, 'start_of_input'],
  [EVENT_OUTPUT.END_OF_INPUT, 'end_of_input'],
  [EVENT_OUTPUT.NO_MATCH, 'no_match'],
  [EVENT_OUTPUT.NO_INPUT, 'no_input'],
]);

// 0 (unspecified) is not in the map: it is the same as unset (G-81).
const MODES: ReadonlyMap<number, InputMode> = new Map([
  [INPUT_MODE.INPUT_VOICE, 'voice'],
  [INPUT_MODE.INPUT_EVENT_DTMF, 'dtmf'],
  [INPUT_MODE.INPUT_VOICE_DTMF, 'voice_dtmf'],
]);

const KEY_OF: ReadonlyMap<number, Key> = new Map(KEYS.map((key) => [DTMF_KEY[key], key]));

const NO_AUDIO = new Uint8Array(0);

/**
 * Reads one response.
 *
 * @throws AppError `bad_message` when its free data nests too deep.
 */
export function answerFromWire(response: MediaResponse): Answer {
  // Only the first event counts (one is supported; of several the first is taken).
  const event = response.output_events?.[0];
  const kind = EVENTS.get(event?.event_type ?? 0);
  const config = response.input_handling_config;
  return {
    type: TYPES.get(response.response_type ?? RESPONSE_TYPE.FINAL) ?? 'unknown',
    prompts: (response.prompts ?? []).map(promptFromWire),
    // An event of type 0 says nothing.
    event:
      event === undefined || (event.event_type ?? 0) === 0
        ? undefined
        : { kind: kind ?? 'other', name: event.name ?? '', metadata: jsonFromStruct(event.metadata) },
    mode: MODES.get(response.input_mode ?? 0),
    config: config === undefined ? undefined : configFromWire(config),
    ...(response.disable_prompt_cancellation === true ? { playsOn: true } : {}),
    sensitive: response.input_sensitive ?? false,
  };
}

function promptFromWire(prompt: WirePrompt): AnswerPrompt {
  return {
    text: prompt.text ?? '',
    uri: prompt.audio_uri ?? '',
    audio: prompt.audio_content ?? NO_AUDIO,
    bargeIn: prompt.is_barge_in_enabled ?? false,
  };
}

function configFromWire({ dtmf_config: keys, speech_timers: timers }: WireInputHandling): InputConfig {
  return {
    interDigitMs: keys?.inter_digit_timeout_msec ?? 0,
    terminator: KEY_OF.get(keys?.termchar ?? 0),
    digits: keys?.dtmf_input_length ?? 0,
    noInputMs: timers?.no_input_timeout_msec ?? 0,
  };
}
