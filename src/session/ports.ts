// What the engine asks of the rooms beside it. Roles only; who plays them is decided in app.
import type { AppError } from '../base/errors.ts';
import type { BargeIn, ReplyingEvent } from '../bot/bot.ts';
import type { CallFacts, CallKey } from '../dialog/call.ts';
import type { SessionEnd, TurnEnd } from '../dialog/ending.ts';
import type { Output, PromptAudio } from '../dialog/output.ts';
import type { Prompt } from '../dialog/reply.ts';
import type { Utterance } from '../dialog/utterance.ts';
import type { AdmissionRefusal } from './admission.ts';
import type { Snapshot } from './snapshot/snapshot.ts';

/** Where the outputs of one turn go; the transport implements it. Nothing may be written after `complete` or `fail` (G-14). */
export interface TurnSink {
  /** The platform's correlation id of this turn, or one of ours; safe to log. */
  readonly trackingId?: string;
  /** The turn was forwarded: its id at the process that has its stream. It comes again, under the same id, when this home dies. */
  readonly forwardedId?: string | undefined;
  /** Sends one output. False: wait for `onceDrained` before the next. */
  write(output: Output): boolean;
  /** Calls `listener` once when the wire can take more. At most one listener waits at a time. */
  onceDrained(listener: () => void): void;
  /** Ends the turn well (G-13). */
  complete(): void;
  /** Ends the turn with an error; only for failures that no spoken reply can cover. */
  fail(error: AppError): void;
  /** The call moves to another home: gives a forwarded stream back on which nothing was written. @returns false when it cannot. */
  giveBack?(): boolean;
  /**
   * Resolves soon after the turn is over: with true when what was written has left the process and does not die with it, with false when
   * it was lost with the process that forwarded the turn. Never rejects. Left out where it is delivered at once.
   */
  delivered?(): Promise<boolean>;
}

/** Where the snapshots of the calls that live here are written, so that another process can go on with them. */
export interface Snapshots {
  /** Whether other processes can go on with calls at all. */
  readonly isShared: boolean;
  /** Whether one could now: what is written reaches them. */
  readonly canMove: boolean;
  /** Writes the newest snapshot of a call; one that waits is replaced. Returns at once, never throws; retried while the directory is away. */
  save(call: CallKey, snapshot: Snapshot): void;
  /** The call may live elsewhere from now on; what was saved before is kept when `snapshot` is left out. Never rejects, bounded. */
  release(call: CallKey, snapshot?: Snapshot): Promise<void>;
  /** The call is over: for a while later turns get no prompts anywhere (G-7C). Returns at once, never throws. */
  forget(call: CallKey): void;
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
  /** A new call got no session; its caller heard a prompt and was transferred. */
  callRefused?(call: CallKey, reason: AdmissionRefusal): void;
  /** @param isContinued - the call was begun in another process. */
  sessionStarted?(call: CallFacts, isContinued?: boolean): void;
  /** @param end - `moved`: the call goes on in another process. */
  sessionEnded?(call: CallFacts, end: SessionEnd | 'moved'): void;
  turnStarted?(call: CallFacts, turnId: string, trackingId?: string): void;
  /** The first prompt audio of a turn was sent, `latencyMs` after the caller's input was complete. */
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
  /** A turn that another home had answered came again: its reply is said again. */
  replyRepeated?(call: CallFacts, turnId: string): void;
  /** A bot threw, took too long or answered nonsense; the caller heard a safe prompt or was transferred. */
  botFailed?(call: CallFacts, turnId: string, error: AppError): void;
}
