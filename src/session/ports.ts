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
   * Set for a forwarded turn: its id in the process that has the stream. If this home dies, the turn comes again under
   * this id.
   */
  readonly forwardedId?: string | undefined;
  /** Sends one output. @returns false when the next one should wait for `onceDrained`. */
  write(output: Output): boolean;
  /** Calls `listener` once when the wire can take more. At most one listener waits at a time. */
  onceDrained(listener: () => void): void;
  /** Ends the turn successfully (G-13). */
  complete(): void;
  /** Ends the turn with an error; only for failures in which nothing can be spoken. */
  fail(error: AppError): void;
  /** Gives a forwarded stream without input back, because the call moves. @returns false for a direct stream. */
  giveBack?(): boolean;
  /**
   * Resolves soon after the end of the turn: with true when the outputs have left the process, with false when they
   * were lost together with the forwarding process. Never rejects. Undefined: delivery is immediate.
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
   * Saves the newest snapshot of a call in the background; replaces one that still waits. Never throws. Retries while the
   * directory is unavailable.
   */
  save(call: CallKey, snapshot: Snapshot): void;
  /** Resolves when the store has the last saved snapshot of a call, or has not answered in time. Never rejects. */
  saved(call: CallKey): Promise<void>;
  /** Releases a call to other homes; without `snapshot` the last saved one stays valid. Never rejects; bounded in time. */
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
  /** A sound, or a piece of one, was late; the implementation reports this like a failure. */
  late(prompt: Prompt): void;
}

/**
 * The audio of a prompt: complete, or in pieces that are still being synthesized, or none. When the synthesis fails, the
 * implementation reports the failure and throws it after the pieces so far.
 */
export type Sound = PromptAudio | AsyncIterable<PromptAudio> | undefined;

/** Turns an utterance into text. */
export interface Recognizer {
  /**
   * @returns the text, or undefined when nothing was understood.
   * @throws AppError `recognition_failed`.
   */
  recognize(utterance: Utterance, signal: AbortSignal, expected?: Expected): Promise<string | undefined>;
  /** Set for an engine that hears utterances while they are spoken. One stream per call; the calling code closes it. */
  open?(onWords: (words: HeardWords) => void): RecognitionStream;
}

/** Hears one utterance after the other. No method throws. */
export interface RecognitionStream {
  /** An utterance begins; drops the previous one. */
  begin(expected: Expected): void;
  /** Takes the next audio of the utterance, G.711 µ-law, 8 kHz; copies it. */
  push(mulaw: Uint8Array): void;
  /** The caller pauses and may be done: the words so far are wanted soon. */
  pause(): void;
  /** The caller goes on after a pause. */
  resume(): void;
  /**
   * The utterance is over. Resolves with its text, undefined when it has none.
   *
   * @throws AppError `recognition_failed` when the text is incomplete or does not come in time.
   */
  text(signal: AbortSignal): Promise<string | undefined>;
  /** The utterance is no longer wanted. */
  drop(): void;
  /** Whether the text of this utterance can no longer become complete. */
  readonly isLost: boolean;
  close(): void;
}

/** The words recognized so far in an unfinished utterance. */
export interface HeardWords {
  readonly text: string;
  /** The beginning of `text` that no later words will change. */
  readonly stable: string;
  /** Whether `text` has all words up to the current pause. */
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
 * Observes the engine. All members are optional; an error that an observer throws is logged and ignored. No member is called
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
   * @param synthesisMs - time waited for sounds until then, from the request of the prompt; 0 when the sound was cached.
   */
  replyStarted?(call: CallFacts, turnId: string, latencyMs: number, synthesisMs: number): void;
  /** The parts of the time to the first sound of the reply; just before `turnEnded`. Comes from an observer, telemetry/answer-parts. */
  answerTimed?(call: CallFacts, turnId: string, parts: AnswerParts): void;
  turnEnded?(call: CallFacts, turnId: string, end: TurnEnd): void;
  speechStarted?(call: CallFacts, turnId: string): void;
  /** The caller stopped speaking. @param silenceMs - silence before this was decided; 0 when the bot decides it. */
  speechEnded?(call: CallFacts, turnId: string, silenceMs: number): void;
  /** The recognizer has answered or failed. @param waitedMs - time waited for the recognizer after the end of speech. */
  recognized?(call: CallFacts, turnId: string, outcome: Exclude<SpeechInput['understood'], 'not_asked'>, waitedMs: number): void;
  /** What the caller said, unless it is sensitive (G-83). */
  wordsUnderstood?(call: CallFacts, turnId: string, words: string): void;
  /** The bot was asked; `botAnswered` always follows. */
  botAsked?(call: CallFacts, turnId: string, event: ReplyingEvent['type']): void;
  botAnswered?(call: CallFacts, turnId: string, tookMs: number): void;
  /** A report of a language model's work in a turn. Comes from the bot's own code, which may be of another copy of this package. */
  modelReported?(call: CallFacts, turnId: string, report: TurnReport): void;
  bargeIn?(call: CallFacts, turnId: string, by: BargeIn['by'], heardMs: number): void;
  /** The prompts resumed after a false interruption. */
  promptResumed?(call: CallFacts, turnId: string): void;
  /** A filler was played. */
  fillerSpoken?(call: CallFacts, turnId: string): void;
  /** A client did not read its prompts in time. */
  slowReader?(call: CallFacts, turnId: string): void;
  /** A turn came again that another home had answered, and its reply is repeated. */
  replyRepeated?(call: CallFacts, turnId: string): void;
  /** A bot threw, was too slow or returned an invalid reply; the caller heard the apology or was transferred. */
  botFailed?(call: CallFacts, turnId: string, error: AppError): void;
}

