// The transcription part of the realtime protocol: the events of a service, parsed at the edge, and the events sent to it.
import { z } from 'zod';
import { parseJson } from '../../base/json.ts';

const ID = z.string().max(200);
const TRANSCRIPTION = 'conversation.item.input_audio_transcription';

const EVENT = z.discriminatedUnion('type', [
  z.object({ type: z.literal('input_audio_buffer.committed'), item_id: ID }),
  z.object({ type: z.literal(`${TRANSCRIPTION}.delta`), item_id: ID, delta: z.string() }),
  z.object({ type: z.literal(`${TRANSCRIPTION}.completed`), item_id: ID, transcript: z.string() }),
  z.object({ type: z.literal(`${TRANSCRIPTION}.failed`), item_id: ID }),
  z.object({ type: z.literal('error'), error: z.object({ code: z.string().nullish() }) }),
]);

/** An event of the service. */
export type TranscriptionEvent = z.infer<typeof EVENT>;

/** Parses an event; undefined for one that is invalid or not used here. */
export function transcriptionEvent(text: string): TranscriptionEvent | undefined {
  const parsed = EVENT.safeParse(parseJson(text));
  return parsed.success ? parsed.data : undefined;
}

/** An event of the client. */
export type TranscriptionRequest =
  | { readonly type: 'session.update'; readonly session: object }
  | { readonly type: 'input_audio_buffer.append'; readonly audio: string }
  | { readonly type: 'input_audio_buffer.commit' }
  | { readonly type: 'input_audio_buffer.clear' };
