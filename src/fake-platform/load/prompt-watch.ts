// Whether prompts are complete: compares the samples of every reply with those of the first reply with the same text, by checksum and
// length, which is cheap enough for thousands of calls. Knows no call. A reply that contains a sound without text is not compared, because
// such a sound may differ every time.
import { crc32 } from 'node:zlib';
import { AppError } from '../../base/errors.ts';
import { readWavLayout, startsAsWav } from '../../speech/wav.ts';
import type { Answer } from '../caller/answer.ts';
import type { Line, LineTurn, TurnListener } from '../lines/line.ts';
import { wrappedLine, wrappedListener, wrappedTurn } from '../lines/wrapped-line.ts';

/** The comparison of a call's replies. */
export interface SoundCounts {
  /** Replies whose text had been heard before. */
  readonly compared: number;
  /** Compared replies of at least the known length whose samples differ. */
  readonly wrong: number;
  /** Compared replies that are shorter than the known one. */
  readonly short: number;
  /** Replies with a new text, or with a sound without text. */
  readonly unknown: number;
}

interface Sound {
  readonly checksum: number;
  readonly bytes: number;
}

export interface KnownSound extends Sound {
  readonly text: string;
}

/** Most remembered texts, because a bot may never repeat itself. */
const MAX_TEXTS = 10_000;

/** The audio of every text, as it was first heard. */
export class KnownSounds {
  readonly #sounds: Map<string, Sound>;

  /** @param known - texts that were heard before. */
  constructor(known: readonly KnownSound[] = []) {
    this.#sounds = new Map(known.map(({ text, checksum, bytes }) => [text, { checksum, bytes }]));
  }

  get all(): readonly KnownSound[] {
    return [...this.#sounds].map(([text, sound]) => ({ text, ...sound }));
  }

  /** Compares a sound with the known sound of its text; remembers the sound of a new text. */
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

interface Watched {
  isCut: boolean;
  /** Number of turns that were opened before this one ended; undefined until it ends. */
  openedAtEnd: number | undefined;
}

/** The texts and the audio of one turn's reply, in order. */
class Said {
  readonly #texts: string[] = [];
  #checksum = 0;
  #bytes = 0;
  #hasChunks = false;

  add({ type, prompts }: Answer): void {
    for (const { audio, text } of prompts) {
      if (audio.length === 0) continue;
      // A chunk without a text continues the sound before it.
      const isMore = type === 'chunk' && text === '' && this.#bytes > 0;
      if (!isMore) this.#texts.push(text);
      this.#hasChunks ||= type === 'chunk';
      const samples = samplesOf(audio);
      this.#checksum = crc32(samples, this.#checksum);
      this.#bytes += samples.length;
    }
  }

  get sound(): Sound {
    return { checksum: this.#checksum, bytes: this.#bytes };
  }

  /** @param trailing - texts that came with the end of the RPC. @returns empty when a sound has no text. */
  textWith(trailing: readonly string[]): string {
    const texts = trailing.length > 0 ? trailing : this.#texts;
    const isWhole = trailing.length === 0 || this.#hasChunks || trailing.length === this.#texts.length;
    return isWhole && !texts.includes('') ? JSON.stringify(texts) : '';
  }
}

/** Observes the line of one call. */
export class PromptWatch {
  readonly #known: KnownSounds;
  readonly #turns: Watched[] = [];
  readonly #said: { readonly watched: Watched; readonly text: string; readonly sound: Sound }[] = [];

  /** @param known - the sounds to compare with and add to. */
  constructor(known: KnownSounds) {
    this.#known = known;
  }

  over(line: Line): Line {
    return wrappedLine(line, { open: (listener) => this.#open(line, listener) });
  }

  /** Compares what was heard. Call it once, after the call: an interruption may be known only after the reply is complete. */
  compare(): SoundCounts {
    const counts = { compared: 0, wrong: 0, short: 0, unknown: 0 };
    for (const { watched, text, sound } of this.#said) {
      if (watched.isCut) continue;
      const found = this.#known.check(text, sound);
      counts[found === 'unknown' ? 'unknown' : 'compared'] += 1;
      if (found === 'wrong' || found === 'short') counts[found] += 1;
    }
    return counts;
  }

  #open(line: Line, listener: TurnListener): LineTurn {
    const watched: Watched = { isCut: false, openedAtEnd: undefined };
    const place = this.#turns.push(watched) - 1;
    let said = new Said();
    const turn = line.open(
      wrappedListener(listener, {
        answered: (answer) => {
          if (answer.event?.kind === 'start_of_input') this.#cutBefore(place);
          said.add(answer);
          listener.answered(answer);
        },
        ended: (end) => {
          watched.openedAtEnd = this.#turns.length;
          const { sound } = said;
          if (end.kind === 'completed' && sound.bytes > 0) this.#said.push({ watched, text: said.textWith(end.promptTexts), sound });
          listener.ended(end);
        },
        cut: (cut) => {
          said = new Said();
          return listener.cut?.(cut) ?? false;
        },
      }),
    );
    return wrappedTurn(turn, {
      send: (input) => {
        // Keys interrupt the playout, as speech does (G-52, G-56).
        if (input.kind === 'dtmf_start' || input.kind === 'dtmf' || input.kind === 'session_end') this.#cutBefore(place);
        turn.send(input);
      },
    });
  }

  /** Marks replies that may have been interrupted: those that were not over when the turn with the caller's input was opened. */
  #cutBefore(place: number): void {
    for (const turn of this.#turns.slice(0, place)) {
      if (turn.openedAtEnd === undefined || turn.openedAtEnd > place) turn.isCut = true;
    }
  }
}

/** The samples alone, because other chunks of a WAV may differ. */
function samplesOf(audio: Uint8Array): Uint8Array {
  if (!startsAsWav(audio)) return audio;
  try {
    const { dataOffset, dataBytes } = readWavLayout(audio);
    return audio.subarray(dataOffset, Math.min(audio.length, dataOffset + dataBytes));
  } catch (error) {
    // The player of the call reports such audio.
    if (error instanceof AppError) return audio;
    throw error;
  }
}
