// Which types a bot's state may have: those that survive JSON. Types alone.
import type { JsonValue } from '../base/json.ts';

/** The JSON form of a state's type; `never` wherever JSON would lose something. */
type Travelling<S> = S extends JsonValue | undefined
  ? S
  : S extends Unfit
    ? never
    : S extends object
      ? { [K in keyof S]: Travelling<S[K]> }
      : never;

type Unfit =
  | ((...args: never[]) => unknown)
  | Date
  | RegExp
  | Promise<unknown>
  | ArrayBufferView
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>;

/**
 * A state that cannot travel between machines does not compile: functions, symbols, BigInt, Map, Set, Date, typed arrays
 * and objects with methods require a member that nobody can give, whose name is the explanation.
 */
export type MustTravel<S> = [S] extends [Travelling<S>]
  ? unknown
  : { readonly 'a bot state must survive JSON: no functions, Map, Set, Date or typed arrays': never };
