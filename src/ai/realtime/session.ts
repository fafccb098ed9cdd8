// The conversation of one call with a speech-to-speech model, in one process: connects, reconnects after a loss, and tracks which entries
// of the history the service has. Knows no turns and no tools.
import { randomUUID } from 'node:crypto';
import { waitAtMost } from '../../base/abort.ts';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { ServiceSocket, type SocketAddress } from '../../base/service-socket.ts';
import type { ModelPatience } from '../model.ts';
import { serviceEvent, type ClientEvent, type ConversationItem, type ServiceEvent } from './events.ts';
import { SpokenResponse, type SpokenPart } from './response.ts';

/** Address and credentials of a speech-to-speech service. */
export interface RealtimeAddress extends Pick<SocketAddress, 'key'> {
  /** `wss://` or `ws://`. The query gets `model`, the model's name, unless the URL already has one. */
  readonly url: string;
  readonly model: string;
}

export interface RealtimeSessionOptions {
  readonly address: RealtimeAddress;
  /** The settings that are sent when a connection opens. */
  readonly settings: object;
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Logger;
}

/** Pauses before the attempts to reconnect, ms. After the last attempt, the caller's next turn connects again. */
const RETRY_MS = [0, 250, 1000] as const;
/** Longest wait until a cancelled response has ended, ms. Services refuse a second response until then. */
const CANCELLED_MS = 1000;
/** Utterances whose audio is kept. The audio is sent again after a lost connection, or in a later turn if the caller went on first. */
const MAX_UTTERANCES = 3;
/** Most transcripts of the caller that are kept. */
const MAX_TRANSCRIPTS = 100;
/** Caller audio in one message, bytes: one second. */
const APPEND_BYTES = 8000;

/** The creator calls `close`. */
export class RealtimeSession {
  readonly #options: RealtimeSessionOptions;
  readonly #prefix = randomUUID().slice(0, 8);
  #connection: ServiceSocket<ClientEvent, ServiceEvent> | undefined;
  #isReady = false;
  #whenReady: (() => void)[] = [];
  #tries = 0;
  #cancelRetry: CancelTimer = () => undefined;
  #isClosed = false;
  #names = 0;
  /** Ids of the entries that the service has on the current connection. */
  #items = new Set<string>();
  /** Outcomes of tool uses that the service has, by tool use: the id of their item, and their text. */
  readonly outcomes = new Map<string, { readonly item: string; readonly output: string }>();
  /** The service's call ids, by id of the tool use in the history. */
  readonly calls = new Map<string, string>();
  /** Call ids of the tool uses that the service requested on the current connection. */
  readonly #asksFor = new Set<string>();
  /** Audio of the last utterances, by the session's name of the utterance. */
  readonly #utterances = new Map<string, Uint8Array>();
  /** Names of utterances that were sent, in order, until the service gives each an item id. */
  readonly #unnamed: string[] = [];
  /** Names of utterances, by the service's item id. */
  readonly #heard = new Map<string, string>();
  readonly #transcripts = new Map<string, string>();
  #instructions = '';
  /** Requested responses that the service has not begun. */
  readonly #asked: SpokenResponse[] = [];
  #running: SpokenResponse | undefined;

  constructor(options: RealtimeSessionOptions) {
    this.#options = options;
    this.#connect();
  }

