// The phone of a caller who is a real person: sound in both directions, keys and hang-up, at any moment of a call. The turn grammar
// decides what the platform takes, as for every other caller.
import { FRAME_MS, FRAME_SAMPLES } from '../../speech/audio-format.ts';
import { encodeMulaw } from '../../speech/g711.ts';
import type { CallClock } from './call-clock.ts';
import { FramePace } from './frame-pace.ts';
import { JitterBuffer } from './microphone.ts';
import type { Key } from './key.ts';
import type { Timeline } from './timeline.ts';
import type { TurnGrammar } from './turn-grammar.ts';

/** What the person may do; nothing happens after the end of the call. */
export interface Phone {
  /** Takes a frame of the person's microphone: 160 bytes of µ-law, 8 kHz. A frame that does not come in time counts as silence. */
  hear(frame: Uint8Array): void;
  /** Speaks a recorded sound in place of the microphone, µ-law, 8 kHz; a second one replaces the first. */
  say(mulaw: Uint8Array, label: string): void;
  press(key: Key): void;
  hangUp(): void;
}

export interface PhoneOptions {
  readonly clock: CallClock;
  readonly timeline: Timeline;
  readonly grammar: TurnGrammar;
  /** Called with every 20 ms that the person has heard, µ-law, 8 kHz; not while no prompt plays. */
  readonly onHeard?: ((frame: Uint8Array) => void) | undefined;
  readonly onHangUp: () => void;
}

/** One phone. `stop` must be called at the end of the call. */
export class LivePhone implements Phone {
  readonly #options: PhoneOptions;
  readonly #frames = new JitterBuffer();
  readonly #ear: FramePace;
  #isOver = false;

  constructor(options: PhoneOptions) {
    const { clock, grammar, onHeard } = options;
    this.#options = options;
    this.#ear = new FramePace(clock, () => {
      const heard = grammar.playback.heardLately(this.#ear.nextMs - FRAME_MS, FRAME_MS);
      if (heard !== undefined) onHeard?.(encodeMulaw(heard));
    });
  }

  start(): void {
    this.#options.grammar.listening.microphone.live = this.#frames;
    if (this.#options.onHeard !== undefined) this.#ear.start();
  }

  hear(frame: Uint8Array): void {
    if (frame.length === FRAME_SAMPLES) this.#frames.push(frame);
  }

  say(mulaw: Uint8Array, label: string): void {
    if (this.#isOver) return;
    const { grammar, timeline } = this.#options;
    timeline.add('caller', 'speaks', { detail: label });
    grammar.listening.microphone.speak(mulaw, () => timeline.add('caller', 'falls_silent'));
  }

  press(key: Key): void {
    if (!this.#isOver) this.#options.grammar.press(key);
  }

  hangUp(): void {
    if (!this.#isOver) this.#options.onHangUp();
  }

  stop(): void {
    this.#isOver = true;
    this.#ear.stop();
  }
}
