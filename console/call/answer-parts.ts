// The parts of the time to an answer, with their names for people.
import type { AnswerParts } from '../../src/dialog/call-view.ts';
import { shownMs } from './shown-time.ts';

const NAMES = {
  endpointingMs: 'endpointing',
  recognitionMs: 'recognition',
  botMs: 'bot',
  modelMs: 'model',
  toolsMs: 'tools',
  synthesisMs: 'synthesis',
  engineMs: 'engine',
  wireMs: 'wire',
} as const satisfies Record<keyof AnswerParts, string>;
const KEYS = Object.keys(NAMES) as readonly (keyof AnswerParts)[];

/** One part, where it stands in the whole, and whether none is longer. */
export interface NamedPart {
  readonly name: string;
  readonly fromMs: number;
  readonly ms: number;
  readonly isLongest: boolean;
}

/** The parts that are known, in order, also those that took no time. */
export function namedParts(parts: AnswerParts): readonly NamedPart[] {
  const known = KEYS.flatMap((key) => (parts[key] === undefined ? [] : [{ name: NAMES[key], ms: Math.max(0, parts[key]) }]));
  const mostMs = Math.max(...known.map(({ ms }) => ms));
  const longest = known.find(({ ms }) => ms === mostMs && ms > 0);
  let fromMs = 0;
  return known.map((part) => {
    const named = { ...part, fromMs, isLongest: part === longest };
    fromMs += part.ms;
    return named;
  });
}

/** The time to the answer. */
export function answerMs(parts: AnswerParts): number {
  return namedParts(parts).reduce((sum, { ms }) => sum + ms, 0);
}

/** Such as `answer after 1,210 ms, the longest part: model, 540 ms`. */
export function partsInWords(parts: AnswerParts): string {
  const longest = namedParts(parts).find(({ isLongest }) => isLongest);
  const most = longest === undefined ? '' : `, the longest part: ${longest.name}, ${shownMs(longest.ms)}`;
  return `answer after ${shownMs(answerMs(parts))}${most}`;
}
