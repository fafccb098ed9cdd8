// Records one call: turns what the engine reports into events and sounds, withholds what is sensitive, and hands full blocks to the queue.
// Content of the caller that comes while the bot decides is held back, because the bot may be asking for something sensitive right now.
import type { Clock } from '../base/clock.ts';
import type { JsonValue } from '../base/json.ts';
import { turnOpening, type AudioInput, type Input } from '../dialog/input.ts';
import type { Output, PromptAudio, SpokenPrompt } from '../dialog/output.ts';
import type { CallRecorder, HeardWords, RecordedCall, RecordedTurn, Recognized, ServiceAnswer } from '../session/ports.ts';
import { EventBlock } from './event-block.ts';
import type { RecordedEvent, RecordedPrompt, RecordingHeader, SoundRange } from './recording.ts';
import { allowedInput, WITHHELD, withheldEvent, withheldInput, withheldNext } from './redaction.ts';
import { FileSealer, PIECE } from './sealed-file.ts';
import type { WriteQueue, WrittenFile } from './write-queue.ts';

/** Most blocks held back while the bot decides; what comes then is withheld. */
const MAX_HELD_BLOCKS = 16;

/** An event without its time. */
type Timeless<E> = E extends RecordedEvent ? Omit<E, 'atMs'> : never;

export interface CallRecordingOptions {
  readonly header: RecordingHeader;
  readonly recorded: RecordedCall;
  /** Names of parameters that are kept. */
  readonly parameters: ReadonlySet<string>;
  readonly maxBytes: number;
  readonly key: Buffer;
  readonly path: string;
  readonly queue: WriteQueue;
  readonly clock: Clock;
  /** Memory for a block, and where it goes back to. */
  readonly blocks: { take(): Buffer; giveBack(bytes: Buffer): void };
  /** Called once; @param isWhole - up to the end of the call. */
  readonly onClosed: (recording: CallRecording, isWhole: boolean, bytes: number) => void;
  /** Called with what a member has thrown; the recording ends there. */
  readonly onFailed: (thrown: unknown) => void;
}

/** Owned by the recorder. */
export class CallRecording implements CallRecorder {
  readonly #options: CallRecordingOptions;
  readonly #startedAtMs: number;
  readonly #file: WrittenFile;
  readonly #sealer: FileSealer;
  readonly #sounds = new WeakMap<PromptAudio, SoundRange>();
  /** Turns whose input is complete and not answered yet. */
  readonly #undecided = new Set<number>();
  readonly #open = new Set<number>();
  /** Full blocks that are held back. */
  #held: EventBlock[] = [];
  /** From here on the first held block, else the current one, is held back. */
  #heldFrom = 0;
  #block: EventBlock;
  /** Its first input says what it opens with. */
  #opening: { readonly turn: RecordedTurn; readonly atMs: number } | undefined;
  #bytes = 0;
  #soundBytes = 0;
  #turns = 0;
  #end: string | undefined;
  #isFull = false;
  #isClosed = false;

  constructor(options: CallRecordingOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock.monotonicMs();
    this.#file = { path: options.path, isLost: false, isBegun: false };
    this.#sealer = new FileSealer(options.key);
    this.#block = new EventBlock(options.blocks.take());
    const header = Buffer.from(JSON.stringify(options.header));
    this.#write(header.length, () => [this.#sealer.head, ...this.#sealer.piece(PIECE.header, header)]);
  }

