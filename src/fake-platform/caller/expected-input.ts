// What the server asked the caller for last: input mode, key rules and the time until silence is reported.
import { isClosing, type Answer, type InputConfig, type InputMode } from './answer.ts';
import type { Turn } from './turn.ts';

/** Unset settings; the platform's own timers are not known (G-84). */
const UNSET: InputConfig = { interDigitMs: 0, terminator: undefined, digits: 0, noInputMs: 0 };

/** The settings for the caller's next input. Before the first reply all are unset. */
export class ExpectedInput {
  #mode: InputMode = 'voice_dtmf';
  #config: InputConfig = UNSET;
  #fromTurn = 0;

  get takesVoice(): boolean {
    return this.#mode !== 'dtmf';
  }

  get takesKeys(): boolean {
    return this.#mode !== 'voice';
  }

  get config(): InputConfig {
    return this.#config;
  }

  /**
   * Takes the settings of a closing FINAL; nothing else carries any (G-44). Unset ones fall back to their defaults
   * (G-81). What an older RPC says after a newer one counts no more.
   */
  take(turn: Turn, answer: Answer): void {
    if (!isClosing(answer) || turn.id < this.#fromTurn) return;
    this.#mode = answer.mode ?? 'voice_dtmf';
    this.#config = answer.config ?? UNSET;
    this.#fromTurn = turn.id;
  }
}
