// The ports of the engine. `app` connects them to implementations.
import type { AppError } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import type { BargeIn, Bot, ReplyingEvent, SpeechInput } from '../bot/bot.ts';
import type { CallFacts, CallKey } from '../dialog/call.ts';
import type { AnswerParts } from '../dialog/call-view.ts';
import type { SessionEnd, TurnEnd } from '../dialog/ending.ts';
import type { Input } from '../dialog/input.ts';
import type { DeliveryMode, Output, PromptAudio } from '../dialog/output.ts';
import type { Prompt } from '../dialog/reply.ts';
import type { TurnReport } from '../dialog/turn-report.ts';
import type { Utterance } from '../dialog/utterance.ts';
import type { AdmissionRefusal } from './admission.ts';
import type { Snapshot } from './snapshot/snapshot.ts';

/** The outputs of one turn; implemented by the transports. Nothing may be written after `complete` or `fail` (G-14). */
export interface TurnSink {
  /** The platform's correlation id of this turn, or one of ours; safe to log. */
  readonly trackingId?: string;
  /**
   * Set for a forwarded turn: its id at the process with the stream. If this home dies, the turn comes again under
   * this id.
   */
  readonly forwardedId?: string | undefined;
  /** Sends one output. @returns false when the caller should wait for `onceDrained`. */
  write(output: Output): boolean;
  /** Calls `listener` once when the wire can take more. At most one listener waits at a time. */
  onceDrained(listener: () => void): void;
  /** Ends the turn successfully (G-13). */
  complete(): void;
  /** Ends the turn with an error; only for failures that no spoken reply can cover. */
  fail(error: AppError): void;
  /** Returns an unused forwarded stream, because the call moves. @returns false for a direct stream. */
  giveBack?(): boolean;
  /**
   * Resolves soon after the end of the turn: with true when the outputs have left the process, with false when they
   * were lost with the forwarding process. Never rejects. Undefined when delivery is immediate.
   */
  delivered?(): Promise<boolean>;
}

/** Saves the snapshots of this process's calls, so that another process can go on with them. */
export interface Snapshots {
  /** Whether other processes can ever go on with calls. */
  readonly isShared: boolean;
  /** Whether other processes can go on with calls now: saves reach them. */
  readonly canMove: boolean;
  /**
   * Saves the newest snapshot of a call in the background; replaces a waiting one. Never throws; retried while the
   * directory is unavailable.
   */
  save(call: CallKey, snapshot: Snapshot): void;
  /** Resolves when the store has what was last saved of a call, or has not answered in bounded time. Never rejects. */
  saved(call: CallKey): Promise<void>;
  /** Releases a call to other homes; without `snapshot` the last saved one stays. Never rejects; bounded in time. */
  release(call: CallKey, snapshot?: Snapshot): Promise<void>;
  /**
   * Records that the call has ended, so that late turns get no prompts anywhere (G-7C). In the background; never
   * throws.
   */
  forget(call: CallKey): void;
}

/** Turns prompts into audio. */
export interface PromptVoice {
  /** False without a synthesizer: text prompts are then sent as text only. */
  readonly canSpeak: boolean;
  /**
   * The audio of a prompt. Synchronous for a cached prompt.
   *
   * @throws never; a failed synthesis is reported by the implementation and yields undefined.
   */
  render(prompt: Prompt, signal: AbortSignal): Sound | Promise<Sound>;
  /** A sound, or a piece of it, was late; the implementation reports it like a failure. */
  late(prompt: Prompt): void;
}

/**
 * The audio of a prompt: complete, in pieces that are still being synthesized (a failure, reported by the
 * implementation, is thrown after the pieces so far), or none.
 */
export type Sound = PromptAudio | AsyncIterable<PromptAudio> | undefined;