  /** Waits until the service accepts requests; connects if there is no connection. @returns whether the service accepts requests. */
  async ready(limitMs: number, signal: AbortSignal): Promise<boolean> {
    if (this.#isReady || this.#isClosed) return this.#isReady;
    if (this.#connection === undefined) this.#connect();
    const ready = new Promise<void>((resolve) => this.#whenReady.push(resolve));
    await waitAtMost(ready, limitMs, this.#options.clock, signal);
    return this.#isReady;
  }

  /** Sends the model its instructions if they have changed. */
  instruct(instructions: string): void {
    if (this.#instructions === instructions) return;
    this.#instructions = instructions;
    this.#send({ type: 'session.update', session: { type: 'realtime', instructions } });
  }

  /** Whether the service has this entry. */
  holds(item: string | undefined): boolean {
    return item !== undefined && this.#items.has(item);
  }

  /** Whether the service requested this tool use on the current connection. */
  called(callId: string): boolean {
    return this.#asksFor.has(callId);
  }

  /** An unused item id. */
  newName(): string {
    this.#names += 1;
    return `${this.#prefix}-${String(this.#names)}`;
  }

  create(item: ConversationItem): void {
    this.#items.add(item.id);
    this.#send({ type: 'conversation.item.create', item });
  }

  delete(item: string): void {
    if (this.#items.delete(item)) this.#send({ type: 'conversation.item.delete', item_id: item });
  }

  /** Truncates an item at the service to what the caller has heard. */
  truncate(item: string, heardMs: number): void {
    if (!this.#items.has(item)) return;
    const audio_end_ms = Math.floor(heardMs);
    if (audio_end_ms <= 0) this.delete(item);
    else this.#send({ type: 'conversation.item.truncate', item_id: item, content_index: 0, audio_end_ms });
  }

  /** Keeps an utterance of the caller. @param mulaw - G.711 µ-law, 8 kHz. @returns the session's name of the utterance. */
  said(mulaw: Uint8Array): string {
    const name = this.newName();
    this.#utterances.set(name, mulaw);
    for (const oldest of this.#utterances.keys()) if (this.#utterances.size > MAX_UTTERANCES) this.#utterances.delete(oldest);
    return name;
  }

  /** Sends an utterance. @returns false when its audio is no longer kept. */
  hear(name: string): boolean {
    const mulaw = this.#utterances.get(name);
    if (mulaw === undefined) return false;
    this.#items.add(name);
    this.#unnamed.push(name);
    const bytes = Buffer.from(mulaw.buffer, mulaw.byteOffset, mulaw.byteLength);
    for (let from = 0; from < bytes.length; from += APPEND_BYTES)
      this.#send({ type: 'input_audio_buffer.append', audio: bytes.toString('base64', from, Math.min(from + APPEND_BYTES, bytes.length)) });
    this.#send({ type: 'input_audio_buffer.commit' });
    return true;
  }

  /** The transcript of an utterance. Undefined until the service has sent one. */
  transcriptOf(name: string): string | undefined {
    return this.#transcripts.get(name);
  }

  /** Requests a response. Cancels it when the reader leaves the loop or the signal aborts. */
  async *respond({ firstTokenMs, stallMs }: ModelPatience, signal: AbortSignal): AsyncGenerator<SpokenPart, void> {
    await this.#idle(signal);
    if (signal.aborted) {
      yield { kind: 'failed', why: 'aborted' };
      return;
    }
    const response = new SpokenResponse(this.newName());
    this.#asked.push(response);
    this.#send({ type: 'response.create', event_id: response.eventId });
    let hasBegun = false;
    try {
      for (;;) {
        const part = await this.#partOfIt(response, hasBegun ? stallMs : firstTokenMs, hasBegun, signal);
        hasBegun = true;
        yield part;
        if (part.kind === 'end' || part.kind === 'failed') return;
      }
    } finally {
      this.#leave(response);
    }
  }

  async #partOfIt(response: SpokenResponse, limitMs: number, hasBegun: boolean, signal: AbortSignal): Promise<SpokenPart> {
    const waited = await waitAtMost(response.next(), limitMs, this.#options.clock, signal);
    if (waited.kind === 'aborted') return { kind: 'failed', why: 'aborted' };
    if (waited.kind === 'timeout') return { kind: 'failed', why: hasBegun ? 'stalled' : 'late' };
    return waited.value.kind === 'end' && !hasBegun ? { kind: 'failed', why: 'empty' } : waited.value;
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelRetry();
    this.#lose();
    this.#connection?.close();
    this.#connection = undefined;
  }

  #connect(): void {
    this.#cancelRetry();
    const { address, settings } = this.#options;
    const session = { ...settings, ...(this.#instructions !== '' && { instructions: this.#instructions }) };
    const socket = new ServiceSocket<ClientEvent, ServiceEvent>(
      { url: urlOf(address), key: address.key },
      {
        read: serviceEvent,
        onOpen: () => {
          socket.send({ type: 'session.update', session });
        },
        onEvent: (event) => {
          this.#on(event);
        },
        onClosed: () => {
          this.#closed();
        },
      },
    );
    this.#connection = socket;
  }

  #closed(): void {
    this.#connection = undefined;
    this.#lose();
    const pauseMs = RETRY_MS[this.#tries];
    this.#options.log.warn({ tries: this.#tries }, 'the connection to the speech-to-speech model is lost');
    this.#tries += 1;
    if (this.#isClosed || pauseMs === undefined) {
      this.#tries = 0;
      this.#resolveWaits();
      return;
    }
    this.#cancelRetry = this.#options.clock.after(pauseMs, () => {
      this.#connect();
    });
  }

  /** Forgets everything that the service knew: a new connection begins a new conversation. */
  #lose(): void {
    this.#isReady = false;
    this.#items.clear();
    this.outcomes.clear();
    this.calls.clear();
    this.#asksFor.clear();
    this.#unnamed.length = 0;
    this.#heard.clear();
    for (const response of [...this.#asked.splice(0), ...(this.#running === undefined ? [] : [this.#running])])
      response.push({ kind: 'failed', why: 'error' });
    this.#running = undefined;
  }

  #resolveWaits(): void {
    for (const resolve of this.#whenReady.splice(0)) resolve();
  }

  #on(event: ServiceEvent): void {
    switch (event.type) {
      case 'session.updated':
        this.#isReady = true;
        this.#tries = 0;
        this.#resolveWaits();
        return;
      case 'input_audio_buffer.committed': {
        const name = this.#unnamed.shift();
        if (name !== undefined) this.#heard.set(event.item_id, name);
        return;
      }
      case 'conversation.item.input_audio_transcription.completed': {
        const name = this.#heard.get(event.item_id);
        if (name !== undefined && this.#transcripts.size < MAX_TRANSCRIPTS) this.#transcripts.set(name, event.transcript.trim());
        return;
      }
      case 'response.created':
        this.#begun(event.response.id);
        return;
      case 'response.output_audio.delta':
        this.#items.add(event.item_id);
        this.#partOf(event.response_id)?.push({ kind: 'audio', item: event.item_id, mulaw: Buffer.from(event.delta, 'base64') });
        return;
      case 'response.output_audio_transcript.delta':
        this.#items.add(event.item_id);
        this.#partOf(event.response_id)?.push({ kind: 'text', item: event.item_id, words: event.delta });
        return;
      case 'response.done':
        this.#done(event.response);
        return;
      case 'error':
        this.#options.log.warn({ code: event.error.code ?? 'unknown' }, 'the speech-to-speech model reports an error');
        if (event.error.code === 'input_audio_buffer_commit_empty') this.#unnamed.shift();
        else this.#refused(event.error.event_id ?? undefined);
    }
  }

  /** Fails the requested response that the error names. Any other error changes nothing. */
  #refused(eventId: string | undefined): void {
    const at = this.#asked.findIndex((response) => response.eventId === eventId);
    const [response] = at < 0 ? [] : this.#asked.splice(at, 1);
    response?.push({ kind: 'failed', why: 'error' });
  }

  #begun(id: string): void {
    const response = this.#asked.shift();
    if (response === undefined) return;
    response.id = id;
    this.#running = response;
    if (response.isLeft) this.#send({ type: 'response.cancel', response_id: id });
  }

  #partOf(id: string): SpokenResponse | undefined {
    return this.#running?.id === id ? this.#running : undefined;
  }

  #done({ id, status, output, usage }: Extract<ServiceEvent, { type: 'response.done' }>['response']): void {
    const response = this.#partOf(id);
    if (response === undefined) return;
    // A tool use of an incomplete response may be wrong.
    const calls = status === 'completed' ? output : [];
    for (const call of calls) {
      if (call === undefined) continue;
      this.#asksFor.add(call.call_id);
      response.push({ kind: 'use', tool: call.name, input: call.arguments, callId: call.call_id });
    }
    if (status === 'completed' || status === 'incomplete')
      response.push({ kind: 'end', tokensIn: usage?.input_tokens ?? 0, tokensOut: usage?.output_tokens ?? 0 });
    else response.push({ kind: 'failed', why: 'error' });
    response.isOver = true;
    this.#running = undefined;
    this.#resolveWaits();
  }

  /** Marks that nobody reads the response any more, and cancels it. */
  #leave(response: SpokenResponse): void {
    response.isLeft = true;
    if (!response.isOver && response.id !== undefined) this.#send({ type: 'response.cancel', response_id: response.id });
  }

  /** Waits until the service has ended the previous response. */
  async #idle(signal: AbortSignal): Promise<void> {
    if (this.#running === undefined && this.#asked.length === 0) return;
    const ended = new Promise<void>((resolve) => this.#whenReady.push(resolve));
    await waitAtMost(ended, CANCELLED_MS, this.#options.clock, signal);
    // A response that has not ended by now will hardly end.
    this.#running = undefined;
    this.#asked.length = 0;
  }

  #send(event: ClientEvent): void {
    this.#connection?.send(event);
  }
}

function urlOf({ url, model }: RealtimeAddress): URL {
  const whole = new URL(url);
  if (!whole.searchParams.has('model')) whole.searchParams.set('model', model);
  return whole;
}
