// JSON as data that travels: the types of it, and a frozen copy made the same way for every store.

/** A value that survives JSON unchanged. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
/** An object of values that survive JSON unchanged. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Whether a value is a list; `Array.isArray` does not narrow readonly ones. */
export function isJsonList(json: JsonObject | readonly JsonValue[]): json is readonly JsonValue[] {
  return Array.isArray(json);
}

/** Parses JSON; undefined when it is invalid, because the parser's error would quote the text. Bytes must be UTF-8. */
export function parseJson(given: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof given === 'string' ? given : new TextDecoder('utf-8', { fatal: true }).decode(given)) as unknown;
  } catch {
    return undefined;
  }
}

/** Freezes a parsed JSON value in depth. */
export function deepFreeze(value: JsonValue): JsonValue {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) deepFreeze(member);
    Object.freeze(value);
  }
  return value;
}

/**
 * Sends a value through JSON and back, frozen: the value that a store on another machine would return.
 *
 * @param maxChars - longest JSON text. A value whose JSON must be longer is refused before it is written out, because a gigabyte would
 * hold the process up for seconds.
 *
 * @throws TypeError when the value has no JSON form (a cycle, a BigInt, a function or undefined at the top).
 * @throws RangeError when its JSON is longer than `maxChars`.
 */
export function throughJson(value: unknown, maxChars = Infinity): JsonValue {
  if (maxChars !== Infinity) demandShort(value, maxChars);
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new TypeError('the value has no JSON form');
  if (text.length > maxChars) throw tooLong(maxChars);
  return deepFreeze(JSON.parse(text) as JsonValue);
}

/** JSON leaves out members of these types, and their names. */
const WITHOUT_JSON: ReadonlySet<string> = new Set(['undefined', 'function', 'symbol']);

/** Adds up the minimum length of each part, and stops as soon as the sum is too large; this also ends cycles. */
function demandShort(value: unknown, maxChars: number): void {
  let left = maxChars;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    left -= typeof next === 'string' ? next.length + 2 : 1;
    if (typeof next === 'object' && next !== null) {
      // Every member takes at least one character, so too many members need no further count.
      const members = Array.isArray(next) ? next.length : Object.keys(next).length;
      if (members > left) throw tooLong(maxChars);
      for (const [name, member] of Object.entries(next)) {
        // The member's name in quotes, and a colon.
        if (!Array.isArray(next) && !WITHOUT_JSON.has(typeof member)) left -= name.length + 3;
        open.push(member);
      }
    }
    if (left < 0) throw tooLong(maxChars);
  }
}

function tooLong(maxChars: number): RangeError {
  return new RangeError(`the value is longer than ${String(maxChars)} characters of JSON`);
}
