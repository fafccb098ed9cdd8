// The JSON envelopes of a WebSocket, one schema for each direction. Written here because the published base schema
// rejects its own examples (W-12). Unknown fields are ignored, because a newer platform may send them.
import { z } from 'zod';
import { AppError } from '../base/errors.ts';
import { parseJson, type JsonObject, type JsonValue } from '../base/json.ts';

const word = z.string().max(256);
const longText = z.string().max(65_536);
const whole = z.number().int();
/** RFC 3339; not parsed. */
const moment = z.string().min(1).max(64);

/** Free data, as an object or as the list of pairs that some platforms send (W-16). */
const free = z
  .union([z.record(z.string(), z.unknown()), z.array(z.unknown()).max(1000)])
  .nullish()
  .transform(objectOf);

const audioInput = z.object({
  encoding: word.nullish(),
  sample_rate_hertz: whole.nullish(),
  /** Base64; see {@link bytesOfBase64}. */
  caller_audio_b64: z.string().nullish(),
  audio_timestamp: z.string().max(64).nullish(),
  language_code: word.nullish(),
  is_single_utterance: z.boolean().nullish(),
});

const dtmfInput = z.object({ dtmf_events: z.array(word).max(256).nullish() });
const eventInput = z.object({ event_type: word.nullish(), name: z.string().max(1024).nullish(), parameters: free.optional() });

const requestPayload = z.object({
  conversation_id: word,
  customer_org_id: word,
  virtual_agent_id: word.nullish(),
  allow_partial_responses: z.boolean().nullish(),
  vendor_specific_config: longText.nullish(),
  additional_info: free.optional(),
  // Exactly one of these inputs is set; checked by the mapper.
  voice_va_input_type: z.object({
    audio_input: audioInput.nullish(),
    dtmf_input: dtmfInput.nullish(),
    event_input: eventInput.nullish(),
  }),
});

const head = { seq: whole.min(1), ts: moment, conversation_id: word, metadata: free.optional() };

const control = [
  z.object({ ...head, type: z.literal('PING') }),
  z.object({ ...head, type: z.literal('PONG') }),
  z.object({ ...head, type: z.literal('ERROR'), code: word, status: whole, detail: longText.nullish() }),
] as const;

const fromPlatform = z.discriminatedUnion('type', [
  z.object({ ...head, type: z.literal('VOICE_VA_REQUEST'), payload: requestPayload }),
  ...control,
]);

const prompt = z.object({
  text: longText.nullish(),
  audio_content_b64: z.string().nullish(),
  audio_uri: longText.nullish(),
  is_barge_in_enabled: z.boolean().nullish(),
});

const textContent = z.object({ text: longText.nullish(), ssml: longText.nullish(), language_code: word.nullish() });

const inputHandling = z.object({
  dtmf_config: z
    .object({ inter_digit_timeout_msec: whole.nullish(), termchar: word.nullish(), dtmf_input_length: whole.nullish() })
    .nullish(),
  // Not in the published schema, but some connectors send `no_input_timeout_msec` (W-14).
  speech_timers: z
    .object({
      max_speech_timeout_msec: whole.nullish(),
      complete_timeout_msec: whole.nullish(),
      incomplete_timeout_msec: whole.nullish(),
      no_input_timeout_msec: whole.nullish(),
    })
    .nullish(),
});

const responsePayload = z.object({
  response_type: word,
  prompts: z.array(prompt).max(1000).nullish(),
  output_events: z
    .array(z.object({ event_type: word, name: z.string().max(1024).nullish(), metadata: free.optional() }))
    .max(100)
    .nullish(),
  input_sensitive: z.boolean().nullish(),
  input_mode: word.nullish(),
  input_handling_config: inputHandling.nullish(),
  session_transcript: textContent.nullish(),
  session_summary: textContent.nullish(),
  // Not in the published schema, but in the newest guide (W-15).
  disable_prompt_cancellation: z.boolean().nullish(),
});

const fromServer = z.discriminatedUnion('type', [
  z.object({ ...head, type: z.literal('VOICE_VA_RESPONSE'), payload: responsePayload }),
  ...control,
]);

const listRequest = z.object({ customer_org_id: word, is_default_virtual_agent_enabled: z.boolean().nullish() });
const listAnswer = z.object({ virtual_agents: z.array(z.object({ id: word, name: z.string().max(1024) })).max(10_000) });

