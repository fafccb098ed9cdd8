// What the engine itself needs of a language: the lines it says, and the words that callers say for keys. Data only.

/** What the engine says in place of a bot. */
export interface Lines {
  /** Said when a bot takes its time. */
  readonly filler: string;
  /** Said when a bot failed once. */
  readonly apology: string;
  /** Said before a transfer to a person that the bot did not ask for. */
  readonly transfer: string;
}

/** The operator's lines; the server's own lines replace omitted ones. */
export type GivenLines = { readonly [L in keyof Lines]?: string | undefined };

/** Words are in lower case; accents do not matter. */
export interface Language {
  readonly lines: Lines;
  /** The words for 0 to 99, each with its variants; words of one number are separated by a blank. */
  readonly numbers: readonly (readonly string[])[];
  /** The words for the keys star and pound. */
  readonly signs: Readonly<Record<'*' | '#', readonly string[]>>;
  /** Words that repeat the next digit, with the number of times. */
  readonly repeats: readonly (readonly [word: string, times: number])[];
  /** Words, without accents, after which a sentence goes on: a pause after one is not the end. None becomes another word with an accent. */
  readonly unfinished: readonly string[];
  /** Complete answers, without accents: recognizers may write them without punctuation. */
  readonly answers: readonly string[];
}

/** Numbers from 20 to 99 whose words are made of tens and ones: `tens` has the words for 20, 30, … */
export function compounds(tens: readonly string[], join: (ten: string, one: number) => readonly string[]): string[][] {
  return tens.flatMap((ten) => Array.from({ length: 10 }, (_, one) => (one === 0 ? [ten] : [...join(ten, one)])));
}
