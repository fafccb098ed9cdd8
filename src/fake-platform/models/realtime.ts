// The service side of the realtime protocol: one conversation with answers from the script, spoken as tones that are as long as the words.
// Validates events as a service does, and keeps the items of the conversation.
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { answerTo } from './chat.ts';
import type { FakeItem } from './fake-item.ts';
import { FakeSocket } from './fake-socket.ts';
import type { PlayedScript } from './playing.ts';
import type { ModelFault, ModelRule } from './script.ts';
import { lineTone, SPOKEN_MS } from './tone.ts';

const CONTENT = z.array(z.looseObject({ text: z.string().optional() })).max(10);
const ID = z.string().min(1).max(32);
const ITEM = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message'), id: ID, role: z.enum(['user', 'assistant']), content: CONTENT }),
  z.object({ type: z.literal('function_call'), id: ID, call_id: ID, name: z.string(), arguments: z.string() }),
  z.object({ type: z.literal('function_call_output'), id: ID, call_id: ID, output: z.string() }),
]);
const EVENT = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('session.update'),
    session: z.looseObject({
      type: z.literal('realtime'),
      tools: z.array(z.looseObject({ name: z.string() })).optional(),
      audio: z.looseObject({ input: z.looseObject({ transcription: z.looseObject({ model: z.string() }).optional() }) }).optional(),
    }),
  }),
  z.object({ type: z.literal('input_audio_buffer.append'), audio: z.base64() }),
  z.object({ type: z.literal('input_audio_buffer.commit') }),
  z.object({ type: z.literal('response.create'), event_id: ID.optional() }),
  z.object({ type: z.literal('response.cancel'), response_id: z.string().optional() }),
  z.object({ type: z.literal('conversation.item.create'), item: ITEM }),
  z.object({ type: z.literal('conversation.item.truncate'), item_id: z.string(), content_index: z.literal(0), audio_end_ms: z.int() }),
  z.object({ type: z.literal('conversation.item.delete'), item_id: z.string() }),
]);
type Sent = z.infer<typeof EVENT>;
/** Most audio of one utterance that is kept, bytes: two minutes. The rest is dropped. */
const MAX_HEARD_BYTES = 960_000;

export class FakeConversation {
  readonly items: FakeItem[] = [];
  readonly #client: FakeSocket<typeof EVENT>;
  readonly #played: PlayedScript;
  readonly #callNames = new Map<string, string>();
  #tools: readonly string[] = [];
  #isTranscribing = false;
  #heard: Buffer[] = [];
  #heardBytes = 0;
  #names = 0;
  #cancelResponse: (() => void) | undefined;

  constructor(socket: WebSocket, played: PlayedScript) {
    this.#played = played;
    this.#client = new FakeSocket({
      socket,
      schema: EVENT,
      onEvent: (event) => this.#on(event),
      completed: (event) => ({ event_id: this.#name('event'), ...event }),
    });
  }

  #on(event: Sent): void {
    switch (event.type) {
      case 'session.update':
        this.#tools = event.session.tools?.map(({ name }) => name) ?? this.#tools;
        this.#isTranscribing ||= event.session.audio?.input.transcription !== undefined;
        this.#client.send({ type: 'session.updated', session: event.session });
        return;
      case 'input_audio_buffer.append':
        this.#hear(Buffer.from(event.audio, 'base64'));
        return;
      case 'input_audio_buffer.commit':
        this.#commit();
        return;
      case 'conversation.item.create':
        this.#create(event.item);
        return;
      case 'conversation.item.truncate':
        this.#truncate(event.item_id, event.audio_end_ms);
        return;
      case 'conversation.item.delete':
        this.#delete(event.item_id);
        return;
      case 'response.cancel':
        if (this.#cancelResponse === undefined) this.#client.refuse('response_cancel_not_active', 'nothing is being said');
        else this.#cancelResponse();
        return;
      case 'response.create':
        if (this.#cancelResponse === undefined) void this.#respond(event.event_id);
        else this.#client.refuse('conversation_already_has_active_response', 'one response at a time', event.event_id);
    }
  }

  #hear(piece: Buffer): void {
    this.#heardBytes += piece.length;
    if (this.#heardBytes <= MAX_HEARD_BYTES) this.#heard.push(piece);
  }

  #commit(): void {
    if (this.#heardBytes === 0) {
      this.#client.refuse('input_audio_buffer_commit_empty', 'there is no audio');
      return;
    }
    const id = this.#name('item');
    const text = this.#played.heard(Buffer.concat(this.#heard), true);
    this.#heard = [];
    this.#heardBytes = 0;
    this.items.push({ id, by: 'caller', text });
    this.#client.send({ type: 'input_audio_buffer.committed', item_id: id });
    if (this.#isTranscribing)
      this.#client.send({ type: 'conversation.item.input_audio_transcription.completed', item_id: id, content_index: 0, transcript: text });
  }

  #create(item: z.infer<typeof ITEM>): void {
    if (this.items.some(({ id }) => id === item.id)) {
      this.#client.refuse('item_create_invalid_item_id', 'there is an item of that name');
      return;
    }
    if (item.type === 'function_call') {
      this.#callNames.set(item.call_id, item.name);
      this.items.push({ id: item.id, by: 'tool', text: item.name });
    } else if (item.type === 'function_call_output') {
      if (this.#callNames.has(item.call_id)) this.items.push({ id: item.id, by: 'outcome', text: item.output });
      else this.#client.refuse('item_create_invalid_call_id', 'no tool was used under that name');
    } else {
      const text = item.content.map((part) => part.text ?? '').join('');
      this.items.push({ id: item.id, by: item.role === 'user' ? 'caller' : 'assistant', text });
    }
  }

  #truncate(id: string, endMs: number): void {
    const item = this.items.find((entry) => entry.id === id && entry.ms !== undefined);
    if (item?.ms === undefined || endMs > item.ms) {
      this.#client.refuse('invalid_truncate', 'there is no such speech, or it is shorter');
      return;
    }
    // An interrupted word stays whole. A pause before a word belongs to no word.
    const said = item.text.slice(0, Math.ceil(endMs / SPOKEN_MS));
    item.text = (/\S$/u.test(said) ? said + (/^\S*/u.exec(item.text.slice(said.length))?.[0] ?? '') : said).trimEnd();
    this.#client.send({ type: 'conversation.item.truncated', item_id: id, content_index: 0, audio_end_ms: endMs });
  }

