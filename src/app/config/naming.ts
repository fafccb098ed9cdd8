// The names of a setting (`key_set` in files, `keySet` in code), and suggestions for misspelt names.

/** `key_set` → `keySet`, as a type. */
export type Camel<S extends string> = S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S;

/** `key_set` → `keySet`. */
export function toCamel(name: string): string {
  return name.replace(/_(.)/gu, (_, letter: string) => letter.toUpperCase());
}

/** `keySet` → `key_set`. */
export function toSnake(name: string): string {
  return name.replace(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);
}

/** The environment variable of a key: `grpc.port` → `PARLEY_GRPC_PORT`. */
export function variableOf(key: string): string {
  return `PARLEY_${key.toUpperCase().replaceAll('.', '_')}`;
}

/** The known name closest to a misspelt one; undefined when more than a quarter of the name differs. */
export function closest(given: string, known: readonly string[]): string | undefined {
  // Nobody misspells such long names; the limit bounds the comparison.
  if (given.length > 100) return undefined;
  const byTail = known.filter((name) => name.endsWith(`.${given}`));
  if (byTail[0] !== undefined && byTail.length === 1) return byTail[0];
  let best: string | undefined;
  let bestDistance = Math.floor(given.length / 4) + 1;
  for (const name of known) {
    const distance = editDistance(given.toLowerCase(), name.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [name, distance];
  }
  return best;
}

/** The Levenshtein distance: the number of letters to insert, delete or replace. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 0; i < from.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j++) {
      const replaced = (row[j] ?? 0) + (from[i] === to[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
