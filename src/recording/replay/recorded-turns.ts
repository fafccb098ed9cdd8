// The turns of a recorded call: the caller's input in each, and the bot's answer.
import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { FinalNext } from '../../dialog/output.ts';
import type { RecordedEvent, RecordedPrompt, Recording, SoundRange, Withheld } from '../recording.ts';
import { isWithheld } from '../redaction.ts';

/** The caller's input in a turn. Times are ms since the session began. */
export interface TurnInput {
  readonly kind: 'start' | 'speech' | 'keys' | 'no_input' | 'event' | 'hang_up';
  readonly atMs: number;
  /** When the input was complete. */
  readonly completeMs: number;
  /** Words, keys or the name of the event; undefined when it is not known. */
  readonly text?: string;
  readonly isWithheld?: true;
  /** Set for an event. */
  readonly parameters?: JsonObject;
}

/** A prompt with all of its pieces. */
export interface TurnPrompt extends Omit<RecordedPrompt, 'sound' | 'goesOn'> {
  /** When the prompt was sent. */
  readonly atMs: number;
  readonly pieces: readonly { readonly atMs: number; readonly durationMs: number; readonly sound?: SoundRange | Withheld }[];
}

/** One turn. Lists are in order of time. */
export interface TurnRecord {
  readonly id: string;
  /** From 1. */
  readonly number: number;
  readonly openedMs: number;
  /** Of several inputs, the one that was answered. */
  readonly input?: TurnInput;
  /** When the caller began to speak or to press keys on this turn. */
  readonly begunMs?: number;
  /** Includes fillers. */
  readonly prompts: readonly TurnPrompt[];
  readonly next?: FinalNext;
  /** The state after the answer; undefined: the bot did not answer. */
  readonly state?: JsonValue | Withheld;
  /** Set when the bot has answered: the time of its answer. */
  readonly answeredMs?: number;
  readonly closedMs?: number;
  readonly end?: string;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Draft = Mutable<Omit<TurnRecord, 'prompts'>> & { readonly prompts: Mutable<TurnPrompt>[] };

/** Whether the rest of a turn's reply was dropped, because the caller gave a new input or hung up. */
export function isCut({ id, end, input, closedMs = -Infinity }: TurnRecord, turns: readonly TurnRecord[]): boolean {
  if (end === 'interrupted' || end === 'hang_up') return true;
  const sinceMs = input?.completeMs ?? Infinity;
  return turns.some((other) => {
    const cameMs = other.begunMs ?? other.input?.atMs ?? -Infinity;
    return other.id !== id && cameMs > sinceMs && cameMs <= closedMs;
  });
}

/** The turns of a recording, in the order in which they opened. */
export function turnsOf(events: Recording['events']): readonly TurnRecord[] {
  const turns = new Map<string, Draft>();
  let isOver = false;
  for (const event of events) {
    isOver ||= event.kind === 'ended';
    // A decision of the bot after the end of the call does not count.
    if (isOver && event.kind === 'state') continue;
    if (event.kind === 'turn_opened') turns.set(event.turn, { id: event.turn, number: turns.size + 1, openedMs: event.atMs, prompts: [] });
    else if (event.kind !== 'fact' && event.kind !== 'ended') add(turns.get(event.turn), event);
  }
  return [...turns.values()];
}

function add(turn: Draft | undefined, event: RecordedEvent): void {
  if (turn === undefined) return;
  switch (event.kind) {
    case 'input':
      addInput(turn, event);
      return;
    case 'words':
      if (turn.input?.kind === 'speech') turn.input = { ...turn.input, ...shown(event.text) };
      return;
    case 'output':
      addOutput(turn, event);
      return;
    case 'state':
      turn.state = event.state;
      turn.answeredMs = event.atMs;
      return;
    case 'turn_closed':
      turn.end = event.end;
      turn.closedMs = event.atMs;
      return;
    default:
    // Nothing of these is compared.
  }
}

function addInput(turn: Draft, { atMs, input }: Extract<RecordedEvent, { kind: 'input' }>): void {
  const at = { atMs, completeMs: atMs };
  switch (input.kind) {
    case 'session_start':
      turn.input ??= { kind: 'start', ...at, parameters: input.parameters };
      return;
    case 'dtmf_start':
      turn.begunMs = atMs;
      return;
    case 'dtmf':
      turn.input ??= { kind: 'keys', completeMs: atMs, atMs: turn.begunMs ?? atMs, ...shown('digits' in input ? input.digits : input) };
      return;
    case 'no_input':
      turn.input ??= { kind: 'no_input', ...at };
      return;
    case 'custom_event':
      turn.input ??= { kind: 'event', ...at, text: input.name, parameters: input.parameters };
      return;
    case 'session_end':
      turn.input ??= { kind: 'hang_up', ...at };
  }
}

function addOutput(turn: Draft, { atMs, output }: Extract<RecordedEvent, { kind: 'output' }>): void {
  switch (output.kind) {
    case 'input_started':
      turn.begunMs = atMs;
      return;
    case 'input_ended':
      turn.input ??= { kind: 'speech', atMs: turn.begunMs ?? atMs, completeMs: atMs };
      return;
    case 'prompt':
      addPrompt(turn, atMs, output.prompt);
      return;
    case 'final':
      for (const prompt of output.prompts) addPrompt(turn, atMs, prompt);
      turn.next = output.next;
  }
}

function addPrompt({ prompts }: Draft, atMs: number, { sound, goesOn, ...prompt }: RecordedPrompt): void {
  const piece = { atMs, durationMs: prompt.durationMs, ...(sound !== undefined && { sound }) };
  const last = prompts.at(-1);
  if (goesOn !== true || last === undefined) {
    prompts.push({ ...prompt, atMs, pieces: [piece] });
    return;
  }
  last.durationMs += piece.durationMs;
  last.pieces = [...last.pieces, piece];
}

function shown(content: string | undefined | Withheld): Pick<TurnInput, 'text' | 'isWithheld'> {
  if (isWithheld(content)) return { isWithheld: true };
  return content === undefined ? {} : { text: content };
}
