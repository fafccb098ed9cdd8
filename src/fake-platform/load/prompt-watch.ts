// Whether prompts come whole: the bytes of every reply are compared with those of the first reply that said the same, by
// checksum and length, which thousands of calls can afford. Knows no call; replies without a text cannot be compared.
import { crc32 } from 'node:zlib';
import type { Answer } from '../answer.ts';
import type { Line, LineEnd, LineTurn, TurnListener } from '../line.ts';

/** How the replies of a call compared. */
export interface SoundCounts {
  /** Replies of which the sound was known before. */
  readonly compared: number;
  /** Of these: as long or longer, with other bytes. */
  readonly wrong: number;
  /** Of these: bytes are missing. */
  readonly short: number;
  /** Replies that said something for the first time, or did not say what. */
  readonly unknown: number;
}

interface Sound {
  readonly checksum: number;
  readonly bytes: number;
}

/** Most texts that are remembered; a bot that never says the same twice must not fill the memory. */
const MAX_TEXTS = 10_000;

/** The sound of every text, as it was first heard. */
export class KnownSounds {
  readonly #sounds = new Map<string, Sound>();

  /** Compares, and remembers what is new. */
  check(text: string, sound: Sound): 'same' | 'wrong' | 'short' | 'unknown' {
    const known = this.#sounds.get(text);
    if (text === '' || known === undefined) {
      if (text !== '' && this.#sounds.size < MAX_TEXTS) this.#sounds.set(text, sound);
      return 'unknown';
    }
    if (known.bytes > sound.bytes) return 'short';
    return known.bytes === sound.bytes && known.checksum === sound.checksum ? 'same' : 'wrong';
  }
}

/** One turn under watch. */
interface Watched {
  isCut: boolean;
}

/** Listens in on the line of one call. */
export class PromptWatch {
  readonly line: Line;
  readonly #known: KnownSounds;
  readonly #counts = { compared: 0, wrong: 0, short: 0, unknown: 0 };
  readonly #turns: Watched[] = [];

  constructor(line: Line, known: KnownSounds) {
    this.#known = known;
    this.line = {
      open: (listener) => this.#open(line, listener),
      close: () => {
        line.close();
      },
    };
  }

  get counts(): SoundCounts {
    return { ...this.#counts };
  }

  #open(line: Line, listener: TurnListener): LineTurn {
    const watched: Watched = { isCut: false };
    const place = this.#turns.push(watched) - 1;
    const texts = new Set<string>();
    let checksum = 0;
    let bytes = 0;
    const turn = line.open({
      answered: (answer: Answer) => {
        if (answer.event?.kind === 'start_of_input') this.#cutBefore(place);
        for (const { audio, text } of answer.prompts) {
          if (text !== '') texts.add(text);
          if (audio.length === 0) continue;
          checksum = crc32(audio, checksum);
          bytes += audio.length;
        }
        listener.answered(answer);
      },
      ended: (end: LineEnd) => {
        if (end.kind === 'completed' && bytes > 0 && !watched.isCut) {
          for (const text of end.promptTexts) texts.add(text);
          this.#compare([...texts].join(' '), { checksum, bytes });
        }
        listener.ended(end);
      },
    });
    return {
      halfClose: () => {
        turn.halfClose();
      },
      cancel: () => {
        turn.cancel();
      },
      send: (input) => {
        // Keys cut what is heard, as speech does (G-52, G-56).
        if (input.kind === 'dtmf_start' || input.kind === 'dtmf' || input.kind === 'session_end') this.#cutBefore(place);
        turn.send(input);
      },
    };
  }

  /** What is cut may rightly be shorter. */
  #cutBefore(place: number): void {
    for (const turn of this.#turns.slice(0, place)) turn.isCut = true;
  }

  #compare(text: string, sound: Sound): void {
    const found = this.#known.check(text, sound);
    if (found === 'unknown') this.#counts.unknown += 1;
    else {
      this.#counts.compared += 1;
      if (found !== 'same') this.#counts[found] += 1;
    }
  }
}
