// What a fake speech-to-speech model holds of a conversation. Apart from its socket, so that programs that use this need no types of it.

/** One entry of a conversation. */
export interface FakeItem {
  readonly id: string;
  readonly by: 'caller' | 'assistant' | 'tool' | 'outcome';
  /** What was said, a tool's name, or what it returned; words that were truncated are gone. */
  text: string;
  /** Of an assistant's speech, ms. */
  readonly ms?: number;
}
