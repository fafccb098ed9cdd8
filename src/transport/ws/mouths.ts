// The mouths of all turns on one socket. On a wire where each turn has a stream of its own a cut reply and the speech that
// cut it cannot get mixed up; here one of them must come first (W-27). Knows turns by their order, and nothing of a wire.
import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { AppError } from '../../base/errors.ts';
import type { Output } from '../../dialog/output.ts';
import type { TurnSink } from '../../session/ports.ts';

/** Longest a start of input waits for the replies that it cut to say their FINAL, ms. */
const CUT_REPLY_MS = 100;

/** What all mouths of a socket speak through. */
export interface Voice {
  readonly trackingId: string;
  /** Hands an output to the wire. False: wait for `onceDrained`. */
  deliver(output: Output): boolean;
  /** See {@link TurnSink.onceDrained}; a session speaks on one turn at a time. */
  onceDrained(listener: () => void): void;
  /** Ends the call with an error. */
  fail(error: AppError): void;
}

/** A start of input that waits for older replies to end. */
interface HeldStart {
  readonly mouth: Mouth;
  /** Those that are still open. */
  readonly older: Set<Mouth>;
  readonly cancelLimit: CancelTimer;
}

/** Owned by one socket. */
export class Mouths {
  readonly #voice: Voice;
  readonly #clock: Clock;
  readonly #open = new Set<Mouth>();
  #held: HeldStart | undefined;
  #isShut = false;

  constructor(voice: Voice, clock: Clock) {
    this.#voice = voice;
    this.#clock = clock;
  }

  /** A mouth for the next turn. */
  next(): TurnSink {
    const mouth = new Mouth(this, this.#voice);
    if (this.#isShut) mouth.shut();
    else this.#open.add(mouth);
    return mouth;
  }

  /** From now on no mouth says anything; what is held back is forgotten. */
  shut(): void {
    this.#isShut = true;
    this.#forgetStart();
    for (const mouth of this.#open) mouth.shut();
    this.#open.clear();
  }

  /** One of the mouths has something to say. @returns see {@link TurnSink.write}. */
  write(mouth: Mouth, output: Output): boolean {
    if (output.kind === 'input_started') return this.#start(mouth);
    if (this.#held?.mouth === mouth) this.#sayStart();
    return this.#voice.deliver(output);
  }

  /** One of the mouths has said all that it will. */
  closed(mouth: Mouth): void {
    this.#open.delete(mouth);
    if (this.#held?.mouth === mouth) this.#forgetStart();
    if (this.#held?.older.delete(mouth) === true && this.#held.older.size === 0) this.#sayStart();
  }

  // A FINAL that belongs to the cut reply and comes behind the start could only be taken for the end of what begins there.
  #start(mouth: Mouth): boolean {
    const older = new Set(this.#open);
    older.delete(mouth);
    if (older.size === 0) return this.#voice.deliver({ kind: 'input_started' });
    this.#forgetStart();
    const cancelLimit = this.#clock.after(CUT_REPLY_MS, () => {
      this.#sayStart();
    });
    this.#held = { mouth, older, cancelLimit };
    return true;
  }

  #sayStart(): void {
    const held = this.#held;
    if (held === undefined) return;
    this.#forgetStart();
    for (const mouth of held.older) {
      mouth.cut();
      this.#open.delete(mouth);
    }
    this.#voice.deliver({ kind: 'input_started' });
  }

  #forgetStart(): void {
    this.#held?.cancelLimit();
    this.#held = undefined;
  }
}

/** The mouth of one turn. */
class Mouth implements TurnSink {
  readonly trackingId: string;
  readonly #mouths: Mouths;
  readonly #voice: Voice;
  #isCut = false;
  #isShut = false;

  constructor(mouths: Mouths, voice: Voice) {
    this.trackingId = voice.trackingId;
    this.#mouths = mouths;
    this.#voice = voice;
  }

  /** The caller acted over its reply, and that was reported: only last words are still said (G-55). */
  cut(): void {
    this.#isCut = true;
  }

  /** From now on it says nothing. */
  shut(): void {
    this.#isShut = true;
  }

  write(output: Output): boolean {
    return this.#isShut || (this.#isCut && !isLastWord(output)) ? true : this.#mouths.write(this, output);
  }

  onceDrained(listener: () => void): void {
    if (this.#isShut) listener();
    else this.#voice.onceDrained(listener);
  }

  complete(): void {
    this.#close();
  }

  fail(error: AppError): void {
    if (this.#close()) this.#voice.fail(error);
  }

  /** @returns false when it was shut before. */
  #close(): boolean {
    if (this.#isShut) return false;
    this.#isShut = true;
    this.#mouths.closed(this);
    return true;
  }
}

/** A prompt that nobody may cut, or the end of the call: after a cut the engine says such only when it ends the call. */
function isLastWord(output: Output): boolean {
  if (output.kind === 'prompt') return !output.prompt.bargeIn;
  return output.kind === 'final' && output.next.kind !== 'listen';
}
