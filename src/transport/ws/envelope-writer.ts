// Writes the messages of one socket: numbers and dates each (W-10, W-11), and counts the bytes that the platform has
// not read yet.
import type { Clock } from '../../base/clock.ts';
import type { Output } from '../../dialog/output.ts';
import { Outgoing } from '../outgoing.ts';
import { promptTexts } from '../prompt-texts.ts';
import type { SocketAnswer } from './close-codes.ts';
import type { SocketServerSettings } from './settings.ts';
import { errorEnvelope, pongEnvelope, responseEnvelope, type EnvelopeHead, type ToEnvelope } from './to-envelope.ts';

/** The socket to which messages are written. */
export interface MessageSink {
  /**
   * Sends a text message.
   *
   * @param message - UTF-8.
   * @param onTaken - called when the message was written, or writing it has failed.
   */
  send(message: Buffer, onTaken: () => void): void;
}

export interface EnvelopeWriterParts {
  readonly toEnvelope: ToEnvelope;
  readonly clock: Clock;
  readonly settings: Pick<SocketServerSettings, 'maxQueuedBytes' | 'isRevealingText'>;
}

/** Owned by one socket. */
export class EnvelopeWriter {
  /** Empty until the platform has named the conversation. */
  conversationId = '';
  readonly #sink: MessageSink;
  readonly #parts: EnvelopeWriterParts;
  readonly #outgoing: Outgoing<Buffer>;
  #seq = 0;
  /** Prompt texts since the last FINAL; for tests only. */
  #texts: string[] = [];
  /** Whether the caller has spoken since then without a recognizer; for tests only. */
  #isWithoutWords = false;

  constructor(sink: MessageSink, parts: EnvelopeWriterParts) {
    this.#sink = sink;
    this.#parts = parts;
    const write = (message: Buffer, onTaken: () => void): boolean => {
      sink.send(message, onTaken);
      return true;
    };
    this.#outgoing = new Outgoing({ write }, parts.settings.maxQueuedBytes);
  }

  /** Whether the next output should wait for {@link EnvelopeWriter.onceDrained}. */
  get isFull(): boolean {
    return this.#outgoing.isFull;
  }

  /** See {@link Outgoing.onceDrained}. */
  onceDrained(listener: () => void): void {
    this.#outgoing.onceDrained(listener);
  }

  /** Writes an output. @returns false when the queue is full: then only a part of the output is written. */
  write(output: Output): boolean {
    const { toEnvelope, settings } = this.#parts;
    if (settings.isRevealingText) this.#remember(output);
    const payloads = toEnvelope.payloads(output);
    return payloads.every((payload, index) => {
      const isLast = output.kind === 'final' && index === payloads.length - 1;
      const texts = isLast ? this.#takeTexts() : [];
      const isApology = isLast && settings.isRevealingText && output.isApology === true;
      const isWithoutWords = isLast && this.#isWithoutWords;
      if (isLast) this.#isWithoutWords = false;
      return this.#outgoing.send(responseEnvelope(this.#nextHead(), payload, { texts, isApology, isWithoutWords }));
    });
  }

  /**
   * Answers a PING with the PING's own number and conversation; our own count does not change (W-40, W-41). @returns as
   * {@link EnvelopeWriter.write}.
   */
  pong({ seq, conversation_id: conversationId }: { readonly seq: number; readonly conversation_id: string }): boolean {
    return this.#outgoing.send(pongEnvelope({ seq, conversationId, nowMs: this.#parts.clock.nowMs() }));
  }

  /** Writes the last message, even when the queue is full (W-46). */
  error({ code, status }: SocketAnswer, detail: string): void {
    this.#sink.send(errorEnvelope(this.#nextHead(), { code, status, detail }), () => undefined);
  }

  #nextHead(): EnvelopeHead {
    this.#seq += 1;
    return { seq: this.#seq, nowMs: this.#parts.clock.nowMs(), conversationId: this.conversationId };
  }

  // A new input drops old texts, because a reply that was cut may end without its FINAL.
  #remember(output: Output): void {
    if (output.kind === 'input_started') this.#texts = [];
    else this.#texts.push(...promptTexts(output));
    if (output.kind === 'input_ended') this.#isWithoutWords = output.isWithoutWords === true;
  }

  #takeTexts(): readonly string[] {
    const texts = this.#texts;
    this.#texts = [];
    return texts.every((text) => text === '') ? [] : texts;
  }
}