  #delete(id: string): void {
    const at = this.items.findIndex((item) => item.id === id);
    if (at < 0) this.#client.refuse('item_delete_invalid_item_id', 'there is no such item');
    else this.items.splice(at, 1);
  }

  async #respond(eventId: string | undefined): Promise<void> {
    const last = this.items.at(-1);
    const after = last?.by === 'outcome' ? this.#nameBefore() : undefined;
    const asked = { text: last?.text ?? '', after };
    const rule = answerTo(asked, this.#played.script.rules ?? []);
    const fault = this.#played.fault('realtime');
    const { say, use } = rule ?? {};
    const entry = this.#played.note({
      ...{ on: 'realtime', text: asked.text },
      ...(after !== undefined && { after }),
      ...(say !== undefined && { say }),
      ...(use !== undefined && { use }),
      ...(fault !== undefined && { fault: fault.kind }),
    });
    if (rule === undefined || (use !== undefined && !this.#tools.includes(use))) {
      this.#client.refuse('no_rule', `no rule of the script answers "${asked.text}", or the session has no such tool`, eventId);
      return;
    }
    const cancelled = new AbortController();
    this.#cancelResponse = () => cancelled.abort('barge_in');
    const id = this.#name('resp');
    const gone = AbortSignal.any([this.#client.gone, cancelled.signal]);
    this.#client.send({ type: 'response.created', response: { id, status: 'in_progress' } });
    const { delays } = this.#played.script;
    const begins = await this.#played.takes(fault?.kind === 'hang' ? 'for ever' : delays?.first_token, entry, gone);
    const isWhole = begins && (await this.#speak(id, fault === undefined ? rule : faulty(rule, fault), entry, gone));
    if (fault?.kind === 'cut') {
      this.#client.terminate();
      return;
    }
    this.#cancelResponse = undefined;
    const status = cancelled.signal.aborted || !isWhole ? 'cancelled' : fault?.kind === 'error' ? 'failed' : 'completed';
    const output = status === 'completed' && fault?.kind !== 'empty' ? this.#used(rule) : [];
    const usage = { total_tokens: 30, input_tokens: 20, output_tokens: 10 };
    this.#client.send({ type: 'response.done', response: { id, status, output, usage } }, fault?.kind === 'torn');
  }

  /** @returns false when a cancelled response or the end of the client stopped the speech. */
  async #speak(
    responseId: string,
    { say = '' }: Partial<ModelRule>,
    entry: Parameters<PlayedScript['takes']>[1],
    gone: AbortSignal,
  ): Promise<boolean> {
    const words = say.match(/\s*\S+/gu) ?? [];
    if (words.length === 0) return true;
    const id = this.#name('item');
    const item = { id, by: 'assistant', text: '', ms: 0 } as const;
    const spoken: { text: string; ms: number } & FakeItem = { ...item };
    this.items.push(spoken);
    for (const [index, word] of words.entries()) {
      if (index > 0 && !(await this.#played.takes(this.#played.script.delays?.token, entry, gone))) return false;
      spoken.text += word;
      spoken.ms += word.length * SPOKEN_MS;
      const about = { response_id: responseId, item_id: id, output_index: 0, content_index: 0 };
      this.#client.send({ type: 'response.output_audio_transcript.delta', ...about, delta: word });
      this.#client.send({
        type: 'response.output_audio.delta',
        ...about,
        delta: Buffer.from(lineTone(word.length * SPOKEN_MS)).toString('base64'),
      });
    }
    return true;
  }

  #used({ use, input = {} }: ModelRule): readonly object[] {
    if (use === undefined) return [];
    const callId = this.#name('call');
    this.#callNames.set(callId, use);
    this.items.push({ id: this.#name('item'), by: 'tool', text: use });
    return [{ type: 'function_call', name: use, call_id: callId, arguments: JSON.stringify(input) }];
  }

  #nameBefore(): string {
    return this.items.findLast(({ by }) => by === 'tool')?.text ?? '';
  }

  #name(kind: string): string {
    this.#names += 1;
    return `${kind}_${String(this.#names)}`;
  }
}

/** The part of an answer that is sent before the fault. */
function faulty({ say = '', ...rule }: ModelRule, { kind }: ModelFault): Partial<ModelRule> {
  if (kind === 'cut') return { ...rule, say: say.slice(0, Math.ceil(say.length / 2)) };
  return kind === 'torn' ? { ...rule, say } : {};
}
