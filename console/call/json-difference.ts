// What changed between two JSON values, place by place.
import type { ShownTurn } from '../../src/dialog/call-view.ts';

/** A JSON value, as states of bots are. */
export type Json = NonNullable<ShownTurn['state']>['before'];

/** One place that changed. `before` is undefined where something was added, `after` where it was removed. */
export interface JsonChange {
  /** Such as `order.items[2]`; empty for the whole. */
  readonly path: string;
  readonly before?: Json;
  readonly after?: Json;
}

/** The changes in the order of the values; empty when they are the same. Members of lists are compared by their places. */
export function jsonDifference(before: Json | undefined, after: Json | undefined, path = ''): readonly JsonChange[] {
  if (before === undefined || after === undefined) {
    return before === after ? [] : [{ path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }];
  }
  if (isComposite(before) && isComposite(after) && Array.isArray(before) === Array.isArray(after)) {
    const [one, other] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
    return [...new Set([...one.keys(), ...other.keys()])].flatMap((key) =>
      jsonDifference(one.get(key), other.get(key), placeOf(path, key, Array.isArray(before))),
    );
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, before, after }];
}

function isComposite(value: Json): value is Exclude<Json, string | number | boolean | null> {
  return typeof value === 'object' && value !== null;
}

function placeOf(path: string, key: string, isList: boolean): string {
  if (isList) return `${path}[${key}]`;
  if (!/^[\w$]+$/u.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}
