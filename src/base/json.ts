// JSON as data that travels: the types of it, and a frozen copy made the same way for every store.

/** A value that survives JSON unchanged. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
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
 * Sends a value through JSON and back, frozen: what a store on another machine would hand out.
 *
 * @throws TypeError when the value has no JSON form (a cycle, a BigInt, a function or undefined at the top).
 */
export function throughJson(value: unknown): JsonValue {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new TypeError('the value has no JSON form');
  return deepFreeze(JSON.parse(text) as JsonValue);
}
