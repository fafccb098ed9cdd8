// What the engine asks of the rooms beside it. Roles only; who plays them is decided in app.
import type { AppError } from '../base/errors.ts';
import type { BargeIn, ReplyingEvent } from '../bot/bot.ts';
import type { CallFacts, CallKey } from '../dialog/call.ts';
import type { SessionEnd, TurnEnd } from '../dialog/ending.ts';
import type { Output, PromptAudio } from '../dialog/output.ts';
import type { Prompt } from '../dialog/reply.ts';
import type { Utterance } from '../dialog/utterance.ts';
import type { AdmissionRefusal } from './admission.ts';
import type { Spoken } from './heard.ts';
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
  /** Calls `listener` soon, when what was written has left the process, and does not die with it; left out where that is at once. */
  onceSent?(listener: () => void): void;
}

/** A call as it is kept between two turns. */
export interface KeptCall {
  readonly record: SessionRecord;
  /** What its caller hears, or has heard, of the last reply: as it was told last, by whomever, with times as of now; undefined when nobody has told. */
  readonly spoken: Spoken | undefined;
  /**
   * Where the last reply was committed when nobody has handed it over yet: by this process, or by one that died, lost its lease
   * or is still about it. Undefined also where no other process could hand it over.
   */
  readonly unheard?: 'here' | 'elsewhere' | undefined;
}

/** A call as a stream of it finds it that opens. */
export interface OpenedCall {
  /** Which stream of the call it is: they are counted over all processes, in the order in which they open; 0 where they are not. */
  readonly place: number;
  /** Undefined: the call is unknown. */
  readonly kept: KeptCall | undefined;
}

/** What a process that wants to answer an input is told. */
export type Claim = HeldClaim | OwnClaim;

/** Another process answers an input of the same call at this moment. */
export interface HeldClaim {
  readonly kind: 'held';
}

/** Nobody else answers an input of the call until it is released. */
export interface OwnClaim {
  readonly kind: 'ours';
  /** Undefined: the call is unknown. */
  readonly kept: KeptCall | undefined;
}

/**
 * Keeps the records of sessions for one process, beside others that may keep theirs in the same place. Values go through
 * JSON in both directions, so no store hands out live objects. All that is waited for takes a bounded time.
 *
 * A process that answers an input *claims* the call before, and *releases* it when the reply was handed over. In between
 * it has a lease that ends by itself when the process does not renew it. Every method throws AppError `store_unavailable`
 * when the place where the records lie cannot be reached.
 */
export interface SessionStore {
  /** How long a claim lasts, ms, when it is not renewed. */
  readonly leaseMs: number;
  /** The record, or undefined when the call is unknown. */
  load(key: CallKey): Promise<SessionRecord | undefined>;
  /** Like `load`, for a stream that opens here: from now on this process serves the call, until a stream opens elsewhere. */
  open(key: CallKey): Promise<OpenedCall>;
  /** `open` and `claim` in one step, for a stream that opens with an input that is whole. */
  openClaimed(key: CallKey, first: SessionRecord | undefined): Promise<OpenedCall & { readonly claim: Claim }>;
  /** Whether no other process has opened the call since this one did. */
  serves(key: CallKey): Promise<boolean>;
  /**
   * Takes the call for the answer to one input. Claimed again by the same process, it is its own.
   *
   * @param first - what other processes find of a call that is unknown until its first commit; undefined: nothing.
   */
  claim(key: CallKey, first: SessionRecord | undefined): Promise<Claim>;
  /** @returns false when the claim had ended and another process has the call. */
  renew(key: CallKey): Promise<boolean>;
  /**
   * Writes the record when the stored version is still `expectedVersion` (0: never committed). A call that a shared place has
   * lost is written again.
   *
   * @param isReply - the record holds a reply that is handed over next; it counts as unheard until `release`.
   * @returns false when somebody else was faster; nothing is written then. True also for a record that was written before
   *   (see {@link SessionRecord.writing}).
   */
  commit(record: SessionRecord, expectedVersion: number, isReply?: boolean): Promise<boolean>;
  /**
   * Ends the claim. Nothing happens when the call is not ours.
   *
   * @param spoken - the reply was handed over, or is not wanted any more: it counts as heard, as told here. Undefined when
   *   nothing was answered: what was unheard, and what was told before, stays.
   */
  release(key: CallKey, spoken: Spoken | undefined): Promise<void>;
  /** Keeps a call for longer of which nothing is asked, because its caller is here all the same. */
  touch(key: CallKey): Promise<void>;
  /** Forgets the call. */
  drop(key: CallKey): Promise<void>;
}

/** Carries the caller's interruptions to the processes where an older turn of the same call may still be speaking. */
export interface Interruptions {
  /** Tells all others. Never throws and is not waited for: one that is lost costs a caller some seconds of prompt. */
  tell(key: CallKey, interrupted: Interrupted): void;
  /** Calls `onInterrupted` for what others tell, until the returned function is called. */
  listen(onInterrupted: (key: CallKey, interrupted: Interrupted) => void): () => void;
}

/** What interrupts. */
export interface Interrupted {
  /** Of the stream on which the caller acts; what is said on earlier ones is not wanted any more. */
  readonly place: number;
  /** The caller is gone: nothing is wanted any more. */
  readonly isHangUp: boolean;
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
  /** @param isContinued - the call was begun in another process. */
  sessionStarted?(call: CallFacts, isContinued?: boolean): void;
  /** @param end - `moved`: the call goes on in another process. */
  sessionEnded?(call: CallFacts, end: SessionEnd | 'moved'): void;
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
  /** A reply that was decided, here or in another process, was not heard or not to its end: it is said again, whatever the input was. */
  replyRepeated?(call: CallFacts, turnId: string): void;
  /** A bot threw, took too long or answered nonsense; the caller heard a safe prompt or was transferred. */
  botFailed?(call: CallFacts, turnId: string, error: AppError): void;
}
