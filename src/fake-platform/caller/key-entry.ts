// One entry of keys on the wire: START_OF_DTMF, the collection, and the RPC of the digits (G-54, G-60, G-62, G-64).
// Knows no audio beyond what is heard now.
import type { InputConfig } from './answer.ts';
import type { CallClock } from './call-clock.ts';
import { DigitCollector } from './digit-collector.ts';
import type { Key } from './key.ts';
import type { Playing } from './playback.ts';
import type { Timeline } from './timeline.ts';
import type { DueReply, TurnBook } from './turn-book.ts';
import type { Turn } from './turn.ts';

/** What the platform does where the contract leaves it open. */
export interface PlatformHabits {
  /** Send the terminator as the last key (G-67). Default false. */
  readonly terminatorIncluded?: boolean;
  /** A menu of one digit is sent without START_OF_DTMF before it (G-64). Default false. */
  readonly singleDigitDirect?: boolean;
}

/** The entries of one call, one at a time. */
export class KeyEntry {
  readonly #clock: CallClock;
  readonly #timeline: Timeline;
  readonly #book: TurnBook;
  readonly #habits: PlatformHabits;
  #collector: DigitCollector | undefined;
  /** The RPC of START_OF_DTMF; the digits wait for its completion, as in the reference exchange. */
  #startTurn: Turn | undefined;
  #collected: { readonly keys: readonly Key[]; readonly atMs: number } | undefined;

  constructor(clock: CallClock, timeline: Timeline, book: TurnBook, habits: PlatformHabits) {
    this.#clock = clock;
    this.#timeline = timeline;
    this.#book = book;
    this.#habits = habits;
  }

  /** From the first key until the digits are on their way. */
  get isOpen(): boolean {
    return this.#collector !== undefined;
  }

  /** The reply to complete digits that could not be sent yet. */
  get due(): readonly DueReply[] {
    return this.#collected === undefined ? [] : [{ kind: 'dtmf', waitedMs: this.#clock.nowMs() - this.#collected.atMs }];
  }

  /**
   * Takes a key into the open entry.
   *
   * @returns false when the entry already has all its keys.
   */
  add(key: Key): boolean {
    if (this.#collector?.isCollecting !== true) return false;
    this.#collector.press(key);
    return true;
  }

  /** Why the platform does not take the first key of an entry now; undefined when it does. */
  refusal(playing: Playing | undefined, isAwaiting: boolean): string | undefined {
    if (this.isOpen) return 'the entry is complete and not yet answered';
    if (playing?.bargeIn === false) return 'the prompt may not be interrupted (G-51)';
    return playing === undefined && isAwaiting ? 'the last input is not yet answered' : undefined;
  }

  /**
   * The first key of an entry.
   *
   * @param listeningTurn - the RPC that listens, if any; it is half-closed.
   * @param isBargeIn - a prompt plays: START_OF_DTMF then goes on the listening RPC, else on its own (G-54, G-60).
   */
  begin(key: Key, config: InputConfig, listeningTurn: Turn | undefined, isBargeIn: boolean): void {
    const isDirect = this.#habits.singleDigitDirect === true && config.digits === 1;
    if (listeningTurn !== undefined && isBargeIn && !isDirect) {
      listeningTurn.kind = 'dtmf_start';
      listeningTurn.line.send({ kind: 'dtmf_start' });
      this.#timeline.add('platform', 'dtmf_start', { turn: listeningTurn.id, detail: 'on the listening turn' });
      this.#book.await(listeningTurn, this.#clock.nowMs());
      this.#startTurn = listeningTurn;
    } else {
      if (listeningTurn !== undefined) this.#book.setAside(listeningTurn);
      if (!isDirect) this.#startTurn = this.#book.ask('dtmf_start', { kind: 'dtmf_start' });
    }
    const rules = { ...config, terminatorIncluded: this.#habits.terminatorIncluded ?? false };
    this.#collector = new DigitCollector(this.#clock, rules, (keys) => {
      this.#collected = { keys, atMs: this.#clock.nowMs() };
      this.#sendWhenReady();
    });
    this.#collector.press(key);
  }

  /** An RPC is over; if it carried START_OF_DTMF, the digits may go. */
  turnEnded(turn: Turn): void {
    if (turn !== this.#startTurn) return;
    this.#startTurn = undefined;
    this.#sendWhenReady();
  }

  /** Drops the entry. */
  cancel(): void {
    this.#collector?.cancel();
    this.#collector = undefined;
    this.#collected = undefined;
    this.#startTurn = undefined;
  }

  #sendWhenReady(): void {
    const collected = this.#collected;
    if (collected === undefined || this.#startTurn !== undefined) return;
    this.cancel();
    // The caller waits since the last key, however long the server delays the digits.
    this.#book.ask('dtmf', { kind: 'dtmf', keys: collected.keys }, collected.atMs);
  }
}
