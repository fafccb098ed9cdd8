// How a `TestCall` goes. Types only.

/** How the time of a `TestCall` goes. */
export interface TestCallOptions {
  /**
   * `fake`: it stands still until `advance` moves it, and while a prompt is heard. `real` (default): handlers have the time of the machine,
   * and prompts take none.
   */
  readonly clock?: 'fake' | 'real';
  /** How long a voice takes for one character, ms. Default 65. */
  readonly msPerCharacter?: number;
}

/** Where the caller comes in on the reply to what they do. */
export interface InterruptOptions {
  /**
   * When these words, or so many ms of the reply, were heard. Then the signal of its handler aborts; it has 300 ms to return, and after that
   * only what it has kept counts.
   */
  readonly interruptAt?: string | number;
  /** How they come in. Default `speech`. */
  readonly by?: 'speech' | 'keys';
}
