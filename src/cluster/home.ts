// One call that lives here, with its unsaved state.
import { deepFreeze, parseJson, type JsonObject, type JsonValue } from '../base/json.ts';
import { AppError } from '../base/errors.ts';
import type { CallKey } from '../dialog/call.ts';
import { HERE, type LocatedHere } from '../dialog/home.ts';

/** A call at home. */
export interface Home {
  readonly call: CallKey;
  readonly id: string;
  /** Undefined: the call began while the directory was unavailable, and is not registered yet. */
  epoch: number | undefined;
  /** Number of the save that was started last. */
  seq: number;
  /** The newest snapshot as text; undefined before the first one. */
  text: string | undefined;
  /** When the caller was last heard, Unix time in ms. */
  heardAtMs: number;
  /** The result of `locate` for the turns of this call. */
  located: LocatedHere;
  /** Set when the call leaves with its next save: `release`, or `forget` after its end. */
  leaving: 'release' | 'forget' | undefined;
  /** True when the call no longer lives here. */
  isGone: boolean;
}

/** A new home that has saved nothing yet. @throws AppError `state_unreadable` for an unreadable snapshot. */
export function newHome(of: Pick<Home, 'call' | 'id' | 'epoch' | 'text' | 'heardAtMs'>): Home {
  return { ...of, seq: 0, located: restoredOf(of.text, of.epoch), leaving: undefined, isGone: false };
}

/**
 * The location of a call here, with the snapshot to restore.
 *
 * @throws AppError `state_unreadable` for an unreadable snapshot.
 */
export function restoredOf(text: string | undefined, epoch: number | undefined): LocatedHere {
  if (text === undefined) return HERE;
  return { kind: 'here', restored: { snapshot: snapshotOf(text), generation: (epoch ?? 1) - 1 } };
}

/** A snapshot as text, with its format version in front. */
export function textOf(snapshot: object, form: number): string {
  return `${String(form)} ${JSON.stringify(snapshot)}`;
}

/** The format version of a snapshot text. */
export function formOf(text: string): number {
  return Number(text.slice(0, text.indexOf(' ')));
}

function snapshotOf(text: string): JsonObject {
  const value = parseJson(text.slice(text.indexOf(' ') + 1));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AppError('state_unreadable', 'the directory contains an invalid snapshot');
  }
  // Parsed JSON that was checked to be an object.
  return deepFreeze(value as JsonValue) as JsonObject;
}
