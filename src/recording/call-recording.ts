// Records one call: turns reports of the engine into events and sounds, withholds sensitive content, and queues full blocks for the disk.
// Input that comes while the caller speaks or the bot decides is held back: the bot may be asking for something sensitive.
import type { Clock } from '../base/clock.ts';
import type { JsonValue } from '../base/json.ts';
import { turnOpening, type AudioInput, type Input } from '../dialog/input.ts';
import type { Output, PromptAudio } from '../dialog/output.ts';
import type { CallRecorder, HeardWords, RecordedCall, RecordedTurn, Recognized, ServiceAnswer } from '../session/ports.ts';
import { BLOCK_BYTES, EventBlock } from './event-block.ts';
import { HeldBack } from './held-back.ts';
import type { RecordedEvent, RecordingHeader, SoundRange } from './recording.ts';
import { allowedInput, keptOutput, WITHHELD, withheldInput } from './redaction.ts';
import { PIECE, type PlainPiece } from './sealed-file.ts';
import type { WriteQueue, WrittenFile } from './write-queue.ts';

const NO_PARAMETERS: ReadonlySet<string> = new Set();
/** Stands for the turn of a lost question: the call may have begun in another process. */
const UNKNOWN_TURN = -1;

/** An event without its time. JSON leaves out undefined members. */
type Timeless<E> = E extends { readonly kind: 'fact' } ? Fact : E extends RecordedEvent ? Omit<E, 'atMs'> : never;
interface Fact {
  readonly kind: 'fact';
  readonly event: string;
  readonly turn?: string | undefined;
  readonly details: Readonly<Record<string, string | number | undefined>>;
}

export interface CallRecordingOptions {
  readonly header: RecordingHeader;
  readonly recorded: RecordedCall;
  /** Names of call parameters that are kept. */
  readonly parameters: ReadonlySet<string>;
  readonly maxBytes: number;
  readonly path: string;
  readonly queue: WriteQueue;
  readonly clock: Clock;
  /** Provides memory for a block, and takes it back. */
  readonly blocks: { take(): Buffer; giveBack(bytes: Buffer): void };
  /** Called once. @param isWhole - whether the recording goes up to the end of the call. */
  readonly onClosed: (recording: CallRecording, isWhole: boolean, bytes: number) => void;
  /** Called with an error that a member has thrown; the recording ends there. */
  readonly onFailed: (thrown: unknown) => void;
}

/** One per recorded call, owned by the recorder. */
export class CallRecording implements CallRecorder {
  // The fields that every frame needs stand together, because most of them have left the processor's cache by the next frame.
  readonly #startedAtMs: number;
  readonly #clock: Clock;
  readonly #recorded: RecordedCall;
  #block: EventBlock;
  #isClosed = false;
  /** No further input can be held back. */
  #isHeldFull = false;
  /** Set until the first input of a new turn, which shows what the turn opens with. */
  #opening: { readonly turn: RecordedTurn; readonly atMs: number } | undefined;
  /** The turn whose question is lost, as long as the caller may answer that question: it may have been sensitive. */
  #lost: number | undefined = UNKNOWN_TURN;
  readonly #file: WrittenFile;
  readonly #sounds = new WeakMap<PromptAudio, SoundRange>();
  /** Sounds that wait for the next block, because a write of its own would cost more than the sound. */
  #unwritten: Uint8Array<ArrayBuffer>[] = [];
  readonly #held = new HeldBack();
  readonly #open = new Set<number>();
  /** The question stays lost until the end of this turn. */
  #lostUntil: number | undefined;
  #bytes = 0;
  #soundBytes = 0;
  #turns = 0;
  #end: string | undefined;
  #isFull = false;
  readonly #options: CallRecordingOptions;

  constructor(options: CallRecordingOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#recorded = options.recorded;
    this.#startedAtMs = options.clock.monotonicMs();
    this.#file = { path: options.path, isLost: false, isBegun: false };
    this.#block = new EventBlock(options.blocks.take());
    this.#write({ kind: PIECE.header, bytes: new TextEncoder().encode(JSON.stringify(options.header)) });
  }

