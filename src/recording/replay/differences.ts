// Compares a replayed call with the recorded one, turn by turn: the prompts, the next step, the bot's state and, with a limit, the
// latency. Withheld content never counts as different.
import { isJsonList, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { SessionEnd } from '../../dialog/ending.ts';
import type { RecordedEvent } from '../recording.ts';
import { isWithheld } from '../redaction.ts';
import { turnsOf, type TurnRecord, type TurnPrompt } from './recorded-turns.ts';

/** One difference; both sides as text. */
export interface Difference {
  /** {@link TurnRecord.number}. */
  readonly turn: number;
  readonly what: 'prompts' | 'next' | 'state' | 'latency';
  /** Path within the next step or the state. */
  readonly at?: string;
  readonly recorded: string;
  readonly replayed: string;
  /** Set when a withheld digit or word was replayed before: the bot may have got another one. */
  readonly isAfterWithheld?: true;
}

/** How much later than in the recording the first sound may come, ms. Default: latencies are not compared. */
export interface Tolerance {
  readonly laterMs?: number;
}

/** Ends of a call that neither caller nor bot causes. */
const BY_SERVER: ReadonlySet<string> = new Set<SessionEnd>(['too_long', 'shutdown']);

/** All differences, in the order of the turns. */
export function differences(
  recorded: readonly RecordedEvent[],
  replayed: readonly RecordedEvent[],
  { laterMs = Infinity }: Tolerance = {},
): readonly Difference[] {
  const found: Difference[] = [];
  const today = new Map(turnsOf(replayed).map((turn) => [turn.id, turn]));
  let isAfterWithheld = false;
  for (const before of ofBot(recorded)) {
    isAfterWithheld ||= before.input?.isWithheld === true;
    const now = today.get(before.id);
    const own =
      now === undefined
        ? [missing(before)]
        : [...prompts(before, now), ...next(before, now), ...state(before, now), ...latency(before, now, laterMs)];
    found.push(
      ...own.map((difference) => ({ ...difference, turn: before.number, ...(isAfterWithheld && { isAfterWithheld: true as const }) })),
    );
  }
  return found;
}

/** Number of turns whose answers have no withheld content. */
export function wholeTurns(recorded: readonly RecordedEvent[]): number {
  return ofBot(recorded).filter(({ prompts: said, state: kept }) => !isWithheld(kept) && !said.some(isPromptWithheld)).length;
}

/** The turns without the one in which the server, not the bot, ended the call. */
function ofBot(recorded: readonly RecordedEvent[]): readonly TurnRecord[] {
  const isLeft = recorded.some((event) => event.kind === 'ended' && BY_SERVER.has(event.end));
  return turnsOf(recorded).filter((turn) => !isLeft || turn.next?.kind !== 'transfer' || turn.state !== undefined);
}

type Found = Omit<Difference, 'turn' | 'isAfterWithheld'>;

function missing({ prompts: said }: TurnRecord): Found {
  return { what: 'prompts', recorded: said.map(shownPrompt).join(' '), replayed: 'the turn did not open' };
}

function prompts(before: TurnRecord, now: TurnRecord): readonly Found[] {
  const [was, is] = [replyOf(before), replyOf(now)];
  const isSame = was.length === is.length && was.every((prompt, index) => isSamePrompt(prompt, is[index]));
  return isSame ? [] : [{ what: 'prompts', recorded: was.map(shownPrompt).join(' '), replayed: is.map(shownPrompt).join(' ') }];
}

/** The prompts of the bot. The fillers of the engine depend on the time, not on the bot. */
function replyOf({ prompts: all }: TurnRecord): readonly TurnPrompt[] {
  return all.filter(({ isFiller }) => isFiller !== true);
}

function isSamePrompt(was: TurnPrompt, is: TurnPrompt | undefined): boolean {
  if (is === undefined || was.bargeIn !== is.bargeIn) return false;
  if (isPromptWithheld(was)) return true;
  // Of a cut prompt only the length of the rest can be compared.
  const isNamed = (was.text ?? was.source) !== undefined;
  return was.text === is.text && was.source === is.source && (isNamed || Math.round(was.durationMs) === Math.round(is.durationMs));
}

function isPromptWithheld({ text, pieces }: TurnPrompt): boolean {
  return isWithheld(text) || pieces.some(({ sound }) => isWithheld(sound));
}

function shownPrompt({ text, durationMs, source }: TurnPrompt): string {
  if (isWithheld(text)) return '[withheld]';
  return text ?? `[${source ?? `${String(Math.round(durationMs))} ms of sound`}]`;
}

function next(before: TurnRecord, now: TurnRecord): readonly Found[] {
  return members('next', before.next ?? null, now.next ?? null);
}

function state(before: TurnRecord, now: TurnRecord): readonly Found[] {
  return members('state', before.state ?? null, now.state ?? null);
}

function latency(before: TurnRecord, now: TurnRecord, laterMs: number): readonly Found[] {
  const [was, is] = [latencyOf(before), latencyOf(now)];
  if (was === undefined || is === undefined || is - was <= laterMs) return [];
  return [{ what: 'latency', recorded: `${String(Math.round(was))} ms`, replayed: `${String(Math.round(is))} ms` }];
}

/** From the end of the input to the first sound of the reply. */
function latencyOf(turn: TurnRecord): number | undefined {
  const [first] = replyOf(turn);
  return first === undefined || turn.input === undefined ? undefined : first.atMs - turn.input.completeMs;
}

/** The first member that differs, in the order of the recording. */
function members(what: 'next' | 'state', was: unknown, is: unknown): readonly Found[] {
  const found = firstDifference(asJson(was), asJson(is), '');
  return found === undefined ? [] : [{ what, ...found }];
}

function firstDifference(was: JsonValue, is: JsonValue, at: string): Pick<Difference, 'at' | 'recorded' | 'replayed'> | undefined {
  if (isWithheld(was) || was === is) return undefined;
  if (isObject(was) && isObject(is)) {
    const names = new Set([...Object.keys(was), ...Object.keys(is)]);
    for (const name of names) {
      const found = firstDifference(was[name] ?? null, is[name] ?? null, at === '' ? name : `${at}.${name}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (isList(was) && isList(is) && was.length === is.length) {
    for (const [index, member] of was.entries()) {
      const found = firstDifference(member, is[index] ?? null, `${at}[${String(index)}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return { ...(at !== '' && { at }), recorded: JSON.stringify(was), replayed: JSON.stringify(is) };
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !isList(value);
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return typeof value === 'object' && value !== null && isJsonList(value);
}

/** A value as JSON, without undefined members. */
function asJson(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}
