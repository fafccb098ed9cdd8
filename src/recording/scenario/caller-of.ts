// Describes the caller of a recorded call in words, for a model that plays this caller.
import type { Recording } from '../recording.ts';
import { turnsOf } from '../replay/recorded-turns.ts';

/** Longest list of what the caller said and did, characters. */
const MOST_CHARS = 4000;

/** What the caller said and pressed, in order; without content that is withheld or was not understood. */
export function callerOf({ events }: Pick<Recording, 'events'>): string {
  const acts = turnsOf(events).flatMap(({ input }) => {
    if (input?.text === undefined || input.text === '') return [];
    if (input.kind === 'speech') return [`"${input.text}"`];
    return input.kind === 'keys' ? [`[keys ${input.text}]`] : [];
  });
  return `In a call that was recorded you said or pressed, in this order: ${acts.join(', ').slice(0, MOST_CHARS)}. Say the same, as it fits.`;
}