/** Any message of the platform on the voice channel. */
export type PlatformEnvelope = z.output<typeof fromPlatform>;
/** An input of the caller or the flow. */
export type SocketRequest = z.output<typeof requestPayload>;
/** Caller audio in a {@link SocketRequest}. */
export type SocketAudio = z.output<typeof audioInput>;
/** Any message of a server on the voice channel. */
export type ServerEnvelope = z.output<typeof fromServer>;
export type SocketResponse = z.output<typeof responsePayload>;
export type SocketPrompt = z.output<typeof prompt>;
/** Timers and key rules for the next input. */
export type SocketInputHandling = z.output<typeof inputHandling>;
/** A request for the list of agents (W-50). */
export type SocketListRequest = z.output<typeof listRequest>;
/** The available agents (W-51, W-52). */
export type SocketListAnswer = z.output<typeof listAnswer>;

/** Codes of an ERROR envelope (W-43). */
export const SOCKET_ERROR_CODES = ['unauthorized', 'bad_request', 'unsupported_media', 'upstream_error', 'rate_limit', 'timeout'] as const;
/** See {@link SOCKET_ERROR_CODES}. */
export type SocketErrorCode = (typeof SOCKET_ERROR_CODES)[number];

/** Close codes of a WebSocket (W-44); 1009 is the WebSocket protocol's code for a message that is too large. */
export const CLOSE_CODE = {
  normal: 1000,
  goingAway: 1001,
  protocol: 1002,
  unsupported: 1003,
  policy: 1008,
  tooLarge: 1009,
  internal: 1011,
  overloaded: 1013,
} as const;

/** Types of {@link PlatformEnvelope}. */
const PLATFORM_TYPES: ReadonlySet<string> = new Set(fromPlatform.options.map(({ shape }) => shape.type.value));

/**
 * Reads a message of the platform. Undefined: an envelope of an unknown type (W-17).
 *
 * @throws AppError `bad_message`; the message names the field and never its value.
 */
export function readPlatformEnvelope(text: string): PlatformEnvelope | undefined {
  const json = parsed(text);
  const type = typeof json === 'object' && json !== null && 'type' in json ? json.type : undefined;
  if (typeof type === 'string' && !PLATFORM_TYPES.has(type)) return undefined;
  return shaped(fromPlatform, json);
}

/** Reads a message of a server. @throws AppError `bad_message`, as {@link readPlatformEnvelope}. */
export function readServerEnvelope(text: string): ServerEnvelope {
  return read(fromServer, text);
}

/** Reads the request of the list channel. @throws AppError `bad_message`, as {@link readPlatformEnvelope}. */
export function readListRequest(text: string): SocketListRequest {
  return read(listRequest, text);
}

/** Reads the response of the list channel. @throws AppError `bad_message`, as {@link readPlatformEnvelope}. */
export function readListAnswer(text: string): SocketListAnswer {
  return read(listAnswer, text);
}

function read<Shape>(shape: z.ZodType<Shape>, text: string): Shape {
  return shaped(shape, parsed(text));
}

function parsed(text: string): unknown {
  const json = parseJson(text);
  if (json === undefined) throw new AppError('bad_message', 'the message is not JSON');
  return json;
}

function shaped<Shape>(shape: z.ZodType<Shape>, json: unknown): Shape {
  const result = shape.safeParse(json);
  if (result.success) return result.data;
  throw new AppError('bad_message', `the message breaks the contract at ${pathOf(result.error)}`);
}

/**
 * The path of the invalid field, with known names only: unknown names are untrusted and must not reach logs and
 * responses.
 */
function pathOf(error: z.ZodError): string {
  const path = error.issues[0]?.path ?? [];
  const known = path.filter((part) => typeof part === 'number' || (typeof part === 'string' && /^[a-z][a-z_0-9]{0,40}$/.test(part)));
  return known.length === 0 ? 'its top level' : known.join('.');
}

/**
 * Converts free data (an object, a list of key-value pairs, or nothing) to an object. Malformed pairs are dropped.
 * The values come from JSON, which the compiler cannot know.
 */
function objectOf(given: Record<string, unknown> | unknown[] | null | undefined): JsonObject {
  if (given === null || given === undefined) return {};
  if (!Array.isArray(given)) return given as Record<string, JsonValue>;
  const pairs = given.flatMap((pair): (readonly [string, JsonValue])[] =>
    isPair(pair) ? [[pair.key, (pair.value ?? null) as JsonValue]] : [],
  );
  return Object.fromEntries(pairs);
}

function isPair(pair: unknown): pair is { readonly key: string; readonly value?: unknown } {
  return typeof pair === 'object' && pair !== null && 'key' in pair && typeof pair.key === 'string';
}
