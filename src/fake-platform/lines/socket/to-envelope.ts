// Converts the platform's messages to envelopes with `seq` and time. Nearly all envelopes are frames of audio: these copy a template text
// and insert the audio. The Base64 of a silent frame is precomputed.
import type { Clock } from '../../../base/clock.ts';
import type { JsonObject } from '../../../base/json.ts';
import { dtmfNameOf, type EVENT_INPUT, type VOICE_ENCODING } from '../../../contract/numbers.ts';
import { LINE_RATE_HZ } from '../../../speech/audio-format.ts';
import type { PlatformInput } from '../line.ts';
import { SILENT_FRAME } from '../../caller/microphone.ts';
import { identityFields, type CallIdentity } from '../to-wire.ts';

/** The inputs that are sent as envelopes: all except the format, which every frame names here. */
export type SocketInput = Exclude<PlatformInput, { readonly kind: 'audio_format' }>;

const ENCODING: keyof typeof VOICE_ENCODING = 'MULAW_FORMAT';
const SILENCE = base64(SILENT_FRAME);
/** Marks where the audio goes in the template; not a character of Base64. */
const MARK = '?';

/** Writes the envelopes of one call. */
export class EnvelopeWriter {
  readonly #clock: Clock;
  readonly #conversationId: string;
  readonly #common: JsonObject;
  readonly #frameHead: string;
  readonly #frameTail: string;
  #seq = 0;

  constructor(identity: CallIdentity, clock: Clock) {
    this.#clock = clock;
    this.#conversationId = identity.conversationId;
    this.#common = identityFields(identity);
    const frame = JSON.stringify({
      conversation_id: identity.conversationId,
      payload: this.#payload({ audio_input: { ...audioHead(), caller_audio_b64: MARK } }),
    });
    const markAt = frame.lastIndexOf(MARK);
    this.#frameHead = `",${frame.slice(1, markAt)}`;
    this.#frameTail = frame.slice(markAt + MARK.length);
  }

  /** The envelope of an input from the caller or the flow. */
  request(input: SocketInput): string {
    if (input.kind === 'audio') {
      this.#seq += 1;
      const bytes = input.audio === SILENT_FRAME ? SILENCE : base64(input.audio);
      return `{"type":"VOICE_VA_REQUEST","seq":${String(this.#seq)},"ts":"${this.#now()}${this.#frameHead}${bytes}${this.#frameTail}`;
    }
    return this.#envelope('VOICE_VA_REQUEST', { payload: this.#payload(inputOf(input)) });
  }

  /** A PING, which asks whether the server is alive (W-40). @returns the message, and its `seq`, which the answer repeats. */
  ping(): { readonly text: string; readonly seq: number } {
    const text = this.#envelope('PING');
    return { text, seq: this.#seq };
  }

  /** The answer to a PING of the server, with that PING's `seq`; the platform's own `seq` does not change (W-40, W-41). */
  pong(seq: number): string {
    return JSON.stringify({ type: 'PONG', seq, ts: this.#now(), conversation_id: this.#conversationId });
  }

  #payload(input: JsonObject): JsonObject {
    return { ...this.#common, voice_va_input_type: input };
  }

  #envelope(type: string, more: JsonObject = {}): string {
    this.#seq += 1;
    return JSON.stringify({ type, seq: this.#seq, ts: this.#now(), conversation_id: this.#conversationId, ...more });
  }

  #now(): string {
    return new Date(this.#clock.nowMs()).toISOString();
  }
}

function inputOf(input: Exclude<SocketInput, { readonly kind: 'audio' }>): JsonObject {
  switch (input.kind) {
    case 'session_start':
      return event('SESSION_START', flowData(input));
    case 'custom_event':
      return event('CUSTOM_EVENT', flowData(input));
    case 'dtmf_start':
      return event('START_OF_DTMF');
    case 'dtmf':
      return { dtmf_input: { dtmf_events: input.keys.map(dtmfNameOf) } };
    case 'no_input':
      return event('NO_INPUT');
    case 'session_end':
      return event('SESSION_END');
  }
}

function event(name: keyof typeof EVENT_INPUT, more: JsonObject = {}): JsonObject {
  return { event_input: { event_type: name, ...more } };
}

/** The flow's data that an event carries (G-24, G-72). */
function flowData({ name, parameters }: { readonly name: string; readonly parameters: JsonObject }): JsonObject {
  return { ...(name === '' ? {} : { name }), ...(Object.keys(parameters).length === 0 ? {} : { parameters }) };
}

/** Encoding and rate, which every frame names. */
function audioHead(): JsonObject {
  return { encoding: ENCODING, sample_rate_hertz: LINE_RATE_HZ };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
