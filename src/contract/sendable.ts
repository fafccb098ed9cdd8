// The last look at a response before it is encoded: text that a bot or a tool broke must not make the platform refuse
// the whole message.
import type { MediaResponse } from './messages.ts';
import { wellFormed } from './well-formed.ts';

type TextContent = NonNullable<MediaResponse['session_summary']>;

/** The response with well-formed text. Free data (`metadata`) is mended where it is made, in struct.ts. */
export function sendable(response: MediaResponse): MediaResponse {
  return {
    ...response,
    ...(response.prompts === undefined ? {} : { prompts: response.prompts.map((prompt) => mended(prompt, 'text')) }),
    ...(response.output_events === undefined ? {} : { output_events: response.output_events.map((event) => mended(event, 'name')) }),
    ...(response.session_transcript === undefined ? {} : { session_transcript: mendedText(response.session_transcript) }),
    ...(response.session_summary === undefined ? {} : { session_summary: mendedText(response.session_summary) }),
  };
}

function mendedText(content: TextContent): TextContent {
  return mended(mended(content, 'text'), 'ssml');
}

function mended<Key extends string, Message extends Readonly<Partial<Record<Key, string>>>>(message: Message, key: Key): Message {
  const text = message[key];
  return text === undefined ? message : { ...message, [key]: wellFormed(text) };
}
