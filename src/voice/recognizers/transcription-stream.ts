// The utterances of one call, heard while they are spoken. Each pause commits the audio so far, so that its words are there when the
// pause turns out to be the end; the text of an utterance consists of the texts of its pieces.
import { waitAtMost } from '../../base/abort.ts';
import type { CircuitBreaker, CircuitPass } from '../../base/circuit-breaker.ts';
import { AppError } from '../../base/errors.ts';
import type { Clock } from '../../base/clock.ts';
import type { RequestOutcome } from '../../base/http-exchange.ts';
import type { HttpServiceObserver } from '../../base/http-service.ts';
import { ServiceSocket } from '../../base/service-socket.ts';
import { primarySubtag } from '../../dialog/languages.ts';
import type { Expected, HeardWords, RecognitionStream } from '../../session/ports.ts';
import { MULAW_BYTES_PER_MS } from '../../speech/audio-format.ts';
import { SpokenPieces, type Piece } from './spoken-pieces.ts';
import { transcriptionEvent, type TranscriptionEvent, type TranscriptionRequest } from './transcription-events.ts';

/** The service that hears utterances while they are spoken. */
export interface StreamService {
  /** Address of the service: `wss://…/v1/realtime?intent=transcription`. */
  readonly url: string;
  readonly key: string | undefined;
  readonly model: string;
  /** The language of callers whose language nobody names, as the service spells it (`en`); undefined: the service detects it. */
  readonly language: string | undefined;
  /** Likely words, sent to the service; undefined: none. */
  readonly prompt: string | undefined;
}

export interface TranscriptionStreamOptions extends StreamService {
  readonly clock: Clock;
  readonly observer: HttpServiceObserver;
  /** Shared by all calls: stops using a failing service for a while. */
  readonly breaker: CircuitBreaker;
  readonly onWords: (words: HeardWords) => void;
  readonly onClosed: () => void;
}

/** Size of one message with caller audio, bytes. */
const MESSAGE_BYTES = 100 * MULAW_BYTES_PER_MS;
/** Most messages that wait for the socket to open, which takes three seconds at most. */
const MAX_WAITING = 100;
/** Longest wait for the rest of the text after the end of an utterance, ms; then the engine for whole utterances needs its time, too. */
const REST_LIMIT_MS = 1500;

export class TranscriptionStream implements RecognitionStream {
  readonly #options: TranscriptionStreamOptions;
  readonly #message = Buffer.alloc(MESSAGE_BYTES);
  #filled = 0;
  #socket: ServiceSocket<TranscriptionRequest, TranscriptionEvent> | undefined;
  /** Events that wait for the socket to open; undefined once it is open. */
  #waiting: TranscriptionRequest[] | undefined;
  /** The settings that were last sent to the service, as JSON. */
  #settings = '';
  #utterance = new SpokenPieces();
  #pass: CircuitPass | undefined;
  /** Committed pieces that the service has not confirmed yet. */
  #committed: Piece[] = [];
  /** Confirmed pieces by their item id at the service. */
  readonly #taken = new Map<string, Piece>();

  constructor(options: TranscriptionStreamOptions) {
    this.#options = options;
  }

