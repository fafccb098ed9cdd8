// What goes over the wire while the server is measured: the caller's messages, and the answers of a reference that decodes
// nothing. Both sides of the comparison carry the same bytes.
import {
  DTMF_KEY,
  EVENT_INPUT,
  EVENT_OUTPUT,
  INPUT_MODE,
  loadContract,
  RESPONSE_TYPE,
  VOICE_ENCODING,
  type MediaRequest,
  type MediaResponse,
} from '../../src/contract/grpc.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { FRAME_SAMPLES, LINE_RATE_HZ } from '../../src/speech/audio-format.ts';
import { mulawWav } from '../../src/speech/wav.ts';
import { mixed, noise, recorded } from '../../test/support/line-signals.ts';
import { audioMessages, framed } from '../../src/fake-platform/lines/grpc-framing.ts';

const contract = loadContract(loadProfile('fake'));
const rpc = contract.media.definition.ProcessCallerInput;

/** Path of the RPC. */
export const RPC_PATH = rpc.path;

/** Bytes of one prompt: four of them are an answer. */
export const PROMPT_BYTES = 16 * 1024;
/** Prompts of one answer. */
export const ANSWER_PROMPTS = 4;

/** The line's own noise, dBFS: above digital silence, so that the voice detector is asked about every frame. */
const LINE_NOISE_DBFS = -55;
/** The caller begins to speak this long after the RPC was opened, ms. */
const SILENCE_BEFORE_MS = 900;
const SILENCE_AFTER_MS = 4000;

/** Which call a message belongs to. */
export interface CallName {
  readonly conversationId: string;
  readonly organizationId: string;
  readonly agentId: string;
}

/** The sound of one turn: noise, a sentence, noise. µ-law, a whole number of frames. */
export function turnSound(): Uint8Array {
  const sentence = recorded('sentence');
  const speech = new Uint8Array(SILENCE_BEFORE_MS * 8 + sentence.length).fill(0xff);
  speech.set(sentence, SILENCE_BEFORE_MS * 8);
  const whole = mixed(speech, noise(speech.length / 8 + SILENCE_AFTER_MS, LINE_NOISE_DBFS));
  return whole.subarray(0, whole.length - (whole.length % FRAME_SAMPLES));
}

/** The recordings of the measured bot, by file name. They are no speech; nobody listens. */
export function promptFiles(): ReadonlyMap<string, Uint8Array> {
  return new Map(
    Array.from({ length: ANSWER_PROMPTS }, (_, index) => [`ready-made-${String(index + 1)}.wav`, mulawWav(promptSound(index))]),
  );
}

function promptSound(seed: number): Uint8Array {
  return noise(PROMPT_BYTES / 8, -30, seed + 1);
}

/** A framed message that is an event alone. */
export function eventMessage(call: CallName, event: 'SESSION_START' | 'SESSION_END'): Buffer {
  return framed(rpc.requestSerialize({ ...identity(call), event_input: { event_type: EVENT_INPUT[event] } }));
}

/** Whether the bytes of an event message, which are few and end with the event's number, say SESSION_START. */
export function saysStart(bytes: Uint8Array): boolean {
  return bytes.at(-1) === EVENT_INPUT.SESSION_START;
}

/** Messages shorter than this carry no frame of audio. */
export const MIN_AUDIO_MESSAGE_BYTES = 200;

/**
 * Makes framed messages with one frame of audio.
 *
 * @param namesFormat - the first frame of a call names its encoding and rate, later ones do not.
 */
export function audioMessagesOf(call: CallName, namesFormat: boolean): (audio: Uint8Array) => Buffer {
  const format = namesFormat ? { encoding: VOICE_ENCODING.MULAW_FORMAT, sample_rate_hertz: LINE_RATE_HZ } : {};
  return audioMessages((audio) => rpc.requestSerialize({ ...identity(call), audio_input: { caller_audio: audio, ...format } }));
}

function identity({ conversationId, organizationId, agentId }: CallName): MediaRequest {
  return { conversation_id: conversationId, customer_org_id: organizationId, virtual_agent_id: agentId };
}

/** What the load understands of an answer: prompts are large and left alone. */
export function eventOf(bytes: Buffer): 'start_of_input' | 'end_of_input' | undefined {
  if (bytes.length > 100) return undefined;
  switch (rpc.responseDeserialize(bytes).output_events?.[0]?.event_type) {
    case EVENT_OUTPUT.START_OF_INPUT:
      return 'start_of_input';
    case EVENT_OUTPUT.END_OF_INPUT:
      return 'end_of_input';
    default:
      return undefined;
  }
}

const { CHUNK, FINAL } = RESPONSE_TYPE;
const prompts = Array.from({ length: ANSWER_PROMPTS }, (_, index) =>
  encoded({ prompts: [{ audio_content: promptSound(index), is_barge_in_enabled: true }], response_type: CHUNK }),
);
const goesOn = encoded({
  prompts: [{ audio_content: new Uint8Array(0), is_barge_in_enabled: true }],
  response_type: FINAL,
  input_mode: INPUT_MODE.INPUT_VOICE_DTMF,
  input_handling_config: {
    dtmf_config: { dtmf_input_length: 1, inter_digit_timeout_msec: 3000, termchar: DTMF_KEY['#'] },
    speech_timers: { no_input_timeout_msec: 10_000 },
  },
});

/** The answers of the server that is measured, ready to be written. */
export const ANSWERS = {
  welcome: [...prompts.slice(0, 1), goesOn],
  inputStarted: [encoded({ output_events: [{ event_type: EVENT_OUTPUT.START_OF_INPUT }], response_type: FINAL })],
  inputEnded: [encoded({ output_events: [{ event_type: EVENT_OUTPUT.END_OF_INPUT }], response_type: CHUNK })],
  reply: [...prompts, goesOn],
  hungUp: [encoded({ response_type: FINAL })],
} as const;

function encoded(response: MediaResponse): Buffer {
  return contract.encodeResponse(response);
}
