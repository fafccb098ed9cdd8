// An item in the conversation of a fake speech-to-speech model. Separate from the socket's file, so that programs that import it need no
// types of sockets.

/** One entry of a conversation. */
export interface FakeItem {
  readonly id: string;
  readonly by: 'caller' | 'assistant' | 'tool' | 'outcome';
  /** The spoken text without its truncated part, the name of a tool, or its result. */
  text: string;
  /** Length of an assistant's speech, ms. */
  readonly ms?: number;
}
