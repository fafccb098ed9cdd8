// The caller's script as a command line gives it, option by option, and the conversion to ready steps. Knows the
// options; reads no file and speaks no text itself.
import { parseJson, type JsonObject } from '../../base/json.ts';
import { keysOf } from './key.ts';
import { recordingReader, type RecordingTools } from './recorded-sound.ts';
import type { Step } from './script.ts';
import { AppError } from '../../base/errors.ts';
import { structFromJson } from '../../contract/struct.ts';

/** The options that make steps, as on the command line. */
export const SCRIPT_OPTIONS = ['say', 'wav', 'press', 'wait', 'event', 'hangup', 'interrupt'] as const;

export type ScriptOption = (typeof SCRIPT_OPTIONS)[number];

export interface GivenOption {
  readonly option: ScriptOption;
  /** Empty for an option without a value. */
  readonly value: string;
}

export interface ScriptTools extends RecordingTools {
  /** µ-law, 8 kHz. */
  readonly speak: (text: string) => Promise<Uint8Array>;
}

/** A step whose sound must still be spoken or read. */
export type Draft = { readonly interruptMs?: number; readonly interruptWord?: string } & (
  | { readonly kind: 'say'; readonly text: string }
  /** `place`: where the file was named, for messages. */
  | { readonly kind: 'wav'; readonly file: string; readonly place: string }
  | Exclude<Step, { readonly kind: 'say' }>
);

/** Longest wait that a user can ask for, ms. */
const MAX_WAIT_MS = 3_600_000;

/**
 * Checks the options of a script. Speaks no text and reads no file yet.
 *
 * @throws RangeError with a sentence for the user when a value is wrong or `interrupt` has no step after it.
 */
export function draftScript(given: readonly GivenOption[]): readonly Draft[] {
  const drafts: Draft[] = [];
  let interruptMs: number | undefined;
  for (const { option, value } of given) {
    if (option === 'interrupt') {
      if (interruptMs !== undefined) throw new RangeError('--interrupt stands twice before one step');
      interruptMs = milliseconds(option, value);
      continue;
    }
    drafts.push({ ...draftOf(option, value), ...(interruptMs === undefined ? {} : { interruptMs }) });
    interruptMs = undefined;
  }
  if (interruptMs !== undefined) throw new RangeError('--interrupt needs a step after it, such as --press 1');
  const hangUp = drafts.findIndex((draft) => draft.kind === 'hang_up');
  if (hangUp !== -1 && hangUp < drafts.length - 1) throw new RangeError('nothing can follow --hangup');
  return drafts;
}

function draftOf(option: Exclude<ScriptOption, 'interrupt'>, value: string): Draft {
  switch (option) {
    case 'say':
      if (value.trim() === '') throw new RangeError('--say needs some words');
      return { kind: 'say', text: value };
    case 'wav':
      return { kind: 'wav', file: value, place: `--wav ${value}` };
    case 'press': {
      const keys = keysOf(value);
      if (keys === undefined) throw new RangeError(`--press ${value}: keys are 0 to 9, *, # and A to D`);
      return { kind: 'press', keys };
    }
    case 'wait':
      return { kind: 'wait', waitMs: milliseconds(option, value) };
    case 'event':
      return eventOf(value);
    case 'hangup':
      return { kind: 'hang_up' };
  }
}

/** Reads `name`, or `name={"members":"of an object"}`. */
function eventOf(value: string): Draft {
  const at = value.indexOf('=');
  const name = at === -1 ? value : value.slice(0, at);
  const parameters = at === -1 ? {} : parseJson(value.slice(at + 1));
  if (name === '' || typeof parameters !== 'object' || parameters === null || Array.isArray(parameters)) {
    throw new RangeError(`--event ${value}: write a name, or a name and a JSON object such as bonus={"points":3}`);
  }
  // The cast is safe: what was parsed from JSON is JSON.
  const data = parameters as JsonObject;
  const problem = unsendable(data);
  if (problem !== undefined) throw new RangeError(`--event ${name}: ${problem}`);
  return { kind: 'send_event', name, parameters: data };
}

function milliseconds(option: string, value: string): number {
  const ms = Number(value);
  if (!/^\d+$/u.test(value) || ms > MAX_WAIT_MS) {
    throw new RangeError(`--${option} ${value}: give whole milliseconds, at most ${String(MAX_WAIT_MS)}`);
  }
  return ms;
}

/**
 * Speaks the texts and reads the files.
 *
 * @param recording - reads the files; by default a new reader.
 * @throws RangeError with a sentence for the user when a recording cannot be used; errors of `speak`.
 */
export async function prepareScript(
  drafts: readonly Draft[],
  tools: ScriptTools,
  recording = recordingReader(tools),
): Promise<readonly Step[]> {
  const steps: Step[] = [];
  for (const draft of drafts) {
    const { interruptMs, interruptWord } = draft;
    const interrupt = {
      ...(interruptMs === undefined ? {} : { interruptMs }),
      ...(interruptWord === undefined ? {} : { interruptWord }),
    };
    if (draft.kind === 'say')
      steps.push({ kind: 'say', label: `"${draft.text}"`, words: draft.text, mulaw: await tools.speak(draft.text), ...interrupt });
    else if (draft.kind === 'wav')
      steps.push({ kind: 'say', label: draft.file, mulaw: await recording(draft.file, draft.place), ...interrupt });
    else steps.push(draft);
  }
  return steps;
}

/** What is wrong with data to be sent, as a sentence for the user; undefined when it can be sent. */
export function unsendable(data: JsonObject): string | undefined {
  try {
    structFromJson(data);
    return undefined;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}