/** Records calls, or a share of them. */
export interface Recorder {
  /** A session begins, new or after a move. Never throws. @returns undefined when the call is not recorded. */
  begin(call: RecordedCall): CallRecorder | undefined;
}

/** The facts of a call that its recorder may read at any time. */
export interface RecordedCall {
  readonly call: CallFacts;
  readonly bot: Pick<Bot, 'id' | 'version'>;
  readonly mode: DeliveryMode;
  readonly isTied: boolean;
  /** Whether the caller's current input may be sensitive, or the rest of a sensitive one (G-83). */
  readonly isInputSensitive: boolean;
  /** Whether a sensitive input has been requested in this call: from then on prompts and state may repeat it. */
  readonly isSensitive: boolean;
}

/** A turn as recorders know it. */
export interface RecordedTurn {
  readonly id: string;
  /** See {@link TurnName.number}. */
  readonly number: number;
  readonly trackingId?: string | undefined;
}

/** The final words of an utterance; `tookMs`: time since the utterance was complete. */
export interface Recognized {
  readonly text: string | undefined;
  readonly tookMs: number;
  /** Set when the recognition failed: the error code. */
  readonly failure?: string | undefined;
}

/** The answer of a model or a tool; `key` identifies the question without its content. */
export interface ServiceAnswer {
  readonly service: 'model' | 'tool';
  readonly key: string;
  readonly tookMs: number;
  readonly answer: JsonValue;
}

/**
 * Records one call. All members are synchronous and fast, because every frame and every prompt passes through them; none
 * throws. Keeps nothing sensitive: see {@link RecordedCall}.
 */
export interface CallRecorder {
  turnOpened(turn: RecordedTurn): void;
  /** Copies audio. */
  input(turn: RecordedTurn, input: Input): void;
  halfClosed(turn: RecordedTurn): void;
  aborted(turn: RecordedTurn, reason: string): void;
  /** The words recognized so far in an unfinished utterance. */
  heard(turn: RecordedTurn, words: HeardWords): void;
  /** @param isSensitive - whether the utterance was requested as sensitive, or may be the rest of a sensitive one. */
  recognized(turn: Pick<RecordedTurn, 'id'>, recognized: Recognized, isSensitive: boolean): void;
  output(turn: RecordedTurn, output: Output): void;
  /** The bot will be asked about the input of a turn, after earlier work. @param done - resolves when this work is done; never rejects. */
  asked?(turn: RecordedTurn, done: Promise<void>): void;
  /** The bot spoke but could not say how it listens: the caller may be answering a sensitive question that the engine does not know of. */
  questionLost?(turn: RecordedTurn): void;
  /**
   * The bot has answered; `state` is its new state. {@link RecordedCall} already includes the answer.
   *
   * @param isSensitive - whether the input was sensitive.
   */
  answered(turn: RecordedTurn, state: JsonValue, isSensitive: boolean): void;
  serviceAnswered(turn: Pick<RecordedTurn, 'id'>, answer: ServiceAnswer): void;
  turnClosed(turn: RecordedTurn, end: TurnEnd): void;
  /** @param end - `moved`: the call goes on in another process. */
  ended(end: SessionEnd | 'moved'): void;
}