  begin(expected: Expected): void {
    this.#utterance = new SpokenPieces();
    this.#filled = 0;
    this.#pass?.abandoned();
    this.#pass = this.#options.breaker.enter();
    if (this.#pass === undefined) {
      this.#fail('circuit_open');
      return;
    }
    if (this.#socket === undefined) this.#connect();
    const session = this.#session(expected);
    const settings = JSON.stringify(session);
    if (settings !== this.#settings) this.#send({ type: 'session.update', session });
    this.#settings = settings;
    this.#send({ type: 'input_audio_buffer.clear' });
  }

  push(mulaw: Uint8Array): void {
    if (this.#utterance.failure !== undefined) return;
    for (let from = 0; from < mulaw.length;) {
      const taken = mulaw.subarray(from, from + MESSAGE_BYTES - this.#filled);
      this.#message.set(taken, this.#filled);
      this.#filled += taken.length;
      from += taken.length;
      if (this.#filled === MESSAGE_BYTES) this.#flush();
    }
  }

  pause(): void {
    const piece = this.#utterance.failure === undefined ? this.#utterance.cut() : undefined;
    if (piece === undefined) return;
    this.#flush();
    this.#send({ type: 'input_audio_buffer.commit' });
    this.#committed.push(piece);
  }

  resume(): void {
    this.#utterance.goOn();
    // The socket broke during the pause, when nothing was missing yet.
    if (this.#socket === undefined) this.#utterance.fail('unreachable');
  }

  drop(): void {
    // Otherwise the half-open circuit would wait for this caller.
    this.#pass?.abandoned();
  }

  get isLost(): boolean {
    return this.#utterance.failure !== undefined;
  }

  async text(signal: AbortSignal): Promise<string | undefined> {
    const { clock, observer } = this.#options;
    const askedAtMs = clock.monotonicMs();
    this.pause();
    const utterance = this.#utterance;
    utterance.end();
    const waited = await waitAtMost(utterance.done, REST_LIMIT_MS, clock, signal);
    if (waited.kind === 'timeout') this.#fail('timeout');
    const outcome = signal.aborted ? 'cancelled' : (utterance.failure ?? 'ok');
    observer.requestEnded?.(outcome, clock.monotonicMs() - askedAtMs);
    if (outcome === 'cancelled') {
      if (utterance === this.#utterance) this.drop();
      return undefined;
    }
    if (outcome !== 'ok') throw new AppError('recognition_failed', `the stream gave no words: ${outcome}`, { details: { outcome } });
    if (utterance === this.#utterance) this.#pass?.succeeded();
    const { text } = utterance.words;
    return text === '' ? undefined : text;
  }

  close(): void {
    this.#fail('cancelled');
    this.#options.onClosed();
  }

  #connect(): void {
    this.#waiting = [];
    this.#settings = '';
    const { url, key } = this.#options;
    const socket = new ServiceSocket<TranscriptionRequest, TranscriptionEvent>(
      { url, key },
      {
        read: transcriptionEvent,
        onOpen: () => {
          const waiting = this.#waiting ?? [];
          this.#waiting = undefined;
          for (const event of waiting) socket.send(event);
        },
        onEvent: (event) => {
          this.#on(event);
        },
        onClosed: () => {
          if (this.#socket === socket) this.#fail('unreachable');
        },
      },
    );
    this.#socket = socket;
  }

  #session({ language: tag, hints = [] }: Expected): object {
    const { model, language: own, prompt: always } = this.#options;
    // Such services know languages without regions.
    const language = tag === undefined ? own : primarySubtag(tag);
    const prompt = [...hints, ...(always === undefined ? [] : [always])].join(', ');
    const transcription = { model, ...(language !== undefined && { language }), ...(prompt !== '' && { prompt }) };
    return { type: 'transcription', audio: { input: { format: { type: 'audio/pcmu' }, turn_detection: null, transcription } } };
  }

  #flush(): void {
    if (this.#filled === 0) return;
    this.#send({ type: 'input_audio_buffer.append', audio: this.#message.toString('base64', 0, this.#filled) });
    this.#filled = 0;
  }

  #on(event: TranscriptionEvent): void {
    switch (event.type) {
      case 'input_audio_buffer.committed': {
        const piece = this.#committed.shift();
        if (piece !== undefined) this.#taken.set(event.item_id, piece);
        return;
      }
      case 'conversation.item.input_audio_transcription.delta': {
        // Some services send words while the caller speaks, under the item id that the piece will have.
        const piece = this.#taken.get(event.item_id) ?? this.#utterance.open;
        if (piece === undefined) return;
        this.#taken.set(event.item_id, piece);
        this.#understood(piece, piece.text + event.delta, false);
        return;
      }
      case 'conversation.item.input_audio_transcription.completed': {
        const piece = this.#taken.get(event.item_id);
        this.#taken.delete(event.item_id);
        if (piece !== undefined) this.#understood(piece, event.transcript, true);
        return;
      }
      case 'conversation.item.input_audio_transcription.failed':
        if (this.#taken.has(event.item_id)) this.#fail('server_error');
        return;
      case 'error':
        // The service sends no words for audio that it has rejected.
        if (this.#committed.length > 0) this.#fail('bad_answer');
    }
  }

  #understood(piece: Piece, text: string, isDone: boolean): void {
    const utterance = piece.of;
    utterance.understood(piece, text, isDone);
    if (utterance === this.#utterance && utterance.failure === undefined) this.#options.onWords(utterance.words);
  }

  /** The engine for whole utterances recognizes what is not understood by now. The next utterance connects anew. */
  #fail(why: RequestOutcome): void {
    for (const utterance of new Set([this.#utterance, ...[...this.#committed, ...this.#taken.values()].map((piece) => piece.of)]))
      if (!utterance.isWhole) utterance.fail(why);
    if (why === 'cancelled') this.#pass?.abandoned();
    else this.#pass?.failed();
    this.#socket?.close();
    this.#socket = undefined;
    this.#waiting = undefined;
    this.#committed = [];
    this.#taken.clear();
  }

  #send(event: TranscriptionRequest): void {
    if (this.#waiting === undefined) this.#socket?.send(event);
    else if (this.#waiting.push(event) > MAX_WAITING) this.#fail('unreachable');
  }
}
