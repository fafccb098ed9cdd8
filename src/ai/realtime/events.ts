// The part of the realtime protocol that is used here: events of the service, validated on arrival, and events of the client. Ignores other
// events of the service.
import { z } from 'zod';
import { parseJson } from '../../base/json.ts';

const ID = z.string().max(200);

const FUNCTION_CALL = z.object({ type: z.literal('function_call'), name: z.string(), call_id: ID, arguments: z.string().default('') });
const OUTPUT = z.array(z.union([FUNCTION_CALL, z.object({ type: z.string() }).transform(() => undefined)]));

const EVENT = z.discriminatedUnion('type', [
  z.object({ type: z.literal('session.updated') }),
  z.object({ type: z.literal('input_audio_buffer.committed'), item_id: ID }),
  z.object({ type: z.literal('conversation.item.input_audio_transcription.completed'), item_id: ID, transcript: z.string() }),
  z.object({ type: z.literal('response.created'), response: z.object({ id: ID }) }),
  z.object({ type: z.literal('response.output_audio.delta'), response_id: ID, item_id: ID, delta: z.string() }),
  z.object({ type: z.literal('response.output_audio_transcript.delta'), response_id: ID, item_id: ID, delta: z.string() }),
  z.object({
    type: z.literal('response.done'),
    response: z.object({
      id: ID,
      status: z.string(),
      output: OUTPUT.default([]),
      usage: z.object({ input_tokens: z.number().default(0), output_tokens: z.number().default(0) }).nullish(),
    }),
  }),
  z.object({ type: z.literal('error'), error: z.object({ code: z.string().nullish(), event_id: ID.nullish() }) }),
]);

/** An event of the service. */
export type ServiceEvent = z.infer<typeof EVENT>;

/** Parses an event of the service; undefined when the event is invalid or not used here. */
export function serviceEvent(text: string): ServiceEvent | undefined {
  const parsed = EVENT.safeParse(parseJson(text));
  return parsed.success ? parsed.data : undefined;
}

/** One entry of a conversation, as the client creates it. */
export type ConversationItem = { readonly id: string } & (
  | { readonly type: 'message'; readonly role: 'user'; readonly content: readonly [{ readonly type: 'input_text'; readonly text: string }] }
  | {
      readonly type: 'message';
      readonly role: 'assistant';
      readonly content: readonly [{ readonly type: 'output_text'; readonly text: string }];
    }
  | { readonly type: 'function_call'; readonly call_id: string; readonly name: string; readonly arguments: string }
  | { readonly type: 'function_call_output'; readonly call_id: string; readonly output: string }
);

/** An event of the client. */
export type ClientEvent =
  | { readonly type: 'session.update'; readonly session: object }
  | { readonly type: 'input_audio_buffer.append'; readonly audio: string }
  | { readonly type: 'input_audio_buffer.commit' }
  | { readonly type: 'response.create'; readonly event_id: string }
  | { readonly type: 'response.cancel'; readonly response_id: string }
  | { readonly type: 'conversation.item.create'; readonly item: ConversationItem }
  | { readonly type: 'conversation.item.truncate'; readonly item_id: string; readonly content_index: 0; readonly audio_end_ms: number }
  | { readonly type: 'conversation.item.delete'; readonly item_id: string };