/** Turns an utterance into text. */
export interface Recognizer {
  /**
   * @returns the text, or undefined when nothing was understood.
   * @throws AppError `recognition_failed`.
   */
  recognize(utterance: Utterance, signal: AbortSignal, expected?: Expected): Promise<string | undefined>;
  /** Hears the utterances of one call while they are spoken; undefined in engines that take whole ones. The caller closes it. */
  open?(onWords: (words: HeardWords) => void): RecognitionStream;
}

/** Hears one utterance after the other. No method throws. */
export interface RecognitionStream {
  /** An utterance begins; drops the one before. */
  begin(expected: Expected): void;
  /** Takes what is spoken, G.711 µ-law, 8 kHz; copies it. */
  push(mulaw: Uint8Array): void;
  /** The caller pauses and may be done: the words up to here are wanted soon. */
  pause(): void;
  /** The caller goes on after a pause. */
  resume(): void;
  /**
   * The utterance is over. Resolves with its text, undefined for none.
   *
   * @throws AppError `recognition_failed` when the text is not whole or does not come in time.
   */
  text(signal: AbortSignal): Promise<string | undefined>;
  /** Nobody wants the utterance. */
  drop(): void;
  /** Whether the text of this utterance cannot become whole. */
  readonly isLost: boolean;
  close(): void;
}

/** What was understood of an utterance that goes on. */
export interface HeardWords {
  readonly text: string;
  /** The beginning of `text` that no later words will change. */
  readonly stable: string;
  /** Whether these are all words up to the pause that the caller makes now. */
  readonly isWhole: boolean;
}

/** What a recognizer should expect of an utterance. */
export interface Expected {
  /** The caller's language, BCP 47; undefined when it is unknown. */
  readonly language?: string | undefined;
  /** Words that are likely to be said. */
  readonly hints?: readonly string[] | undefined;
}

/**
 * Observes the engine. All members are optional; what an observer throws is logged and ignored. No member is called
 * per audio frame, and only `wordsUnderstood` gets caller data.
 */
export interface SessionObserver {
  /** A new call was refused; the caller heard a prompt and was transferred. */
  callRefused?(call: CallKey, reason: AdmissionRefusal): void;
  /** @param isContinued - whether the call began in another process. */
  sessionStarted?(call: CallFacts, isContinued?: boolean): void;
  /** @param end - `moved`: the call goes on in another process. */
  sessionEnded?(call: CallFacts, end: SessionEnd | 'moved'): void;
  turnStarted?(call: CallFacts, turnId: string, trackingId?: string, transport?: 'grpc' | 'websocket'): void;
  /**
   * The first prompt audio of a turn was sent, `latencyMs` after the caller's input was complete.
   *
   * @param synthesisMs - what was waited for sounds until then: from the request of the prompt; 0 when it was cached.
   */
  replyStarted?(call: CallFacts, turnId: string, latencyMs: number, synthesisMs: number): void;
  /** The time to the first sound of the reply by its parts; just before `turnEnded`. Reported by an observer: see telemetry/answer-parts. */
  answerTimed?(call: CallFacts, turnId: string, parts: AnswerParts): void;
  turnEnded?(call: CallFacts, turnId: string, end: TurnEnd): void;
  speechStarted?(call: CallFacts, turnId: string): void;
  /** The caller stopped speaking. @param silenceMs - how long the caller was silent until that was decided; 0 where the bot decides it. */
  speechEnded?(call: CallFacts, turnId: string, silenceMs: number): void;
  /** The recognizer has answered or failed. @param waitedMs - what was waited for it after the end of speech. */
  recognized?(call: CallFacts, turnId: string, outcome: Exclude<SpeechInput['understood'], 'not_asked'>, waitedMs: number): void;
  /** What the caller said, unless it is sensitive (G-83). */
  wordsUnderstood?(call: CallFacts, turnId: string, words: string): void;
  /** The bot was asked; `botAnswered` always follows. */
  botAsked?(call: CallFacts, turnId: string, event: ReplyingEvent['type']): void;
  botAnswered?(call: CallFacts, turnId: string, tookMs: number): void;
  /** What a language model of the bot did in a turn: from the bot's own code, which may be of another copy of this package. */
  modelReported?(call: CallFacts, turnId: string, report: TurnReport): void;
  bargeIn?(call: CallFacts, turnId: string, by: BargeIn['by'], heardMs: number): void;
  /** After a false interruption the prompts resumed. */
  promptResumed?(call: CallFacts, turnId: string): void;
  /** The filler was played. */
  fillerSpoken?(call: CallFacts, turnId: string): void;
  /** A client did not read its prompts in time. */
  slowReader?(call: CallFacts, turnId: string): void;
  /** A turn that another home had answered came again, and its reply is repeated. */
  replyRepeated?(call: CallFacts, turnId: string): void;
  /** A bot threw, was too slow or returned an invalid reply; the caller heard the apology or was transferred. */
  botFailed?(call: CallFacts, turnId: string, error: AppError): void;
}

