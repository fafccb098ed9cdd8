// Maps outputs to the platform's messages. Audio is encoded as Base64 once per sound and barge-in flag; later calls
// reuse the bytes and put their own header before them.
import { isJsonList, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { SocketErrorCode, SocketInputHandling, SocketPrompt, SocketResponse } from '../../contract/envelope.ts';
import { MIN_SOCKET_CHUNK_BYTES, SOCKET_CHUNK_BYTES } from '../../contract/limits.ts';
import { dtmfNameOf, type EVENT_OUTPUT, type INPUT_MODE, type RESPONSE_TYPE } from '../../contract/numbers.ts';
import { wellFormed } from '../../contract/well-formed.ts';
import type { FinalNext, ListenSettings, Output, PromptAudio, Remains } from '../../dialog/output.ts';
import type { FlowEvent } from '../../dialog/reply.ts';
import { chunksOf, type ChunkSizes } from '../audio-chunks.ts';

export interface EnvelopeHead {
  readonly seq: number;
  /** Wall-clock time, ms since the epoch. */
  readonly nowMs: number;
  readonly conversationId: string;
}

type ResponseType = keyof typeof RESPONSE_TYPE;
type OutputEvent = NonNullable<SocketResponse['output_events']>[number];
/**
 * One response, with the names of the contract checked. No response is PARTIAL, so `disable_prompt_cancellation` is never
 * set (W-15).
 */
type Response = Omit<SocketResponse, 'response_type' | 'input_mode' | 'disable_prompt_cancellation'> & {
  readonly response_type: ResponseType;
  readonly input_mode?: keyof typeof INPUT_MODE;
};

/** The recommended maximum (W-31). */
const CHUNK_SIZES: ChunkSizes = { minBytes: MIN_SOCKET_CHUNK_BYTES, bytes: SOCKET_CHUNK_BYTES };
const ACCEPT_MODE = { speech: 'INPUT_VOICE', keys: 'INPUT_EVENT_DTMF', both: 'INPUT_VOICE_DTMF' } as const;
const END = Buffer.from('}');

/** Maps outputs to payloads and caches the payloads of sounds. One per server. */
export class ToEnvelope {
  // G-36, G-39: the start of input is a message of its own and FINAL; the end of input is not FINAL (W-24).
  readonly #inputStarted = [encoded(eventOnly('START_OF_INPUT', 'FINAL'))];
  readonly #inputEnded = [encoded(eventOnly('END_OF_INPUT', 'CHUNK'))];
  // Keyed by the sound, so that an entry disappears together with the sound's entry in the prompt cache.
  readonly #cuttable = new WeakMap<PromptAudio, readonly Buffer[]>();
  readonly #protected = new WeakMap<PromptAudio, readonly Buffer[]>();
  readonly #sendsNoInputTimeout: boolean;

  /** @param sendsNoInputTimeout - whether replies contain the no-input timeout (W-14). */
  constructor({ sendsNoInputTimeout }: { readonly sendsNoInputTimeout: boolean }) {
    this.#sendsNoInputTimeout = sendsNoInputTimeout;
  }

  /**
   * The payloads of one output, in order. None when the caller is gone (W-28), and none for a turn without a reply of its own,
   * because the FINAL of another turn on the same socket answers it (W-24). Audio travels headerless before the FINAL
   * in every delivery mode (W-30).
   */
  payloads(output: Output): readonly Buffer[] {
    switch (output.kind) {
      case 'input_started':
        return this.#inputStarted;
      case 'input_ended':
        return this.#inputEnded;
      case 'prompt':
        return this.#chunks(output.prompt.audio, output.prompt.bargeIn);
      case 'final':
        return output.next.kind === 'gone' || output.next.kind === 'superseded' ? [] : this.#reply(output);
    }
  }

  #reply({ prompts, next, bargeIn }: Output & { readonly kind: 'final' }): readonly Buffer[] {
    const payloads: Buffer[] = [];
    const texts: SocketPrompt[] = [];
    for (const prompt of prompts) {
      if (prompt.audio !== undefined) payloads.push(...this.#chunks(prompt.audio, prompt.bargeIn));
      else texts.push({ text: wellFormed(prompt.text ?? ''), is_barge_in_enabled: prompt.bargeIn });
    }
    // W-25: a FINAL without a prompt can leave the platform waiting. The prompt repeats the flag of the last sound, because
    // the effect of mixed flags is unknown (G-56).
    const lastBargeIn = prompts.findLast(({ audio }) => audio !== undefined)?.bargeIn ?? bargeIn ?? false;
    if (texts.length === 0) texts.push({ audio_content_b64: '', is_barge_in_enabled: lastBargeIn });
    payloads.push(encoded({ response_type: 'FINAL', prompts: texts, ...this.#next(next) }));
    return payloads;
  }

  #chunks(audio: PromptAudio, bargeIn: boolean): readonly Buffer[] {
    const known = bargeIn ? this.#cuttable : this.#protected;
    let chunks = known.get(audio);
    if (chunks === undefined) {
      chunks = chunksOf(audio.mulaw, CHUNK_SIZES).map((chunk) => {
        const prompt = { audio_content_b64: base64Of(chunk), is_barge_in_enabled: bargeIn };
        return encoded({ response_type: 'CHUNK', prompts: [prompt] });
      });
      known.set(audio, chunks);
    }
    return chunks;
  }

  // G-44, G-76, G-77, G-78, G-80: a FINAL has input settings unless it ends the session.
  #next(next: FinalNext): Partial<Response> {
    switch (next.kind) {
      case 'listen':
        return {
          input_mode: ACCEPT_MODE[next.accept],
          input_sensitive: next.sensitive,
          input_handling_config: this.#inputHandling(next),
          ...(next.event === undefined ? {} : { output_events: [customEvent(next.event)] }),
        };
      case 'transfer':
        return { output_events: [outputEvent('TRANSFER_TO_AGENT', 'transfer_requested', next.metadata)], ...remains(next) };
      case 'end':
        return { output_events: [outputEvent('SESSION_END', 'session_ended', next.metadata)], ...remains(next) };
      case 'superseded':
      case 'gone':
        return {};
    }
  }

  #inputHandling(listen: ListenSettings): SocketInputHandling {
    return {
      dtmf_config: {
        inter_digit_timeout_msec: listen.interDigitMs,
        ...(listen.terminator === 'none' ? {} : { termchar: dtmfNameOf(listen.terminator) }),
        dtmf_input_length: listen.digits,
      },
      ...(this.#sendsNoInputTimeout ? { speech_timers: { no_input_timeout_msec: listen.noInputMs } } : {}),
    };
  }
}

/** Metadata for tests only: the texts of the prompts, and what went wrong. */
interface Revealed {
  readonly texts: readonly string[];
  readonly isApology?: boolean;
  readonly isWithoutWords?: boolean;
}

/**
 * A response message.
 *
 * @param payload - of {@link ToEnvelope.payloads}.
 */
export function responseEnvelope(
  head: EnvelopeHead,
  payload: Buffer,
  { texts, isApology = false, isWithoutWords = false }: Revealed = { texts: [] },
): Buffer {
  const revealed = {
    ...(texts.length > 0 && { parley_prompt_texts: texts }),
    ...(isApology && { parley_apology: true }),
    ...(isWithoutWords && { parley_no_recognizer: true }),
  };
  const metadata = Object.keys(revealed).length === 0 ? '' : `"metadata":${JSON.stringify(revealed)},`;
  return Buffer.concat([Buffer.from(`${opening('VOICE_VA_RESPONSE', head)},${metadata}"payload":`), payload, END]);
}

/** An ERROR message (W-43). */
export function errorEnvelope(
  head: EnvelopeHead,
  error: { readonly code: SocketErrorCode; readonly status: number; readonly detail: string },
): Buffer {
  const { code, status, detail } = error;
  return Buffer.from(`${opening('ERROR', head)},"code":"${code}","status":${String(status)},"detail":${JSON.stringify(detail)}}`);
}

/** The answer to a PING, with the same number and conversation (W-40). */
export function pongEnvelope(head: EnvelopeHead): Buffer {
  return Buffer.from(`${opening('PONG', head)}}`);
}

function opening(type: string, { seq, nowMs, conversationId }: EnvelopeHead): string {
  const ts = new Date(nowMs).toISOString();
  return `{"type":"${type}","seq":${String(seq)},"ts":"${ts}","conversation_id":${JSON.stringify(wellFormed(conversationId))}`;
}

function encoded(response: Response): Buffer {
  return Buffer.from(JSON.stringify(response));
}

function base64Of({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

function eventOnly(event_type: keyof typeof EVENT_OUTPUT, response_type: ResponseType): Response {
  return { response_type, output_events: [{ event_type }] };
}

function outputEvent(event_type: keyof typeof EVENT_OUTPUT, name: string, metadata: JsonObject): OutputEvent {
  return { event_type, name: wellFormed(name), metadata: wellFormedJson(metadata) };
}

// G-73: custom events travel in the last message of the reply.
function customEvent({ name, metadata }: FlowEvent): OutputEvent {
  return outputEvent('CUSTOM_EVENT', name, metadata ?? {});
}

// G-7B: only the last response of a session carries summary and transcript.
function remains({ summary, transcript }: Remains): Partial<Response> {
  return {
    ...(summary === undefined ? {} : { session_summary: { text: wellFormed(summary) } }),
    ...(transcript === undefined ? {} : { session_transcript: { text: wellFormed(transcript) } }),
  };
}

/** Replaces lone surrogates in a bot's free data: a strict receiver would refuse the whole message. */
function wellFormedJson(json: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(json).map(([key, member]) => [wellFormed(key), wellFormedValue(member)]));
}

function wellFormedValue(json: JsonValue): JsonValue {
  if (typeof json === 'string') return wellFormed(json);
  if (typeof json !== 'object' || json === null) return json;
  return isJsonList(json) ? json.map(wellFormedValue) : wellFormedJson(json);
}
