// How a `TestCall` goes. Types only.

/** The time of a `TestCall`. */
export interface TestCallOptions {
  /**
   * `fake`: it stands still until `advance` moves it, and while a prompt is heard. `real` (default): handlers have the time of the machine,
   * and prompts take none.
   */
  readonly clock?: 'fake' | 'real';
  /** How long a voice takes for a character, ms. Default 65. */
  readonly msPerCharacter?: number;
}

/** Where the caller comes in on the reply to what they do. */
export interface InterruptOptions {
  /**
   * When these words, or so many ms of the reply, were heard. The signal of its handler aborts, and it has 300 ms to return; after that only
   * what it has kept counts.
   */
  readonly interruptAt?: string | number;
  /** Default `speech`. */
  readonly by?: 'speech' | 'keys';
}
