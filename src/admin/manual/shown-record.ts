// Records of the platform as people may see them.
import { shownText } from '../../base/shown-text.ts';

/** A copy of a record whose texts are fit for a terminal. @param secrets - what no text may repeat. */
export function shownRecord<R extends object>(record: R, secrets: readonly (string | undefined)[] = []): R {
  const members = Object.entries(record).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === 'string' ? shownText(value, secrets) : value,
  ]);
  // The same members, and each of the type that it had.
  return Object.fromEntries(members) as R;
}
