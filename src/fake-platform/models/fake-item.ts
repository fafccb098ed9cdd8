// An item in the conversation of a fake speech-to-speech model. In a file of its own, because programs that import it should not need the
// types of WebSockets.

/** One entry of a conversation. */
export interface FakeItem {
  readonly id: string;
  readonly by: 'caller' | 'assistant' | 'tool' | 'outcome';
  /** The text of a message, shortened when it was truncated; or the name of a tool; or the result of a tool. */
  text: string;
  /** Set for speech of the model: its length, ms. */
  readonly ms?: number;
}
