// Maps outputs to the platform's messages. A prompt is encoded once per sound and barge-in flag; later calls reuse
// the bytes.
import {
  DTMF_KEY,
  EVENT_OUTPUT,
  INPUT_MODE,
  RESPONSE_TYPE,
  type Contract,
  type EncodedResponse,
  type MediaResponse,
  type WireInputHandling,
} from '../../contract/grpc.ts';
import { MAX_CHUNK_BYTES, MIN_CHUNK_BYTES } from '../../contract/limits.ts';
import { structFromJson } from '../../contract/struct.ts';
import type { FinalNext, ListenSettings, Output, PromptAudio, Remains, SpokenPrompt } from '../../dialog/output.ts';
import type { FlowEvent } from '../../dialog/reply.ts';
import { mulawWav } from '../../speech/wav.ts';
import { chunksOf, type ChunkSizes } from '../audio-chunks.ts';

/** The encoded forms of one sound, as far as they were needed. */
interface Encoded {
  chunks?: readonly EncodedResponse[];
  wav?: Buffer;
}

const NO_AUDIO = new Uint8Array(0);
/** The largest allowed size (G-42). */
const CHUNK_SIZES: ChunkSizes = { minBytes: MIN_CHUNK_BYTES, bytes: MAX_CHUNK_BYTES };
const ACCEPT_MODE = { speech: INPUT_MODE.INPUT_VOICE, keys: INPUT_MODE.INPUT_EVENT_DTMF, both: INPUT_MODE.INPUT_VOICE_DTMF } as const;

/** Maps outputs to encoded responses and caches encoded sounds. */
export class ToWire {
  readonly #contract: Contract;
  readonly #inputStarted: EncodedResponse;
  readonly #inputEnded: Readonly<Record<'wav' | 'chunk', EncodedResponse>>;
  // Keyed by the sound, so that an entry disappears together with the sound's entry in the prompt cache.
  readonly #cuttable = new WeakMap<PromptAudio, Encoded>();
  readonly #protected = new WeakMap<PromptAudio, Encoded>();

  constructor(contract: Contract) {
    this.#contract = contract;
    // G-36, G-39: a response of its own, and FINAL, because CHUNK would stop the caller's audio.
    this.#inputStarted = contract.encodeResponse(eventOnly(EVENT_OUTPUT.START_OF_INPUT, RESPONSE_TYPE.FINAL));
    this.#inputEnded = {
      wav: contract.encodeResponse(eventOnly(EVENT_OUTPUT.END_OF_INPUT, RESPONSE_TYPE.FINAL)),
      chunk: contract.encodeResponse(eventOnly(EVENT_OUTPUT.END_OF_INPUT, RESPONSE_TYPE.CHUNK)),
    };
  }

  /** The responses that deliver one output, in order. */
  responses(output: Output): readonly EncodedResponse[] {
    switch (output.kind) {
      case 'input_started':
        return [this.#inputStarted];
      case 'input_ended':
        return [this.#inputEnded[output.mode]];
      case 'prompt':
        return this.#chunks(output.prompt.audio, output.prompt.bargeIn);
      case 'final':
        return [this.#final(output)];
    }
  }

  #chunks(audio: PromptAudio, bargeIn: boolean): readonly EncodedResponse[] {
    const encoded = this.#encoded(audio, bargeIn);
    encoded.chunks ??= chunksOf(audio.mulaw, CHUNK_SIZES).map((audio_content) =>
      this.#contract.encodeResponse({ prompts: [{ audio_content, is_barge_in_enabled: bargeIn }], response_type: RESPONSE_TYPE.CHUNK }),
    );
    return encoded.chunks;
  }

  #final(output: Output & { kind: 'final' }): EncodedResponse {
    const prompts = output.prompts.map((prompt) => this.#promptOfFinal(prompt));
    // G-43: the FINAL of a streamed reply has one prompt without audio. This prompt repeats the flag of the last prompt,
    // because the effect of mixed flags is unknown (G-56).
    if (output.mode === 'chunk' && prompts.length === 0 && !isUnspoken(output.next)) {
      prompts.push(this.#contract.encodePrompt({ audio_content: NO_AUDIO, is_barge_in_enabled: output.bargeIn ?? false }));
    }
    return this.#contract.assembleResponse(prompts, { response_type: RESPONSE_TYPE.FINAL, ...nextToWire(output.next) });
  }

  #promptOfFinal({ audio, text, bargeIn }: SpokenPrompt): Buffer {
    // G-46: text is sent only without audio; otherwise the platform may speak both.
    if (audio === undefined) return this.#contract.encodePrompt({ text: text ?? '', is_barge_in_enabled: bargeIn });
    const encoded = this.#encoded(audio, bargeIn);
    encoded.wav ??= this.#contract.encodePrompt({ audio_content: mulawWav(audio.mulaw), is_barge_in_enabled: bargeIn });
    return encoded.wav;
  }

  #encoded(audio: PromptAudio, bargeIn: boolean): Encoded {
    const known = bargeIn ? this.#cuttable : this.#protected;
    let encoded = known.get(audio);
    if (encoded === undefined) {
      encoded = {};
      known.set(audio, encoded);
    }
    return encoded;
  }
}

/** Whether the response has no prompt at all (G-75, G-7C). */
function isUnspoken({ kind }: FinalNext): boolean {
  return kind === 'gone' || kind === 'superseded';
}

function eventOnly(event_type: number, response_type: number): MediaResponse {
  return { output_events: [{ event_type }], response_type };
}

// G-44, G-76, G-77, G-78, G-80: a FINAL has input settings unless it ends the session.
function nextToWire(next: FinalNext): MediaResponse {
  switch (next.kind) {
    case 'listen':
      return { ...inputSettings(next), ...(next.event === undefined ? {} : { output_events: [customEvent(next.event)] }) };
    case 'superseded':
      return inputSettings(next);
    case 'transfer': {
      const event = { event_type: EVENT_OUTPUT.TRANSFER_TO_AGENT, name: 'transfer_requested', metadata: structFromJson(next.metadata) };
      return { output_events: [event], ...remainsToWire(next) };
    }
    case 'end': {
      const event = { event_type: EVENT_OUTPUT.SESSION_END, name: 'session_ended', metadata: structFromJson(next.metadata) };
      return { output_events: [event], ...remainsToWire(next) };
    }
    case 'gone':
      return {};
  }
}

function inputSettings(listen: ListenSettings): MediaResponse {
  return {
    input_mode: ACCEPT_MODE[listen.accept],
    input_sensitive: listen.sensitive,
    input_handling_config: inputHandling(listen),
  };
}

// G-73: custom events travel in the last response of the turn.
function customEvent({ name, metadata }: FlowEvent): NonNullable<MediaResponse['output_events']>[number] {
  return { event_type: EVENT_OUTPUT.CUSTOM_EVENT, name, metadata: structFromJson(metadata ?? {}) };
}

// G-7B: only the last response of a session carries summary and transcript.
function remainsToWire({ summary, transcript }: Remains): MediaResponse {
  return {
    ...(summary === undefined ? {} : { session_summary: { text: summary } }),
    ...(transcript === undefined ? {} : { session_transcript: { text: transcript } }),
  };
}

function inputHandling(listen: ListenSettings): WireInputHandling {
  return {
    dtmf_config: {
      dtmf_input_length: listen.digits,
      inter_digit_timeout_msec: listen.interDigitMs,
      ...(listen.terminator === 'none' ? {} : { termchar: DTMF_KEY[listen.terminator] }),
    },
    speech_timers: { no_input_timeout_msec: listen.noInputMs },
  };
}
