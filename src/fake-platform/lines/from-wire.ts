// Converts response messages of the wire to answers of the fake platform. Of the caller's files, only this one reads wire names.
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
import type { Answer, AnswerPrompt, InputConfig } from '../caller/answer.ts';
import { KEYS, type Key } from '../caller/key.ts';
import { ANSWER_TYPES, EVENT_KINDS, INPUT_MODES } from './socket/envelope-words.ts';

const TYPES = byNumber(RESPONSE_TYPE, ANSWER_TYPES);
const EVENTS = byNumber(EVENT_OUTPUT, EVENT_KINDS);
// 0 (unspecified) is missing, because it means the same as unset (G-81).
const MODES = byNumber(INPUT_MODE, INPUT_MODES);
const KEY_OF: ReadonlyMap<number, Key> = new Map(KEYS.map((key) => [DTMF_KEY[key], key]));

const NO_AUDIO = new Uint8Array(0);

/** Reads one response. @throws AppError `bad_message` when its free-form data is nested too deep. */
export function answerFromWire(response: MediaResponse): Answer {
  // Only the first event counts: one is supported.
  const event = response.output_events?.[0];
  const kind = EVENTS.get(event?.event_type ?? 0);
  const config = response.input_handling_config;
  return {
    type: TYPES.get(response.response_type ?? RESPONSE_TYPE.FINAL) ?? 'unknown',
    prompts: (response.prompts ?? []).map(promptFromWire),
    // An event of type 0 has no meaning.
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

/** Maps the numbers of an enum to our words. A WebSocket sends the names of the enum instead of numbers. */
function byNumber<Kind>(numbers: Readonly<Record<string, number>>, words: ReadonlyMap<unknown, Kind>): ReadonlyMap<number, Kind> {
  return new Map(
    Object.entries(numbers).flatMap(([name, number]) => {
      const kind = words.get(name);
      return kind === undefined ? [] : [[number, kind] as const];
    }),
  );
}