  turnOpened(turn: RecordedTurn): void {
    this.#safely(() => {
      this.#turns += 1;
      this.#open.add(turn.number);
      this.#opening = { turn, atMs: this.#nowMs };
    });
  }

  input(turn: RecordedTurn, input: Input): void {
    if (this.#opening !== undefined)
      this.#safely(() => {
        this.#opened(turn, input);
      });
    if (input.kind === 'audio') this.#audio(turn, input);
    else
      this.#safely(() => {
        this.#inputCame(turn, input);
      });
  }

  halfClosed(turn: RecordedTurn): void {
    this.#event(turn, { kind: 'half_closed', turn: turn.id });
  }

  aborted(turn: RecordedTurn, reason: string): void {
    this.#event(turn, { kind: 'aborted', turn: turn.id, reason });
  }

  heard(turn: RecordedTurn, { text, stable, isWhole }: HeardWords): void {
    if (!this.#options.recorded.isInputSensitive()) this.#event(turn, { kind: 'interim', turn: turn.id, text, stable, isWhole });
  }

  recognized(turn: Pick<RecordedTurn, 'id'>, { text, tookMs, failure }: Recognized, isSensitive: boolean): void {
    const words = text === undefined ? {} : { text: isSensitive ? WITHHELD : text };
    this.#event(turn, { kind: 'words', turn: turn.id, ...words, tookMs, ...(failure !== undefined && { failure }) });
  }

  output(turn: RecordedTurn, output: Output): void {
    this.#safely(() => {
      if (output.kind === 'input_ended') this.#wait(turn);
      this.#put(turn, { kind: 'output', turn: turn.id, output: this.#outputOf(output) });
    });
  }

  answered(turn: RecordedTurn, state: JsonValue, isSensitive: boolean): void {
    this.#safely(() => {
      this.#decided(turn, isSensitive ? undefined : turn.id);
      this.#put(turn, { kind: 'state', turn: turn.id, state: this.#secret ? WITHHELD : state });
    });
  }

  serviceAnswered(turn: Pick<RecordedTurn, 'id'>, { answer, ...question }: ServiceAnswer): void {
    this.#event(turn, { kind: 'service', turn: turn.id, ...question, answer: this.#secret ? WITHHELD : answer });
  }

  turnClosed(turn: RecordedTurn, end: string): void {
    this.#safely(() => {
      this.#decided(turn);
      this.#put(turn, { kind: 'turn_closed', turn: turn.id, end });
      this.#open.delete(turn.number);
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

  /** A fact of the engine for people. */
  fact(event: string, turn: string | undefined, details: Readonly<Record<string, string | number | undefined>>): void {
    const known = Object.entries(details).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
    this.#event(undefined, { kind: 'fact', event, ...(turn !== undefined && { turn }), details: Object.fromEntries(known) });
  }

  /** Writes what there is and takes nothing more. @param end - how the call ended; undefined: it goes on without its recording. */
  close(end: string | undefined = this.#end): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#undecided.size > 0) this.#release(true);
    this.#hand(this.#block);
    if (end !== undefined) {
      const { clock } = this.#options;
      const summary = { end, durationMs: Math.round(clock.monotonicMs() - this.#startedAtMs), turns: this.#turns };
      this.#write(0, () => this.#sealer.summary(summary));
    }
    this.#options.onClosed(this, end !== undefined && !this.#file.isLost && !this.#isFull, this.#bytes);
  }

  get #nowMs(): number {
    return this.#options.clock.monotonicMs() - this.#startedAtMs;
  }

  /** Whether the bot or its prompts may repeat something sensitive. */
  get #secret(): boolean {
    return this.#options.recorded.isSensitive();
  }

  /** The way of every frame. */
  #audio(turn: RecordedTurn, input: AudioInput): void {
    if (this.#isClosed) return;
    try {
      const atMs = this.#nowMs;
      const isWithheld = this.#options.recorded.isInputSensitive() || this.#held.length >= MAX_HELD_BLOCKS;
      if (!this.#block.audio(atMs, turn.number, input, isWithheld)) this.#nextBlock().audio(atMs, turn.number, input, isWithheld);
    } catch (thrown) {
      this.#failed(thrown);
    }
  }

  #inputCame(turn: RecordedTurn, input: Exclude<Input, AudioInput>): void {
    const isComplete = input.kind !== 'dtmf_start' && input.kind !== 'session_end';
    if (isComplete) this.#wait(turn);
    const allowed = allowedInput(input, this.#options.parameters);
    const isWithheld = this.#held.length >= MAX_HELD_BLOCKS;
    this.#put(turn, { kind: 'input', turn: turn.id, input: isWithheld ? withheldInput(allowed) : allowed });
  }

  /** From now on the bot decides: holds back what comes, this input included. */
  #wait({ number }: RecordedTurn): void {
    if (this.#undecided.size === 0) this.#heldFrom = this.#block.used;
    this.#undecided.add(number);
  }

  /** @param harmless - the turn whose input the engine knows to be not sensitive. */
  #decided({ number }: RecordedTurn, harmless?: string): void {
    if (!this.#undecided.delete(number)) return;
    const isSensitive = this.#options.recorded.isInputSensitive();
    if (this.#undecided.size === 0 || isSensitive) this.#release(isSensitive, harmless);
  }

  /** Hands on what was held back. */
  #release(isSensitive: boolean, harmless?: string): void {
    const withheld = (event: RecordedEvent): RecordedEvent | undefined =>
      'turn' in event && event.turn === harmless ? event : withheldEvent(event);
    const blocks = [...this.#held, this.#block];
    if (isSensitive) for (const [index, block] of blocks.entries()) block.withhold(index === 0 ? this.#heldFrom : 0, withheld);
    for (const block of this.#held) this.#hand(block);
    this.#held = [];
    this.#heldFrom = this.#block.used;
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
    const json = JSON.stringify({ atMs, ...event });
    const number = turn !== undefined && 'number' in turn ? turn.number : 0;
    if (!this.#block.json(atMs, number, json)) this.#nextBlock().json(atMs, number, json);
  }

  #nextBlock(): EventBlock {
    const full = this.#block;
    const next = new EventBlock(this.#options.blocks.take());
    this.#block = next;
    if (this.#undecided.size > 0) this.#held.push(full);
    else this.#hand(full);
    return next;
  }

  #hand(block: EventBlock): void {
    const { blocks } = this.#options;
    this.#write(
      block.used,
      () => this.#sealer.piece(PIECE.events, block.written),
      () => {
        blocks.giveBack(block.memory);
      },
    );
  }

  #outputOf(output: Output): Extract<RecordedEvent, { kind: 'output' }>['output'] {
    switch (output.kind) {
      case 'input_started':
      case 'input_ended':
        return { kind: output.kind };
      case 'prompt':
        return { kind: 'prompt', prompt: this.#promptOf(output.prompt) };
      case 'final': {
        const { prompts, next, isApology } = output;
        const kept = this.#secret ? withheldNext(next) : next;
        return { kind: 'final', prompts: prompts.map((prompt) => this.#promptOf(prompt)), next: kept, ...(isApology && { isApology }) };
      }
    }
  }

  #promptOf({ audio, text, bargeIn, isFiller, goesOn }: SpokenPrompt): RecordedPrompt {
    const marks = { durationMs: audio?.durationMs ?? 0, bargeIn, ...(isFiller && { isFiller }), ...(goesOn && { goesOn }) };
    const isSecret = this.#secret;
    return {
      ...(text !== undefined && { text: isSecret ? WITHHELD : text }),
      ...(audio !== undefined && { sound: isSecret ? WITHHELD : this.#soundOf(audio) }),
      ...marks,
    };
  }

  /** Each sound is stored once. */
  #soundOf(audio: PromptAudio): SoundRange {
    const known = this.#sounds.get(audio);
    if (known !== undefined) return known;
    const { mulaw } = audio;
    const range = { from: this.#soundBytes, bytes: mulaw.length };
    this.#soundBytes += mulaw.length;
    this.#sounds.set(audio, range);
    this.#write(mulaw.length, () => this.#sealer.piece(PIECE.sound, mulaw));
    return range;
  }

  #write(bytes: number, piece: () => readonly Uint8Array[], onDone?: () => void): void {
    const { queue, maxBytes } = this.#options;
    this.#bytes += bytes;
    queue.add(this.#file, bytes, piece, onDone);
    if (this.#isClosed || (this.#bytes <= maxBytes && !this.#file.isLost)) return;
    this.#isFull = true;
    this.#put(undefined, { kind: 'fact', event: 'recording_full', details: {} });
    this.close(undefined);
  }

  #closeIfOver(): void {
    if (this.#end !== undefined && this.#open.size === 0) this.close();
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
    this.#options.onFailed(thrown);
    this.#options.onClosed(this, false, this.#bytes);
  }
}
