// What the caller of a test hears, and when: prompts play one after the other, as long as a calm voice takes for them.
import { wordsUpTo, type Heard, type HeardPart } from '../dialog/heard.ts';
import type { Prompt } from '../dialog/reply.ts';

/** Something that was said to the caller of a test. */
export interface Said {
  /** Recordings appear as `[file]`, audio as `[audio]`. */
  readonly text: string;
  /** When it began, ms since the start of the call. */
  readonly atMs: number;
  /** What was heard of it. */
  readonly heard: string;
}

/** Bytes of µ-law per ms. */
const BYTES_PER_MS = 8;

interface Playing {
  readonly prompt: Prompt;
  readonly text: string;
  readonly startMs: number;
  readonly isFiller: boolean;
  endMs: number;
  /** Of one that was cut. */
  heard?: string;
}

/** What a prompt is called where its text is wanted. */
export function shownPrompt(prompt: Prompt): string {
  return prompt.kind === 'text' ? prompt.text : prompt.kind === 'file' ? `[${prompt.file}]` : '[audio]';
}

/** The player of one call. Times are ms since its start. */
export class TestPlayout {
  readonly #msPerCharacter: number;
  readonly #played: Playing[] = [];
  /** Where the prompts of the last turn begin. */
  #turn = 0;

  constructor(msPerCharacter: number) {
    this.#msPerCharacter = msPerCharacter;
  }

  /** A turn begins: what is said from now on is its reply. */
  begin(): void {
    this.#turn = this.#played.length;
  }

  add(prompt: Prompt, nowMs: number, isFiller = false): void {
    const text = shownPrompt(prompt);
    const startMs = Math.max(nowMs, this.endMs);
    const lengthMs = prompt.kind === 'audio' ? prompt.mulaw.length / BYTES_PER_MS : text.length * this.#msPerCharacter;
    this.#played.push({ prompt, text, startMs, endMs: startMs + lengthMs, isFiller });
  }

  /** When everything has been heard. */
  get endMs(): number {
    return this.#played.at(-1)?.endMs ?? -Infinity;
  }

  said(nowMs: number): readonly Said[] {
    return this.#played.map((each) => ({ text: each.text, atMs: each.startMs, heard: each.heard ?? wordsBy(each, nowMs) }));
  }

  /** What was heard by then of the last turn's prompts, fillers left out; the rest is not heard any more. */
  heardBy(nowMs: number): Heard {
    const parts = this.#reply.map((each): HeardPart => {
      const ms = Math.floor(Math.max(0, Math.min(nowMs, each.endMs) - each.startMs));
      const text = each.prompt.kind === 'text' ? each.text : '';
      return { text, heard: text === '' ? '' : wordsBy(each, nowMs), ms, complete: nowMs >= each.endMs };
    });
    return {
      complete: false,
      ms: parts.reduce((sum, { ms }) => sum + ms, 0),
      text: parts.flatMap(({ heard }) => (heard === '' ? [] : [heard])).join(' '),
      parts,
    };
  }

  /** When these words, or so many ms, of the last turn's prompts have been heard; undefined while they are not said. */
  momentOf(point: string | number): { readonly atMs: number; readonly isCuttable: boolean } | undefined {
    let left =
      typeof point === 'string'
        ? this.#reply
            .map(({ text }) => text)
            .join(' ')
            .indexOf(point) + point.length
        : point;
    if (typeof point === 'string' && left < point.length) return undefined;
    for (const { prompt, text, startMs, endMs } of this.#reply) {
      const length = typeof point === 'string' ? text.length : endMs - startMs;
      if (left <= length) return { atMs: startMs + (endMs - startMs) * (length === 0 ? 1 : left / length), isCuttable: prompt.bargeIn };
      // Texts are joined by a space.
      left -= typeof point === 'string' ? length + 1 : length;
    }
    return undefined;
  }

  /** The caller comes in: nothing plays any more. @param nowMs - default: as much later than the reply began as was heard of it. */
  cut({ parts, ms }: Pick<Heard, 'parts' | 'ms'>, nowMs = (this.#reply[0]?.startMs ?? 0) + ms): void {
    for (const [index, playing] of this.#reply.entries()) playing.heard = parts[index]?.heard ?? '';
    for (const playing of this.#played) playing.endMs = Math.min(playing.endMs, Math.max(nowMs, playing.startMs));
  }

  get #reply(): readonly Playing[] {
    return this.#played.slice(this.#turn).filter(({ isFiller }) => !isFiller);
  }
}

/** The parts of a reply of which these words, or so many ms of recordings, were heard; all of them, when nothing is said. */
export function partsHeard(
  prompts: readonly Prompt[],
  msPerCharacter: number,
  heard?: { readonly text: string; readonly ms: number },
): readonly HeardPart[] {
  let left = heard?.text.trim() ?? Infinity;
  let leftMs = heard?.ms ?? Infinity;
  return prompts.map((prompt) => {
    if (prompt.kind === 'audio') {
      const lengthMs = prompt.mulaw.length / BYTES_PER_MS;
      const ms = Math.min(lengthMs, leftMs);
      leftMs -= ms;
      return { text: '', heard: '', ms, complete: ms === lengthMs };
    }
    const text = prompt.kind === 'text' ? prompt.text : '';
    const words = typeof left === 'number' ? text : left.slice(0, text.length);
    if (typeof left === 'string') left = left.slice(text.length).trimStart();
    return { text, heard: words, ms: words.length * msPerCharacter, complete: words === text };
  });
}

function wordsBy({ text, startMs, endMs }: Playing, nowMs: number): string {
  return nowMs >= endMs ? text : wordsUpTo(text, (nowMs - startMs) / (endMs - startMs));
}