  turnOpened(turn: RecordedTurn): void {
    this.#safely(() => {
      this.#turns += 1;
      this.#open.add(turn.number);
      this.#opening = { turn, atMs: this.#nowMs };
    });
  }

  input(turn: RecordedTurn, input: Input): void {
    if (this.#opening !== undefined || input.kind !== 'audio') this.#firstInputs(turn, input);
    if (input.kind === 'audio') this.#audio(turn, input);
  }

  halfClosed(turn: RecordedTurn): void {
    this.#event(turn, { kind: 'half_closed', turn: turn.id });
  }

  aborted(turn: RecordedTurn, reason: string): void {
    this.#event(turn, { kind: 'aborted', turn: turn.id, reason });
  }

  heard(turn: RecordedTurn, { text, stable, isWhole }: HeardWords): void {
    if (!this.#isInputSensitive) this.#event(turn, { kind: 'interim', turn: turn.id, text, stable, isWhole });
  }

  recognized(turn: Pick<RecordedTurn, 'id'>, { text, tookMs, failure }: Recognized, isSensitive: boolean): void {
    const words = text === undefined ? {} : { text: isSensitive || this.#lost !== undefined ? WITHHELD : text };
    this.#event(turn, { kind: 'words', turn: turn.id, ...words, tookMs, ...(failure !== undefined && { failure }) });
  }

  output(turn: RecordedTurn, output: Output): void {
    this.#safely(() => {
      // Another turn may ask for something sensitive while the caller speaks on this one.
      if (output.kind === 'input_started') this.#held.wait(turn.number, this.#block);
      this.#put(turn, { kind: 'output', turn: turn.id, output: keptOutput(output, this.#secret, (audio) => this.#soundOf(audio)) });
      if (output.kind === 'input_ended') this.#held.complete(turn.number, this.#block);
    });
  }

  asked(turn: RecordedTurn, done: Promise<void>): void {
    this.#safely(() => {
      this.#held.asked(turn.number);
    });
    void done.then(() => {
      this.#safely(() => {
        this.#decided(turn, false);
        this.#closeIfOver();
      });
    });
  }

  questionLost(turn: RecordedTurn): void {
    this.#safely(() => {
      const isHarmless = !this.#isInputSensitive;
      this.#lost = turn.number;
      this.#lostUntil = undefined;
      this.#decided(turn, isHarmless);
    });
  }

  answered(turn: RecordedTurn, state: JsonValue, isSensitive: boolean): void {
    this.#safely(() => {
      this.#decided(turn, !isSensitive && this.#lost === undefined);
      this.#put(turn, { kind: 'state', turn: turn.id, state: this.#secret ? WITHHELD : state });
      if (this.#lost !== turn.number) this.#lostUntil ??= turn.number;
      if (!this.#open.has(turn.number)) this.#foundAfter(turn);
    });
  }

  serviceAnswered(turn: Pick<RecordedTurn, 'id'>, { answer, ...question }: ServiceAnswer): void {
    this.#event(turn, { kind: 'service', turn: turn.id, ...question, answer: this.#secret ? WITHHELD : answer });
  }

  turnClosed(turn: RecordedTurn, end: string): void {
    this.#safely(() => {
      if (this.#held.isDecidedByEnd(turn.number)) this.#decided(turn, false);
      this.#put(turn, { kind: 'turn_closed', turn: turn.id, end });
      this.#open.delete(turn.number);
      this.#foundAfter(turn);
      this.#closeIfOver();
    });
  }

  ended(end: string): void {
    this.#safely(() => {
      this.#end = end;
      this.#put(undefined, { kind: 'ended', end });
      this.#closeIfOver();
    });
  }

  /** Records a fact of the engine, for people. */
  fact(event: string, turn: string | undefined, details: Fact['details']): void {
    this.#event(undefined, { kind: 'fact', event, turn, details });
  }

  /** Writes the rest and ends the recording. @param end - how the call ended; undefined: the call goes on without its recording. */
  close(end: string | undefined = this.#end): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const block of this.#held.end(this.#block)) this.#queue(block);
    this.#queue(this.#block);
    this.#options.queue.end(this.#file, end === undefined ? undefined : { end, durationMs: Math.round(this.#nowMs), turns: this.#turns });
    this.#options.onClosed(this, end !== undefined && !this.#file.isLost && !this.#isFull, this.#bytes);
  }

  /** Whether nothing more is recorded. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  get #nowMs(): number {
    return this.#clock.monotonicMs() - this.#startedAtMs;
  }

  /** Whether what the bot says or its state may repeat something sensitive. */
  get #secret(): boolean {
    return this.#lost !== undefined || this.#recorded.isSensitive;
  }

  /** Whether the caller's current input may be sensitive. */
  get #isInputSensitive(): boolean {
    return this.#lost !== undefined || this.#recorded.isInputSensitive;
  }

  /** Runs for every frame. */
  #audio(turn: RecordedTurn, input: AudioInput): void {
    if (this.#isClosed) return;
    try {
      const atMs = this.#nowMs;
      const isWithheld = this.#isInputSensitive || this.#isHeldFull;
      if (!this.#block.audio(atMs, turn.number, input, isWithheld)) this.#nextBlock().audio(atMs, turn.number, input, isWithheld);
    } catch (thrown) {
      this.#failed(thrown);
    }
  }

  /** A function of its own, because the variables of a closure are allocated whenever the function around it is called. */
  #firstInputs(turn: RecordedTurn, input: Input): void {
    this.#safely(() => {
      this.#opened(turn, input);
      if (input.kind !== 'audio') this.#inputCame(turn, input);
    });
  }

  #inputCame(turn: RecordedTurn, input: Exclude<Input, AudioInput>): void {
    // The call begins here, so no earlier question is lost.
    if (input.kind === 'session_start' && this.#lost === UNKNOWN_TURN && this.#held.isIdle) this.#lost = undefined;
    const isOpen = this.#open.has(turn.number);
    const isComplete = input.kind !== 'dtmf_start' && input.kind !== 'session_end';
    if (isComplete && isOpen) this.#held.wait(turn.number, this.#block);
    // Parameters may repeat something sensitive.
    const allowed = allowedInput(input, this.#secret ? NO_PARAMETERS : this.#options.parameters);
    this.#put(turn, { kind: 'input', turn: turn.id, input: this.#isHeldFull || !isOpen ? withheldInput(allowed) : allowed });
    if (isComplete) this.#held.complete(turn.number, this.#block);
  }

  /** The bot has asked anew. Input in the meantime may still answer the lost question, which then stays lost for longer. */
  #foundAfter({ number }: RecordedTurn): void {
    if (this.#lostUntil !== number) return;
    this.#lostUntil = undefined;
    if (this.#held.isIdle) this.#lost = undefined;
  }

  /** @param isHarmless - whether the engine knows that the input of this turn is not sensitive. */
  #decided({ number }: RecordedTurn, isHarmless: boolean): void {
    for (const block of this.#held.decided(number, this.#isInputSensitive, isHarmless, this.#block)) this.#queue(block);
    this.#isHeldFull = this.#held.isFull;
  }

  #opened(first: RecordedTurn, input: Input | undefined): void {
    const { turn, atMs } = this.#opening ?? {};
    this.#opening = undefined;
    if (turn === undefined || atMs === undefined) return;
    const { id, trackingId } = turn;
    const opensWith = turnOpening(turn.number === first.number ? input : undefined);
    this.#put(turn, { kind: 'turn_opened', turn: id, opensWith, ...(trackingId !== undefined && { trackingId }) }, atMs);
  }

  #event(turn: RecordedTurn | Pick<RecordedTurn, 'id'> | undefined, event: Timeless<RecordedEvent>): void {
    this.#safely(() => {
      this.#put(turn, event);
    });
  }

  #put(turn: RecordedTurn | Pick<RecordedTurn, 'id'> | undefined, event: Timeless<RecordedEvent>, atMs = this.#nowMs): void {
    const { kind } = event;
    if (this.#opening !== undefined && kind !== 'fact' && kind !== 'turn_opened') this.#opened(this.#opening.turn, undefined);
    // Earlier versions read the time from this JSON. It is added as text, because copying an event to add its time would be slow.
    const json = `{"atMs":${String(atMs)},${JSON.stringify(event).slice(1)}`;
    const number = turn !== undefined && 'number' in turn ? turn.number : 0;
    if (!this.#block.json(atMs, number, json)) this.#nextBlock().json(atMs, number, json);
  }

  #nextBlock(): EventBlock {
    const full = this.#block;
    const next = new EventBlock(this.#options.blocks.take());
    this.#block = next;
    if (!this.#held.take(full)) this.#queue(full);
    this.#isHeldFull = this.#held.isFull;
    return next;
  }

  #queue(block: EventBlock): void {
    const bytes = new Uint8Array(block.written);
    this.#options.blocks.giveBack(block.memory);
    this.#writeSounds({ kind: PIECE.events, bytes });
  }

  /** The place of a sound in the recording. Each sound is stored once. */
  #soundOf(audio: PromptAudio): SoundRange {
    const known = this.#sounds.get(audio);
    if (known !== undefined) return known;
    const { mulaw } = audio;
    const range = { from: this.#soundBytes, bytes: mulaw.length };
    this.#soundBytes += mulaw.length;
    this.#sounds.set(audio, range);
    this.#unwritten.push(new Uint8Array(mulaw));
    if (bytesOf(this.#unwritten) > BLOCK_BYTES) this.#writeSounds();
    return range;
  }

  /** Writes the waiting sounds, and then pieces. */
  #writeSounds(...pieces: readonly PlainPiece[]): void {
    const sounds = this.#unwritten;
    this.#unwritten = [];
    this.#write(...sounds.map((bytes) => ({ kind: PIECE.sound, bytes })), ...pieces);
  }

  #write(...pieces: readonly PlainPiece[]): void {
    const { queue, maxBytes } = this.#options;
    const bytes = bytesOf(pieces.map((piece) => piece.bytes));
    this.#bytes += bytes;
    queue.add(this.#file, bytes, pieces);
    if (this.#isClosed || (this.#bytes <= maxBytes && !this.#file.isLost)) return;
    this.#isFull = true;
    this.#put(undefined, { kind: 'fact', event: 'recording_full', details: {} });
    this.close(undefined);
  }

  #closeIfOver(): void {
    if (this.#end !== undefined && this.#open.size === 0 && !this.#held.isAsked) this.close();
  }

  /** A defect here must not reach the call. */
  #safely(work: () => void): void {
    if (this.#isClosed) return;
    try {
      work();
    } catch (thrown) {
      this.#failed(thrown);
    }
  }

  #failed(thrown: unknown): void {
    this.#isClosed = true;
    this.#options.queue.end(this.#file);
    this.#options.onFailed(thrown);
    this.#options.onClosed(this, false, this.#bytes);
  }
}

function bytesOf(sounds: readonly Uint8Array[]): number {
  return sounds.reduce((sum, { length }) => sum + length, 0);
}