/** Records calls, or a share of them. */
export interface Recorder {
  /** A session begins, here or at another home. Never throws. @returns undefined when it is not recorded. */
  begin(call: RecordedCall): CallRecorder | undefined;
}

/** What a recorder may know of a call, beside what happens. */
export interface RecordedCall {
  readonly call: CallFacts;
  readonly bot: Pick<Bot, 'id' | 'version'>;
  readonly mode: DeliveryMode;
  readonly isTied: boolean;
  /** Whether what the caller does now may be, or belong to, a sensitive input (G-83). */
  readonly isInputSensitive: boolean;
  /** Whether a sensitive input was requested, now or earlier: from then on prompts and state may repeat it. */
  readonly isSensitive: boolean;
}

/** A turn as recorders know it. */
export interface RecordedTurn {
  readonly id: string;
  /** See {@link TurnName.number}. */
  readonly number: number;
  readonly trackingId?: string | undefined;
}

/** What was recognized of an utterance; `tookMs` since it was complete. */
export interface Recognized {
  readonly text: string | undefined;
  readonly tookMs: number;
  /** Code of the failure. */
  readonly failure?: string | undefined;
}

/** The answer of a model or a tool; `key` names the question without its content. */
export interface ServiceAnswer {
  readonly service: 'model' | 'tool';
  readonly key: string;
  readonly tookMs: number;
  readonly answer: JsonValue;
}

/**
 * Records one call. All members are synchronous and return soon, because they stand on the way of every frame and every prompt; none
 * throws. It keeps nothing that is sensitive: see {@link RecordedCall}.
 */
export interface CallRecorder {
  turnOpened(turn: RecordedTurn): void;
  /** Audio is copied. */
  input(turn: RecordedTurn, input: Input): void;
  halfClosed(turn: RecordedTurn): void;
  aborted(turn: RecordedTurn, reason: string): void;
  /** Words of an utterance that goes on. */
  heard(turn: RecordedTurn, words: HeardWords): void;
  /** @param isSensitive - this utterance was requested as sensitive, or may be the rest of such a one. */
  recognized(turn: Pick<RecordedTurn, 'id'>, recognized: Recognized, isSensitive: boolean): void;
  output(turn: RecordedTurn, output: Output): void;
  /** The bot is asked about the input of a turn, after what waits already. @param done - resolves when nothing more comes of it; never rejects. */
  asked?(turn: RecordedTurn, done: Promise<void>): void;
  /** The bot has spoken and did not come to say how it listens: the caller may answer a sensitive question that nobody knows of. */
  questionLost?(turn: RecordedTurn): void;
  /**
   * The bot has answered, and `state` is what it keeps. The answer already counts in {@link RecordedCall}.
   *
   * @param isSensitive - whether the input was.
   */
  answered(turn: RecordedTurn, state: JsonValue, isSensitive: boolean): void;
  serviceAnswered(turn: Pick<RecordedTurn, 'id'>, answer: ServiceAnswer): void;
  turnClosed(turn: RecordedTurn, end: TurnEnd): void;
  /** @param end - `moved`: the call goes on in another process. */
  ended(end: SessionEnd | 'moved'): void;
}
