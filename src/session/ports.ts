// What the engine asks of the rooms beside it. Roles only; who plays them is decided in app.
import type { AppError } from '../base/errors.ts';
import type { BargeIn, ReplyingEvent } from '../bot/bot.ts';
import type { CallFacts, CallKey } from '../dialog/call.ts';
import type { SessionEnd, TurnEnd } from '../dialog/ending.ts';
import type { Output, PromptAudio } from '../dialog/output.ts';
import type { Prompt } from '../dialog/reply.ts';
import type { Utterance } from '../dialog/utterance.ts';
import type { AdmissionRefusal } from './admission.ts';
import type { SessionRecord } from './record.ts';

/** The mouth of one turn, as the transport offers it. Nothing may be written after `complete` or `fail` (G-14). */
export interface TurnSink {
  /** The platform's correlation id of this turn, or one of ours; safe to log. */
  readonly trackingId?: string;
  /** Hands one output to the wire. False: wait for `onceDrained` before the next. */
  write(output: Output): boolean;
  /** Calls `listener` once when the wire can take more. At most one listener waits at a time. */
  onceDrained(listener: () => void): void;
  /** Ends the turn well (G-13). */
  complete(): void;
  /** Ends the turn with an error; only for failures that no spoken reply can cover. */
  fail(error: AppError): void;
}

/** Keeps the records of sessions. Values go through JSON in both directions, so no store hands out live objects. */
export interface SessionStore {
  /** The record, or undefined when the call is unknown. */
  load(key: CallKey): Promise<SessionRecord | undefined>;
  /**
   * Writes the record when the stored version is still `expectedVersion` (0: must not exist yet).
   *
   * @returns false when somebody else was faster; nothing is written then.
   */
  commit(record: SessionRecord, expectedVersion: number): Promise<boolean>;
  /** Forgets the call. */
  drop(key: CallKey): Promise<void>;
}

/** Turns prompts into sound. */
export interface PromptVoice {
  /** False when no synthesizer is there: text prompts then travel as text alone. */
  readonly canSpeak: boolean;
  /**
   * The audio of a prompt. A prompt that was rendered before comes back at once, without a promise.
   *
   * @throws never; a failed synthesis is reported by the implementation and yields undefined.
   */
  render(prompt: Prompt, signal: AbortSignal): Sound | Promise<Sound>;
  /** A sound, or the rest of one, did not come in time and is not waited for; the implementation reports it like a failure. */
  late(prompt: Prompt): void;
}

/**
 * What a prompt sounds like: ready audio, pieces of it that are still being made (they never throw; a failure ends
 * them), or nothing.
 */
export type Sound = PromptAudio | AsyncIterable<PromptAudio> | undefined;

/** Turns an utterance into text. */
export interface Recognizer {
  /**
   * @returns the text, or undefined when nothing was understood.
   * @throws AppError `recognition_failed`.
   */
  recognize(utterance: Utterance, signal: AbortSignal): Promise<string | undefined>;
}

/**
 * Watches the engine. All members are optional; whatever an observer throws is logged and forgotten, so that none can
 * break a call. No member is called per audio frame, and none is given caller data.
 */
export interface SessionObserver {
  /** A new call got no session; its caller heard a line and was handed over. */
  callRefused?(call: CallKey, reason: AdmissionRefusal): void;
  sessionStarted?(call: CallFacts): void;
  sessionEnded?(call: CallFacts, end: SessionEnd): void;
  turnStarted?(call: CallFacts, turnId: string, trackingId?: string): void;
  /** The first prompt audio of a turn was handed to the wire, `latencyMs` after the caller's input was complete. */
  replyStarted?(call: CallFacts, turnId: string, latencyMs: number): void;
  turnEnded?(call: CallFacts, turnId: string, end: TurnEnd): void;
  /** The caller began or stopped speaking. */
  inputStarted?(call: CallFacts, turnId: string): void;
  inputEnded?(call: CallFacts, turnId: string): void;
  /** An input reached the bot; `botAnswered` follows, whatever came of it. */
  botAsked?(call: CallFacts, turnId: string, event: ReplyingEvent['type']): void;
  botAnswered?(call: CallFacts, turnId: string, tookMs: number): void;
  bargeIn?(call: CallFacts, turnId: string, by: BargeIn['by'], heardMs: number): void;
  /** What cut the prompts was no speech: they went on. */
  promptResumed?(call: CallFacts, turnId: string): void;
  /** The caller heard that the bot is still thinking. */
  fillerSpoken?(call: CallFacts, turnId: string): void;
  /** A client did not read its prompts in time. */
  slowReader?(call: CallFacts, turnId: string): void;
  /** A bot threw, took too long or answered nonsense; the caller heard a safe prompt or was transferred. */
  botFailed?(call: CallFacts, turnId: string, error: AppError): void;
}
