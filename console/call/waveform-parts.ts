// What the picture of a call is made of: who speaks when, what of a prompt nobody heard, and marks.
import type { CallView, ShownPrompt, ShownTrack } from '../../src/dialog/call-view.ts';
import { namedParts, type NamedPart } from './answer-parts.ts';
import { inputText } from './ladder-rows.ts';
import { inWords } from './shown-time.ts';

/** Length of one peak, ms. */
export const PEAK_MS = 20;
/** The loudest peak of a side fills its row; where there is nothing but noise, one of this would. */
const LEAST_LOUDEST = 48;

/** A stretch of time with words. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  readonly text: string;
}
export interface PromptSpan extends Span {
  /** Where what nobody heard of it would have ended; `toMs` when all was heard. */
  readonly unheardToMs: number;
}
/** The time to an answer, with its parts. */
export interface AnswerSpan extends Span {
  readonly parts: readonly NamedPart[];
}
/** A moment. */
export interface Mark {
  readonly atMs: number;
  readonly lane: 'caller' | 'server' | 'bot';
  readonly text: string;
  /** Whether it changes the course of the call. */
  readonly isMajor: boolean;
}

export interface Picture {
  readonly durationMs: number;
  /** Peaks, 255 for the loudest one of the side. */
  readonly caller: Uint8Array;
  readonly bot: Uint8Array;
  readonly speech: readonly Span[];
  readonly prompts: readonly PromptSpan[];
  readonly answers: readonly AnswerSpan[];
  /** In order of time. */
  readonly marks: readonly Mark[];
  /** Where turns begin. */
  readonly turns: readonly { readonly atMs: number; readonly number: number }[];
}

/** Events that the picture shows in another way, or that the ladder alone shows. */
const SHOWN_OTHERWISE = new Set([
  ...['session_started', 'session_ended', 'turn_started', 'turn_ended', 'input_started', 'input_ended', 'words', 'recognized'],
  ...['reply_started', 'answer_parts', 'barge_in', 'bot_failed'],
]);

export function pictureOf(view: CallView): Picture {
  // Two turns may be open at once.
  const prompts = view.turns.flatMap((turn) => turn.prompts).sort((one, other) => one.startMs - other.startMs);
  return {
    durationMs: lengthOf(view),
    caller: peaksOf(view.sound.caller),
    bot: peaksOf(view.sound.bot),
    speech: view.turns.flatMap((turn) => {
      if (turn.input?.kind !== 'speech') return [];
      const { atMs, lastSoundMs = turn.input.completeMs } = turn.input;
      return [{ fromMs: atMs, toMs: lastSoundMs, text: inputText(turn) }];
    }),
    prompts: prompts.map((prompt, index, all) => promptSpan(prompt, all[index + 1]?.startMs)),
    answers: view.turns.flatMap(({ input, firstSoundMs, parts }) => {
      if (input === undefined || firstSoundMs === undefined || parts === undefined) return [];
      const fromMs = input.lastSoundMs ?? input.completeMs;
      return [{ fromMs, toMs: firstSoundMs, text: '', parts: namedParts(parts) }];
    }),
    marks: marksOf(view),
    turns: view.turns.map(({ atMs, number }) => ({ atMs, number })),
  };
}

/** How long there is something to hear: the farewell is heard after the session has ended. */
export function lengthOf({ call, turns }: CallView): number {
  return turns.reduce((most, { prompts }) => Math.max(most, ...prompts.map(({ endMs }) => endMs)), call.durationMs);
}

function peaksOf(track: ShownTrack | undefined): Uint8Array {
  const peaks = Uint8Array.from(atob(track?.peaks ?? ''), (character) => character.charCodeAt(0));
  const loudest = peaks.reduce((most, peak) => Math.max(most, peak), LEAST_LOUDEST);
  return peaks.map((peak) => (peak * 255) / loudest);
}

/** @param nextMs - when the next prompt began: nothing of this one was to be heard after that. */
function promptSpan({ text, isWithheld, startMs, endMs, unheardMs = 0 }: ShownPrompt, nextMs = Infinity): PromptSpan {
  const shown = isWithheld === true ? '(withheld)' : (text ?? '');
  return { fromMs: startMs, toMs: endMs, text: shown, unheardToMs: Math.max(endMs, Math.min(endMs + unheardMs, nextMs)) };
}

function marksOf(view: CallView): readonly Mark[] {
  const ofTurns = view.turns.flatMap((turn): Mark[] => {
    const { input, interim = [], bargeIn, next, prompts, parts, firstSoundMs, error, endMs } = turn;
    const marks: Mark[] = interim.map(({ atMs, text }) => ({ atMs, lane: 'caller', text: `understood so far: “${text}”`, isMajor: false }));
    if (input?.kind === 'speech') {
      marks.push({ atMs: input.atMs, lane: 'caller', text: 'speech begins', isMajor: false });
      if (input.lastSoundMs !== undefined) marks.push({ atMs: input.lastSoundMs, lane: 'caller', text: 'last sound', isMajor: false });
      marks.push({ atMs: input.completeMs, lane: 'caller', text: 'decided: speech has ended', isMajor: true });
      const knownMs = input.completeMs + (parts?.recognitionMs ?? 0);
      if (input.text !== undefined) marks.push({ atMs: knownMs, lane: 'server', text: `recognized: ${inputText(turn)}`, isMajor: false });
    } else if (input !== undefined) marks.push({ atMs: input.completeMs, lane: 'caller', text: inputText(turn), isMajor: true });
    if (firstSoundMs !== undefined) marks.push({ atMs: firstSoundMs, lane: 'bot', text: 'first sound', isMajor: false });
    if (bargeIn !== undefined) marks.push({ atMs: bargeIn.atMs, lane: 'bot', text: `barge-in by ${inWords(bargeIn.by)}`, isMajor: true });
    if (error !== undefined) marks.push({ atMs: firstSoundMs ?? turn.atMs, lane: 'server', text: inWords(error.code), isMajor: true });
    if (next?.kind === 'transfer' || next?.kind === 'end') {
      const atMs = Math.max(...prompts.map((prompt) => prompt.endMs), prompts.length === 0 ? (endMs ?? turn.atMs) : 0);
      marks.push({ atMs, lane: 'bot', text: next.kind === 'end' ? 'farewell said' : 'transfer', isMajor: true });
    }
    return marks;
  });
  const ofEvents = view.events
    .filter(({ event, from }) => from !== 'caller' && from !== 'platform' && !SHOWN_OTHERWISE.has(event))
    .map(({ atMs, event }): Mark => ({ atMs, lane: 'server', text: inWords(event), isMajor: false }));
  // Of two marks at one time, only the words of the last one are drawn.
  return [...ofTurns, ...ofEvents].sort((one, other) => one.atMs - other.atMs || Number(one.isMajor) - Number(other.isMajor));
}
