// Printable records of the platform.
import { shownText } from '../../base/shown-text.ts';

/** A copy of a record whose texts are safe for a terminal. @param secrets - values to remove from all texts. */
export function shownRecord<R extends object>(record: R, secrets: readonly (string | undefined)[] = []): R {
  const members = Object.entries(record).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === 'string' ? shownText(value, secrets) : value,
  ]);
  // Has the same members with the same types.
  return Object.fromEntries(members) as R;
}
