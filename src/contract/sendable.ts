// Makes all text of a response well-formed before it is encoded: otherwise the platform would refuse the whole
// message.
import type { MediaResponse } from './messages.ts';
import { wellFormed } from './well-formed.ts';

type TextContent = NonNullable<MediaResponse['session_summary']>;

/** The response with well-formed text. struct.ts does the same for free data (`metadata`). */
export function sendable(response: MediaResponse): MediaResponse {
  return {
    ...response,
    ...(response.prompts === undefined ? {} : { prompts: response.prompts.map((prompt) => wellFormedField(prompt, 'text')) }),
    ...(response.output_events === undefined
      ? {}
      : { output_events: response.output_events.map((event) => wellFormedField(event, 'name')) }),
    ...(response.session_transcript === undefined ? {} : { session_transcript: wellFormedText(response.session_transcript) }),
    ...(response.session_summary === undefined ? {} : { session_summary: wellFormedText(response.session_summary) }),
  };
}

function wellFormedText(content: TextContent): TextContent {
  return wellFormedField(wellFormedField(content, 'text'), 'ssml');
}

function wellFormedField<Key extends string, Message extends Readonly<Partial<Record<Key, string>>>>(message: Message, key: Key): Message {
  const text = message[key];
  return text === undefined ? message : { ...message, [key]: wellFormed(text) };
}
