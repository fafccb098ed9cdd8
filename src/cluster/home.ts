// One call that lives here, and what of it is not written to the directory yet.
import { deepFreeze, parseJson, type JsonObject, type JsonValue } from '../base/json.ts';
import { AppError } from '../base/errors.ts';
import type { CallKey } from '../dialog/call.ts';
import { HERE, type LocatedHere } from '../dialog/home.ts';

/** A call at home. */
export interface Home {
  readonly call: CallKey;
  readonly id: string;
  /** Undefined: it began while the directory was away, and is not registered yet. */
  epoch: number | undefined;
  /** Of the last write that was begun. */
  seq: number;
  /** The newest snapshot as it is written; undefined before the first one. */
  text: string | undefined;
  /** When the caller was heard last, ms since the epoch of clocks. */
  heardAtMs: number;
  /** What turns get. */
  located: LocatedHere;
  /** It goes with its next write: given away, or over. */
  leaving: 'release' | 'forget' | undefined;
  /** It does not live here any more. */
  isGone: boolean;
}

/** A call at home of which nothing is written yet. @throws AppError `state_unreadable`. */
export function newHome(of: Pick<Home, 'call' | 'id' | 'epoch' | 'text' | 'heardAtMs'>): Home {
  return { ...of, seq: 0, located: restoredOf(of.text, of.epoch), leaving: undefined, isGone: false };
}

/**
 * What the next turns of a home find that another home, or this one, has left.
 *
 * @throws AppError `state_unreadable`.
 */
export function restoredOf(text: string | undefined, epoch: number | undefined): LocatedHere {
  if (text === undefined) return HERE;
  return { kind: 'here', restored: { snapshot: snapshotOf(text), generation: (epoch ?? 1) - 1 } };
}

/** A snapshot as it is written: in front stands its form. */
export function textOf(snapshot: object, form: number): string {
  return `${String(form)} ${JSON.stringify(snapshot)}`;
}

/** The form of a written snapshot. */
export function formOf(text: string): number {
  return Number(text.slice(0, text.indexOf(' ')));
}

function snapshotOf(text: string): JsonObject {
  const value = parseJson(text.slice(text.indexOf(' ') + 1));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AppError('state_unreadable', 'what the directory has of a call is no snapshot');
  }
  // What was parsed is JSON, and this one an object.
  return deepFreeze(value as JsonValue) as JsonObject;
}
