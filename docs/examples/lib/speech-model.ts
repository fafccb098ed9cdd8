// Stands for the connection to a speech-to-speech model: takes audio, finds out when the caller speaks, and has an answer
// when the caller is done. This one only listens for loudness and repeats what it heard.

const LOUD = 2000;
const QUIET_FRAMES = 20;

/** What the model tells while it listens. */
export interface ModelEars {
  onSpeech(): void;
  onSilence(): void;
}

/** One connection, for one call. */
export class SpeechModel {
  readonly #ears: ModelEars;
  #quietFrames = 0;
  #isSpeaking = false;

  constructor(ears: ModelEars) {
    this.#ears = ears;
  }

  /** In earnest: closes the socket. */
  close(): void {
    this.#isSpeaking = false;
  }

  /** Takes 20 ms of audio. It reads `pcm` at once: the array is used again for the next frame. */
  push(pcm: Int16Array): void {
    const isLoud = pcm.some((sample) => Math.abs(sample) > LOUD);
    this.#quietFrames = isLoud ? 0 : this.#quietFrames + 1;
    if (isLoud && !this.#isSpeaking) {
      this.#isSpeaking = true;
      this.#ears.onSpeech();
    } else if (this.#isSpeaking && this.#quietFrames >= QUIET_FRAMES) {
      this.#isSpeaking = false;
      this.#ears.onSilence();
    }
  }
}
