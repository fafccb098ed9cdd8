// How much of the last reply the caller heard: an estimate, because the platform does not report on its player.

/** How much of the last reply the caller has heard. */
export interface Heard {
  /** True: nothing of the reply was cut or dropped, and nothing is still to come. */
  readonly complete: boolean;
  /** How long the caller listened to the reply, whole ms. */
  readonly ms: number;
  /** The words that were heard; a prompt that was cut counts up to the word in which it was cut. */
  readonly text: string;
  /** Prompt by prompt, without fillers of the engine and prompts that were never sent. */
  readonly parts: readonly HeardPart[];
  /** Set when the call has moved since the reply: estimated from its length and the time since it began. */
  readonly estimated?: true;
}

/** How much of one prompt the caller has heard. */
export interface HeardPart {
  /** The prompt's whole text; empty for a recording. */
  readonly text: string;
  /** The words that were heard, up to the one in which the prompt was cut. */
  readonly heard: string;
  /** How long the caller listened to the prompt, whole ms. */
  readonly ms: number;
  readonly complete: boolean;
}

/** Nothing was said, so nothing was missed. */
export const NOTHING_SAID: Heard = { complete: true, ms: 0, text: '', parts: [] };

/** The words of a text up to a fraction of its length, with the word that has begun. */
export function wordsUpTo(text: string, part: number): string {
  if (part <= 0) return '';
  const end = text.indexOf(' ', Math.ceil(text.length * part) - 1);
  return (end === -1 ? text : text.slice(0, end)).trimEnd();
}
