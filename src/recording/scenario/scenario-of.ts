// A recorded call as a scenario: the caller's acts, and what has to be true. In the format of docs/scenarios.md; knows no file.
import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { FinalNext } from '../../dialog/output.ts';
import { playoutOf, type HeardPrompt } from '../playout.ts';
import type { Recording } from '../recording.ts';
import { isWithheld } from '../redaction.ts';
import { turnsOf, type TurnRecord, type TurnInput } from '../replay/recorded-turns.ts';
import { tracksOf } from '../tracks.ts';

/** A scenario with one test. */
export interface RecordedScenario {
  readonly file: JsonObject;
  /** Comments above steps, by the number of the step from 0. */
  readonly notes: ReadonlyMap<number, string>;
  /** Speech without known words: linear samples, 8 kHz, by the names in the steps. */
  readonly sounds: ReadonlyMap<string, Int16Array>;
}

/** The sound of an input is taken from this long before its reported start, ms: speech is detected late. */
const BEFORE_SPEECH_MS = 600;
/** A prompt is expected only if at least this much of it was heard, ms. */
const HEARD_MS = 400;
const SAMPLES_PER_MS = 8;
/** Longest call of a scenario without a limit of its own, ms. */
const CALL_MS = 120_000;
/** Members in the data of a transfer or an end that identify one call. */
const NOT_EXPECTED: ReadonlySet<string> = new Set(['conversation_id']);

interface Part {
  readonly turn: TurnRecord;
  readonly input: TurnInput;
}

/** @param name - prefix of the names of sounds. */
export function scenarioOf(recording: Recording, name: string): RecordedScenario {
  const { header, events } = recording;
  const { call } = header;
  const turns = turnsOf(events);
  const { prompts } = playoutOf(recording);
  const parts = turns.flatMap((turn): Part[] => (turn.input === undefined ? [] : [{ turn, input: turn.input }]));
  const start = parts.find(({ input }) => input.kind === 'start');
  const acts = parts.filter((part) => part !== start);
  const notes = new Map<number, string>();
  const sounds = new Map<string, Int16Array>();
  const steps = acts.map(({ turn, input }, index): JsonObject => {
    const sound = `${name}-${String(index + 1)}.wav`;
    const act = actOf(input, sound, turns.slice(0, turn.number - 1).findLast(({ next }) => next?.kind === 'listen')?.next);
    if (act.note !== undefined) notes.set(index, act.note);
    if ('wav' in act.step) sounds.set(sound, soundOf(recording, input));
    const until = acts[index + 1]?.input.atMs ?? Infinity;
    const expected = expectedOf(turn, heardIn(prompts, turn.id, until));
    return { ...act.step, ...interruptionOf(input, prompts), ...(Object.keys(expected).length > 0 && { expect: expected }) };
  });
  const durationMs = events.at(-1)?.atMs ?? 0;
  const welcome = start === undefined ? [] : heardIn(prompts, start.turn.id, acts[0]?.input.atMs ?? Infinity);
  const test = {
    name: `call ${call.conversationId}`,
    agent: call.agentId,
    ...(Object.keys(call.parameters).length > 0 && { session: { parameters: call.parameters } }),
    ...(durationMs * 2 > CALL_MS && { limits: { call_ms: Math.ceil(durationMs * 2) } }),
    ...(welcome.length > 0 && { welcome: { heard: welcome } }),
    steps,
    expect: endOf(events, turns),
  };
  return { file: { tests: [test] }, notes, sounds };
}

interface Act {
  readonly step: JsonObject;
  readonly note?: string;
}

/** @param asked - the input that the bot was waiting for. */
function actOf({ kind, text, isWithheld: isSecret, parameters }: TurnInput, sound: string, asked: FinalNext | undefined): Act {
  const digits = asked?.kind === 'listen' ? asked.digits : 1;
  switch (kind) {
    case 'keys':
      if (isSecret === true) return { step: { press: '0'.repeat(digits) }, note: ' The keys are not kept: press others.' };
      return text === undefined || text === '' ? { step: { stay_silent: true }, note: ' Keys were awaited.' } : { step: { press: text } };
    case 'speech':
      if (isSecret === true) return { step: { say: 'zero '.repeat(digits).trim() }, note: ' The words are not kept: say others.' };
      return text === undefined ? { step: { wav: sound }, note: ' Nobody understood it.' } : { step: { say: text } };
    case 'event':
      return { step: { send_event: { name: text ?? '', ...(parameters !== undefined && { parameters }) } } };
    case 'hang_up':
      return { step: { hang_up: true } };
    case 'no_input':
    case 'start':
      return { step: { stay_silent: true } };
  }
}

/** The delay of an input that interrupted a prompt. */
function interruptionOf({ kind, atMs }: TurnInput, prompts: readonly HeardPrompt[]): JsonObject {
  if (kind === 'no_input' || kind === 'start') return {};
  const first = prompts.findLast(({ startMs, endMs }) => startMs < atMs && endMs >= atMs)?.turn;
  const began = prompts.find(({ turn }) => turn === first);
  return began === undefined ? {} : { interrupt_after_ms: Math.max(0, Math.round(atMs - began.startMs)) };
}

/** The prompts of a turn that were heard before the caller's input. */
function heardIn(prompts: readonly HeardPrompt[], turn: string, untilMs: number): readonly string[] {
  return prompts.flatMap(({ turn: own, startMs, endMs, prompt: { text, isFiller, goesOn } }) => {
    const isHeard = Math.min(endMs, untilMs) - startMs >= Math.min(HEARD_MS, endMs - startMs) && startMs <= untilMs;
    return own === turn && isHeard && isFiller !== true && goesOn !== true && typeof text === 'string' ? [text] : [];
  });
}

function expectedOf({ next }: TurnRecord, heard: readonly string[]): JsonObject {
  const data = next?.kind === 'transfer' || next?.kind === 'end' ? next.metadata : {};
  const known = Object.entries(data).filter(([name, value]) => !NOT_EXPECTED.has(name) && !isWithheld(value));
  return {
    ...(heard.length > 0 && { heard }),
    ...(next?.kind === 'transfer' && { ends: 'transferred' }),
    ...(next?.kind === 'end' && { ends: 'ended' }),
    ...(known.length > 0 && { with_data: Object.fromEntries(known) }),
  };
}

function endOf(events: Recording['events'], turns: readonly TurnRecord[]): JsonObject {
  const last = turns.findLast(({ next }) => next?.kind === 'transfer' || next?.kind === 'end')?.next?.kind;
  if (last !== undefined) return { ends: last === 'end' ? 'ended' : 'transferred' };
  const isHungUp = events.some((event) => event.kind === 'ended' && event.end === 'caller');
  const ends: Readonly<Record<string, JsonValue>> = isHungUp ? { ends: 'hung_up' } : {};
  return ends;
}

function soundOf(recording: Recording, { atMs, completeMs }: TurnInput): Int16Array {
  const { caller } = tracksOf(recording);
  return caller.slice(Math.max(0, Math.round((atMs - BEFORE_SPEECH_MS) * SAMPLES_PER_MS)), Math.round(completeMs * SAMPLES_PER_MS));
}
