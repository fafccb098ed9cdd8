// Collects the keys of one entry as the platform does (G-62): until the length is reached, the pause after a key is
// too long, or the terminator is pressed. Knows no RPC.
import type { CancelTimer } from '../../base/clock.ts';
import type { CallClock } from './call-clock.ts';
import type { Key } from './key.ts';

/** The pause between keys when the server set none, ms; the platform's own value is not known (G-84). */
const DEFAULT_INTER_DIGIT_MS = 3000;
/** Most keys of one entry when the server set no length: the collection must end even when keys never stop. */
const MAX_KEYS = 64;

/** How one entry ends. */
export interface DigitRules {
  /** Longest pause after a key, ms; 0 takes 3000. */
  readonly interDigitMs: number;
  readonly terminator: Key | undefined;
  /** Number of keys; 0 for any. */
  readonly digits: number;
  /** Whether the terminator is sent as the last key; not known of the platform (G-67), default false. */
  readonly terminatorIncluded?: boolean;
}

/** Collects one entry, beginning with its first key; of no use after `onCollected`. */
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
    this.#cancelPause = this.#clock.after(pauseMs, () => {
      this.#finish();
    });
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
