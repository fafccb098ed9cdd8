// One entry of keys on the wire: START_OF_DTMF, the collection, and the RPC of the digits (G-54, G-60, G-62, G-64).
// Knows no audio beyond what is heard now.
import type { InputConfig } from './answer.ts';
import type { CallClock } from './call-clock.ts';
import type { Key } from './key.ts';
import type { Playing } from './playback.ts';
import type { Timeline } from './timeline.ts';
import type { DueReply, TurnBook } from './turn-book.ts';
import type { Turn } from './turn.ts';
import type { CancelTimer } from '../../base/clock.ts';

/** The pause between keys when the server set none, ms; the platform's own value is not known (G-84). */
const DEFAULT_INTER_DIGIT_MS = 3000;
/** Most keys of one entry when the server set no length: the collection must end even when keys never stop. */
const MAX_KEYS = 64;

export interface DigitRules {
  /** Longest pause after a key, ms; 0 means 3000. */
  readonly interDigitMs: number;
  readonly terminator: Key | undefined;
  /** Number of keys that complete the entry; 0 for no such number. */
  readonly digits: number;
  /** Whether the terminator is sent as the last key; what the platform does is not known (G-67). Default false. */
  readonly terminatorIncluded?: boolean;
}

/** Collects one entry, beginning with its first key. Cannot be used again after `onCollected`. */
export class DigitCollector {
  readonly #clock: CallClock;
  readonly #rules: DigitRules;
  readonly #onCollected: (keys: readonly Key[]) => void;
  readonly #keys: Key[] = [];
  #cancelPause: CancelTimer = () => undefined;
  #done = false;

  constructor(clock: CallClock, rules: DigitRules, onCollected: (keys: readonly Key[]) => void) {
    this.#clock = clock;
    this.#rules = rules;
    this.#onCollected = onCollected;
  }

  /** True until the entry is complete or cancelled. */
  get isCollecting(): boolean {
    return !this.#done;
  }

  /** Takes one key; ignored when the entry is complete. */
  press(key: Key): void {
    if (this.#done) return;
    this.#cancelPause();
    const ends = key === this.#rules.terminator;
    if (!ends || this.#rules.terminatorIncluded === true) this.#keys.push(key);
    const full = this.#keys.length >= (this.#rules.digits > 0 ? this.#rules.digits : MAX_KEYS);
    if (ends || full) {
      this.#finish();
      return;
    }
    const pauseMs = this.#rules.interDigitMs > 0 ? this.#rules.interDigitMs : DEFAULT_INTER_DIGIT_MS;
    this.#cancelPause = this.#clock.after(pauseMs, () => this.#finish());
  }

  /** Drops the entry; `onCollected` will not be called. */
  cancel(): void {
    this.#done = true;
    this.#cancelPause();
  }

  #finish(): void {
    this.cancel();
    this.#onCollected(this.#keys);
  }
}

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
  /** The RPC of START_OF_DTMF. The digits wait until this RPC is completed, as in the reference exchange. */
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

  /** The reply that is due to complete digits which could not be sent yet. */
  get due(): readonly DueReply[] {
    return this.#collected === undefined ? [] : [{ kind: 'dtmf', waitedMs: this.#clock.nowMs() - this.#collected.atMs }];
  }

  /** Takes a key into the open entry. @returns false when no entry is open or the entry is complete. */
  add(key: Key): boolean {
    if (this.#collector?.isCollecting !== true) return false;
    this.#collector.press(key);
    return true;
  }

  /** Why the platform does not take the first key of an entry now; undefined when the platform takes it. */
  refusal(playing: Playing | undefined, isAwaiting: boolean): string | undefined {
    if (this.isOpen) return 'the entry is complete and not yet answered';
    if (playing?.bargeIn === false) return 'the prompt may not be interrupted (G-51)';
    return playing === undefined && isAwaiting ? 'the last input is not yet answered' : undefined;
  }

  /**
   * The first key of an entry.
   *
   * @param listeningTurn - the RPC that listens, if any; it is half-closed.
   * @param isBargeIn - whether a prompt plays: START_OF_DTMF is then sent on the listening RPC, else on a new one (G-54, G-60).
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

  /** An RPC is over: sends the digits if the RPC carried START_OF_DTMF. */
  turnEnded(turn: Turn): void {
    if (turn !== this.#startTurn) return;
    this.#startTurn = undefined;
    this.#sendWhenReady();
  }

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
    // Latency counts from the end of the entry, however long the server delays the digits.
    this.#book.ask('dtmf', { kind: 'dtmf', keys: collected.keys }, collected.atMs);
  }
}
