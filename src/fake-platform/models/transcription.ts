// The service side of the realtime protocol's transcription: sends the texts of the script. Validates events as a service does.
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { FakeSocket } from './fake-socket.ts';
import type { ModelRequestEntry, PlayedScript } from './playing.ts';

const EVENT = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('session.update'),
    session: z.looseObject({
      type: z.literal('transcription'),
      audio: z.looseObject({
        input: z.looseObject({
          format: z.looseObject({ type: z.literal('audio/pcmu') }),
          turn_detection: z.null(),
          transcription: z.looseObject({ model: z.string().min(1), language: z.string().optional(), prompt: z.string().optional() }),
        }),
      }),
    }),
  }),
  z.object({ type: z.literal('input_audio_buffer.append'), audio: z.base64() }),
  z.object({ type: z.literal('input_audio_buffer.commit') }),
  z.object({ type: z.literal('input_audio_buffer.clear') }),
]);

const TRANSCRIPTION = 'conversation.item.input_audio_transcription';
const ORDERED = 'ordered by the script';

/** G.711 at 8 kHz: 8 bytes are 1 ms. */
const BYTES_PER_MS = 8;
/** Shortest audio that services accept, bytes. */
const LEAST_BYTES = 100 * BYTES_PER_MS;
/** Announced words are searched each time this much more audio has arrived, bytes: 200 ms. */
const SEARCH_EVERY_BYTES = 200 * BYTES_PER_MS;
/** Most audio of one utterance that is searched, bytes: two minutes. */
const MAX_HEARD_BYTES = 120_000 * BYTES_PER_MS;
/** Marks a pause of the caller in a text of the script. */
const PAUSE = /\s*…\s*/u;

export class FakeTranscription {
  readonly #client: FakeSocket<typeof EVENT>;
  readonly #played: PlayedScript;
  /** The text of this utterance that is left, split at pauses. Undefined until a text is chosen. */
  #left: string[] | undefined;
  #heard: Buffer[] = [];
  #bytes = 0;
  /** Length of the audio at the last search for announced words, bytes. */
  #searchedBytes = 0;
  /** Number of words of the current piece that were sent. */
  #written = 0;
  #names = 0;

  constructor(socket: WebSocket, played: PlayedScript) {
    this.#played = played;
    this.#client = new FakeSocket({
      socket,
      schema: EVENT,
      onEvent: (event) => this.#on(event),
    });
  }

  #on(event: z.infer<typeof EVENT>): void {
    switch (event.type) {
      case 'session.update':
        this.#client.send({ type: 'session.updated', session: event.session });
        return;
      case 'input_audio_buffer.append':
        this.#hear(Buffer.from(event.audio, 'base64'));
        this.#write();
        return;
      case 'input_audio_buffer.clear':
        // Audio that was not committed belonged to no utterance.
        this.#left = undefined;
        this.#forget();
        this.#client.send({ type: 'input_audio_buffer.cleared' });
        return;
      case 'input_audio_buffer.commit':
        if (this.#bytes < LEAST_BYTES) this.#client.refuse('input_audio_buffer_commit_empty', 'there is less than 100 ms of audio');
        else void this.#commit();
    }
  }

  async #commit(): Promise<void> {
    const id = this.#name();
    const text = this.#text();
    const fault = this.#played.fault('recognition');
    const entry = this.#played.note({ on: 'recognition', text, ...(fault !== undefined && { fault: fault.kind }) });
    this.#left?.shift();
    this.#names += 1;
    this.#forget();
    this.#client.send({ type: 'input_audio_buffer.committed', item_id: id });
    if (!(await this.#takes(fault?.kind === 'hang', entry))) return;
    const about = { item_id: id, content_index: 0 };
    if (fault?.kind === 'cut') this.#client.terminate();
    else if (fault?.kind === 'error')
      this.#client.send({
        type: `${TRANSCRIPTION}.failed`,
        ...about,
        error: { type: 'transcription_error', code: 'ordered', message: ORDERED },
      });
    else
      this.#client.send(
        { type: `${TRANSCRIPTION}.completed`, ...about, transcript: fault?.kind === 'empty' ? '' : text },
        fault?.kind === 'torn',
      );
  }

  #takes(isForEver: boolean, entry: ModelRequestEntry): Promise<boolean> {
    return this.#played.takes(isForEver ? 'for ever' : this.#played.script.delays?.recognition, entry, this.#client.gone);
  }

  #hear(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes <= MAX_HEARD_BYTES) this.#heard.push(piece);
  }

  #forget(): void {
    this.#heard = [];
    this.#bytes = 0;
    this.#searchedBytes = 0;
    this.#written = 0;
  }

  /** The announced words in the audio so far, or else the script's text up to the next pause. */
  #text(): string {
    return this.#played.said.in(Buffer.concat(this.#heard)) ?? this.#scripted();
  }

  #scripted(): string {
    this.#left ??= this.#played.next().split(PAUSE);
    return this.#left[0] ?? '';
  }

  /** Sends the words that have been spoken so far, if the script sets `words_per_second`. */
  #write(): void {
    const { script, said } = this.#played;
    const pace = script.words_per_second;
    if (pace === undefined) return;
    if (said.isEmpty) this.#writeSome(this.#scripted(), (this.#bytes / BYTES_PER_MS / 1000) * pace);
    else if (this.#bytes - this.#searchedBytes >= SEARCH_EVERY_BYTES) {
      this.#searchedBytes = this.#bytes;
      this.#writeSome(said.in(Buffer.concat(this.#heard)) ?? '', Infinity);
    }
  }

  #writeSome(text: string, most: number): void {
    const words = text.match(/\s*\S+/gu) ?? [];
    const spoken = Math.min(words.length, Math.floor(most));
    for (; this.#written < spoken; this.#written += 1)
      this.#client.send({ type: `${TRANSCRIPTION}.delta`, item_id: this.#name(), content_index: 0, delta: words[this.#written] ?? '' });
  }

  /** The item id of the current piece. */
  #name(): string {
    return `item_${String(this.#names + 1)}`;
  }
}
