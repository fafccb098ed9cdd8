// One utterance during its recognition: the pieces between its pauses, and the words known of each.
import type { RequestOutcome } from '../../base/http-exchange.ts';
import type { HeardWords } from '../../session/ports.ts';

/** Longest accepted text, characters. */
const MAX_TEXT_CHARS = 4096;

/** The part of an utterance between two pauses. */
export interface Piece {
  readonly of: SpokenPieces;
  text: string;
  isDone: boolean;
}

export class SpokenPieces {
  /** Resolves when the text is complete or cannot become complete. */
  readonly done: Promise<void>;
  readonly #pieces: Piece[] = [];
  /** The piece that is being spoken; undefined while the caller pauses and at the end. */
  #open: Piece | undefined;
  #failure: RequestOutcome | undefined;
  #isOver = false;
  #onDone: () => void = () => undefined;

  constructor() {
    this.done = new Promise((resolve) => (this.#onDone = resolve));
    this.goOn();
  }

  /** Set when the text cannot become complete: the reason. */
  get failure(): RequestOutcome | undefined {
    return this.#failure;
  }

  /** The piece that is being spoken; undefined while the caller pauses. */
  get open(): Piece | undefined {
    return this.#open;
  }

  get isWhole(): boolean {
    return this.#failure === undefined && this.#open === undefined && this.#pieces.every(({ isDone }) => isDone);
  }

  get words(): HeardWords {
    const unsure = this.#pieces.findIndex(({ isDone }) => !isDone);
    const stable = unsure < 0 ? this.#pieces : this.#pieces.slice(0, unsure);
    return { text: textOf(this.#pieces), stable: textOf(stable), isWhole: this.isWhole };
  }

  /** The caller begins to speak, or goes on after a pause. */
  goOn(): void {
    if (this.#open !== undefined) return;
    this.#open = { of: this, text: '', isDone: false };
    this.#pieces.push(this.#open);
  }

  /** The caller pauses. @returns the piece before the pause. */
  cut(): Piece | undefined {
    const piece = this.#open;
    this.#open = undefined;
    return piece;
  }

  /** A piece has these words now. */
  understood(piece: Piece, text: string, isDone: boolean): void {
    if (piece.isDone) return;
    piece.text = text.slice(0, MAX_TEXT_CHARS);
    piece.isDone = isDone;
    if (textOf(this.#pieces).length > MAX_TEXT_CHARS) this.fail('bad_answer');
    if (this.#isOver && this.isWhole) this.#onDone();
  }

  /** The caller is done. The utterance is complete when all of its words are known. */
  end(): void {
    this.#isOver = true;
    if (this.isWhole) this.#onDone();
  }

  fail(why: RequestOutcome): void {
    this.#failure ??= why;
    this.#onDone();
  }
}

function textOf(pieces: readonly Piece[]): string {
  return pieces
    .map(({ text }) => text.trim())
    .join(' ')
    .trim();
}
