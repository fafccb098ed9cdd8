// The caller of a recorded call, in words for a model that plays them.
import type { Recording } from '../recording.ts';
import { turnsOf } from '../replay/recorded-turns.ts';

/** Most of what a caller said and did, characters. */
const MOST_CHARS = 4000;

/** What the caller said and pressed, in order; what is withheld or was not understood is left out. */
export function callerOf({ events }: Pick<Recording, 'events'>): string {
  const acts = turnsOf(events).flatMap(({ input }) => {
    if (input?.text === undefined || input.text === '') return [];
    if (input.kind === 'speech') return [`"${input.text}"`];
    return input.kind === 'keys' ? [`[keys ${input.text}]`] : [];
  });
  return `In a call that was recorded you said or pressed, in this order: ${acts.join(', ').slice(0, MOST_CHARS)}. Say the same, as it fits.`;
}
