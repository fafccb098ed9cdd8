// Cuts a text that is still being written into pieces that can be spoken one after the other: sentences, and at the beginning a clause,
// so that the caller hears something early.

/** Where a text may be cut, in characters. */
export interface CutOptions {
  /** Shortest piece; shorter sentences are joined with the next. Default 12. */
  readonly leastChars?: number;
  /** The first piece may end with a clause once it is this long; 0: only with a sentence. Default 40. */
  readonly firstClauseChars?: number;
}

/** Longest piece, characters: some half a minute of speech. */
const MAX_CHARS = 500;

/** The end of a sentence: its sign, what closes behind it, and the space that shows that it is one. Or the end of a line. */
const SENTENCE_END = /[.!?…。！？]+["'”’»)\]]*(?=\s)|[。！？]|\s*\n/gu;
/** The same for a clause. */
const CLAUSE_END = /[,;:–—](?=\s)/gu;
/** What ends with a full stop and goes on: titles, ordinals (3. Mai), single letters (z. B., J. S.). */
const GOES_ON = /(?:^|[\s(])(?:\d{1,2}|\p{L}|dr|mr|mrs|ms|prof|st|no|nr|vs|etc|ca|bzw|inkl|sr|sra|mme|art|tel)\.$/iu;

/** Takes a text in pieces of any size and gives it back in pieces that can be spoken. Nothing but blanks is lost. */
export class SentenceCutter {
  readonly #leastChars: number;
  #firstClauseChars: number;
  #left = '';

  constructor({ leastChars = 12, firstClauseChars = 40 }: CutOptions = {}) {
    this.#leastChars = leastChars;
    this.#firstClauseChars = firstClauseChars;
  }

  /** The pieces that are complete with this part. */
  push(text: string): readonly string[] {
    this.#left += text;
    const pieces: string[] = [];
    for (let at = this.#end(); at !== undefined; at = this.#end()) {
      const piece = this.#left.slice(0, at).trim();
      this.#left = this.#left.slice(at);
      if (piece === '') continue;
      pieces.push(piece);
      this.#firstClauseChars = 0;
    }
    return pieces;
  }

  /** What is left at the end. */
  rest(): readonly string[] {
    const pieces = [...this.push('\n')];
    const left = this.#left.trim();
    this.#left = '';
    return left === '' ? pieces : [...pieces, left];
  }

  /** Where the next piece ends; undefined: not yet. */
  #end(): number | undefined {
    const sentence = firstEnd(this.#left, SENTENCE_END, this.#leastChars);
    const clause = this.#firstClauseChars === 0 ? undefined : firstEnd(this.#left, CLAUSE_END, this.#firstClauseChars);
    const end = Math.min(sentence ?? Infinity, clause ?? Infinity);
    if (end <= MAX_CHARS) return end;
    if (this.#left.length <= MAX_CHARS) return undefined;
    const blank = this.#left.lastIndexOf(' ', MAX_CHARS);
    return blank > 0 ? blank : MAX_CHARS;
  }
}

/** The first match of `pattern` after at least `leastChars` characters. */
function firstEnd(text: string, pattern: RegExp, leastChars: number): number | undefined {
  for (const { 0: sign, index } of text.matchAll(pattern)) {
    const end = index + sign.length;
    const piece = text.slice(0, end).trim();
    const isLineEnd = sign.includes('\n');
    if (isLineEnd && piece !== '') return end;
    if (piece.length >= leastChars && !GOES_ON.test(piece)) return end;
  }
  return undefined;
}
