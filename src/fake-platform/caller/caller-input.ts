// The input of a caller: the listening turn, keys and silence. Decides which of them the platform takes now. The turn
// grammar decides what happens to the replies.
import type { CancelTimer } from '../../base/clock.ts';
import { isClosing, type Answer, type InputConfig, type InputMode } from './answer.ts';
import type { CallClock } from './call-clock.ts';
import { KeyEntry } from './key-entry.ts';
import type { Key } from './key.ts';
import { Listening } from './listening.ts';
import type { Playback } from './playback.ts';
import type { Timeline } from './timeline.ts';
import type { DueReply, TurnBook } from './turn-book.ts';
import type { TurnGrammarOptions } from './turn-grammar-options.ts';
import type { Turn } from './turn.ts';

/** Most RPCs of one call; without this limit, a server that ends its turns at once would make the caller loop. */
export const MAX_TURNS = 1000;

/** Settings when the server sent none; the platform's own timers are not known (G-84). */
const UNSET: InputConfig = { interDigitMs: 0, terminator: undefined, digits: 0, noInputMs: 0 };

/** The input of one call. `stop` must be called at the end. */
export class CallerInput {
  readonly listening: Listening;
  readonly #clock: CallClock;
  readonly #timeline: Timeline;
  readonly #book: TurnBook;
  readonly #playback: Playback;
  readonly #entry: KeyEntry;
  readonly #onSilence: () => void;
  /** The mode and settings of the newest closing FINAL, and the id of its RPC. */
  #mode: InputMode = 'voice_dtmf';
  #config = UNSET;
  #askedOn = 0;
  /** Set while the silence timer runs. */
  #cancelSilence: CancelTimer | undefined;

  /** @param onSilence - called when the caller has been silent for as long as the server waits (G-70). */
  constructor(
    { clock, timeline, habits }: Pick<TurnGrammarOptions, 'clock' | 'timeline' | 'habits'>,
    book: TurnBook,
    playback: Playback,
    onSilence: () => void,
  ) {
    this.#clock = clock;
    this.#timeline = timeline;
    this.#book = book;
    this.#playback = playback;
    this.#entry = new KeyEntry(clock, timeline, book, habits);
    this.listening = new Listening(clock, book, () => playback.playing?.bargeIn !== false);
    this.#onSilence = onSilence;
  }

  /** Whether the line waits for the caller: nothing plays, no reply is due, no entry is open. */
  get isAwaited(): boolean {
    return this.#playback.playing === undefined && !this.#book.isReplyDue && !this.#entry.isOpen;
  }

  /** Whether the silence timer runs. */
  get isSilenceWatched(): boolean {
    return this.#cancelSilence !== undefined;
  }

  /** Due replies to input that no RPC awaits yet: speech whose end the server has not noticed, and complete digits not yet sent. */
  get due(): readonly DueReply[] {
    return [...this.listening.due, ...this.#entry.due];
  }

  /**
   * Takes the settings of a closing FINAL; nothing else carries any (G-44). Unset fields fall back to their defaults
   * (G-81). Settings that an older RPC sends after a newer one are ignored.
   */
  expect(turn: Turn, answer: Answer): void {
    if (!isClosing(answer) || turn.id < this.#askedOn) return;
    this.#mode = answer.mode ?? 'voice_dtmf';
    this.#config = answer.config ?? UNSET;
    this.#askedOn = turn.id;
  }

  /** An RPC is over: sends the digits that waited for it, if any. */
  turnEnded(turn: Turn): void {
    this.#entry.turnEnded(turn);
  }

  /**
   * The caller presses a key.
   *
   * @param cutBefore - drops the unheard prompts of RPCs before `turn`, because the key interrupts them.
   * @returns whether the platform took the key (G-51).
   */
  press(key: Key, cutBefore: (turn: number) => void): boolean {
    this.#timeline.add('caller', 'presses', { detail: key });
    if (this.#entry.add(key)) return true;
    const { playing } = this.#playback;
    const refusal = this.#mode === 'voice' ? 'the server listens for speech only' : this.#entry.refusal(playing, this.#book.isReplyDue);
    if (refusal !== undefined) {
      this.#timeline.add('platform', 'drops_key', { detail: refusal });
      return false;
    }
    const listeningTurn = this.listening.take();
    if (playing !== undefined) cutBefore(this.#book.nextId);
    this.#entry.begin(key, this.#config, listeningTurn, playing !== undefined);
    return true;
  }

  /**
   * Opens or half-closes the listening turn and starts or stops the silence timer, as the present state requires.
   *
   * @returns false when an RPC is wanted and the call has used {@link MAX_TURNS}.
   */
  settle(): boolean {
    const { playing } = this.#playback;
    const { listening } = this;
    const takesVoice = this.#mode !== 'dtmf';
    // G-50: while a prompt with barge-in plays, the next RPC opens before the present one is over.
    const mayListen = takesVoice && !this.#entry.isOpen && (playing === undefined ? !this.#book.isReplyDue : playing.bargeIn);
    if (listening.turn === undefined && mayListen) {
      if (this.#book.nextId > MAX_TURNS) return false;
      this.#timeline.add('platform', 'listens', { turn: listening.open().id });
    } else if (listening.turn?.hasHeardSpeech === false && !takesVoice) {
      listening.setAside();
    }
    if (this.isAwaited && listening.turn?.hasHeardSpeech !== true) this.#watchSilence();
    else this.#ignoreSilence();
    return true;
  }

  /** Takes no more input, because the server wants none. */
  setAside(): void {
    this.listening.setAside();
    this.#entry.cancel();
    this.#ignoreSilence();
  }

  stop(): void {
    this.#ignoreSilence();
    this.#entry.cancel();
    this.listening.stop();
  }

  /** Starts the timer unless it runs already; with a limit of 0, silence is never reported (G-82). */
  #watchSilence(): void {
    if (this.#config.noInputMs <= 0) return;
    this.#cancelSilence ??= this.#clock.after(this.#config.noInputMs, () => {
      this.#cancelSilence = undefined;
      this.#onSilence();
    });
  }

  #ignoreSilence(): void {
    this.#cancelSilence?.();
    this.#cancelSilence = undefined;
  }
}
