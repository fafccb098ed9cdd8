// Reads the parameters of a search for calls. Refuses an unknown parameter, because ignoring a misspelt one would return every call.
import type { CallSearch } from '../dialog/call-view.ts';

/** Most characters of a parameter. */
const MAX_CHARS = 200;
const TEXTS = ['organizationId', 'conversationId', 'trackingId', 'end'] as const satisfies readonly (keyof CallSearch)[];
const TIMES = ['fromMs', 'untilMs'] as const satisfies readonly (keyof CallSearch)[];

/** @param query - parsed; the value of a repeated parameter is a list. @returns undefined for an invalid query. */
export function callQueryIn(query: Readonly<Record<string, unknown>>): CallSearch | undefined {
  const read: { -readonly [Key in keyof CallSearch]: CallSearch[Key] } = {};
  for (const [name, value] of Object.entries(query)) {
    if (typeof value !== 'string' || value.length > MAX_CHARS) return undefined;
    const text = TEXTS.find((known) => known === name);
    const time = TIMES.find((known) => known === name);
    if (text !== undefined) read[text] = value;
    else if (time !== undefined && /^\d{1,15}$/u.test(value)) read[time] = Number(value);
    else return undefined;
  }
  return read;
}
