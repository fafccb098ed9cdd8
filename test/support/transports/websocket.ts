// Calls over WebSocket, as a transport under test: envelopes and words of the wire, over a real socket with TLS and a token. It
// plays a platform whose caller is silent where nobody speaks, and watches the grammar of the socket while it listens.
import type { JsonObject } from '../../../src/base/json.ts';
import type { SocketResponse } from '../../../src/contract/envelope.ts';
import { dtmfCharacterOfName, dtmfNameOf } from '../../../src/contract/numbers.ts';
import { dataSource } from '../running-server.ts';
import { eventInput, keyInput, SocketClient, soundInput } from '../socket-client.ts';
import { socketDataSource, WITH_SOCKETS } from '../socket-peer.ts';
import {
  replyOf,
  speechOf,
  type PlacedCall,
  type Delivered,
  type DeliveredNext,
  type DeliveredReply,
  type TransportUnderTest,
} from './placed-call.ts';
import { serverUnderTest } from './server-under-test.ts';
import { framesOf } from './turn-wise-call.ts';

/** Makes it. @param flags - of the server; they must find the bots. */
export async function websocketTransport(flags: readonly string[]): Promise<TransportUnderTest> {
  const { server, transport } = await serverUnderTest({
    flags: [...WITH_SOCKETS, ...flags],
    dataSources: (issuer) => [dataSource(issuer), socketDataSource(issuer)],
  });
  return { ...transport, place: async (agentId = '') => new SocketCall(await SocketClient.connect(server), agentId) };
}

/** One call on one socket (W-08). */
class SocketCall implements PlacedCall {
  readonly #client: SocketClient;
  readonly #agentId: string;
  #ends = 0;
  #hasHungUp = false;

  constructor(client: SocketClient, agentId: string) {
    this.#client = client;
    this.#agentId = agentId;
  }

  get conversationId(): string {
    return this.#client.conversationId;
  }

  start(name: string, parameters: JsonObject): void {
    this.#client.lie(eventInput('SESSION_START', { name, parameters }), { payload: { virtual_agent_id: this.#agentId } });
  }

  press(digits: string): void {
    this.#client.send(eventInput('START_OF_DTMF'));
    this.pressAtOnce(digits);
  }

  pressAtOnce(digits: string): void {
    this.#client.send(keyInput(...[...digits].map(dtmfNameOf)));
  }

  async speak(mulaw: Uint8Array): Promise<void> {
    this.#ends += 1;
    for (const { audio } of framesOf(mulaw)) {
      this.#client.send(soundInput(audio));
      // G-38: the platform stops when it learns that the caller has finished. What the audio listener hears of the silence after it is part
      // of how it hears what comes next.
      await this.#client.ping();
      if (this.speech.filter((is) => is === 'ended').length >= this.#ends) return;
    }
    throw new Error(`no end of speech was reported: ${JSON.stringify([this.speech, this.breaches])}`);
  }

  nothing(): void {
    this.#client.send(eventInput('NO_INPUT'));
  }

  flowEvent(name: string, parameters: JsonObject): void {
    this.#client.send(eventInput('CUSTOM_EVENT', { name, parameters }));
  }

  hangUp(): void {
    this.#hasHungUp = true;
    this.#client.send(eventInput('SESSION_END'));
  }

  // W-24: every reply ends with one FINAL, and none begins before that of the one before it.
  get replies(): readonly DeliveredReply[] {
    const replies: Delivered[][] = [[]];
    for (const item of this.#delivered) {
      if (item.kind === 'speech') continue;
      replies.at(-1)?.push(item);
      if (item.kind === 'next') replies.push([]);
    }
    return replies.filter((delivered) => delivered.length > 0).map(replyOf);
  }

  get speech(): readonly ('started' | 'ended')[] {
    return speechOf(this.#delivered);
  }

  get breaches(): readonly string[] {
    const { messages, errors, end } = this.#client;
    // W-41: a PONG has the number of its PING, and takes none of the server's.
    const numbers = messages.flatMap(({ type, seq }) => (type === 'PONG' ? [] : [seq]));
    const strangers = messages.filter(({ conversation_id: id }) => id !== this.conversationId);
    return [
      ...errors,
      ...(numbers.some((seq, index) => seq !== index + 1) ? [`W-10 the numbers are ${numbers.join(' ')}`] : []),
      ...(this.#client.isNaming('disable_prompt_cancellation')
        ? ['W-15 a message says that no later one cancels it, and none is PARTIAL']
        : []),
      ...(strangers.length > 0 ? ['W-13 a message names another conversation'] : []),
      ...(end === undefined || end.code === 1000 ? [] : [`W-44 the socket was closed with ${String(end.code)}`]),
    ];
  }

  async close(): Promise<void> {
    // W-28, W-29: the platform closes, whoever ended the call. What was said after a hang-up would be here by then.
    const { length } = this.#client.messages;
    await this.#client.close();
    if (this.#hasHungUp && this.#client.messages.length > length) throw new Error('W-28 something was said after the caller had hung up');
  }

  get #delivered(): readonly Delivered[] {
    return this.#client.responses.flatMap(deliveredOf);
  }
}

function deliveredOf({ response_type: type, prompts, output_events: events, ...rest }: SocketResponse): readonly Delivered[] {
  const event = events?.[0];
  if (event?.event_type === 'START_OF_INPUT') return [{ kind: 'speech', is: 'started' }];
  if (event?.event_type === 'END_OF_INPUT') return [{ kind: 'speech', is: 'ended' }];
  const said = (prompts ?? []).flatMap(({ audio_content_b64: audio, text, is_barge_in_enabled: mayBeCut }): Delivered[] => {
    const mulaw = Buffer.from(audio ?? '', 'base64');
    if (mulaw.length > 0) return [{ kind: 'sound', mulaw, mayBeCut: mayBeCut ?? false }];
    return (text ?? '') === '' ? [] : [{ kind: 'text', text: text ?? '' }];
  });
  return type === 'FINAL' ? [...said, { kind: 'next', next: nextOf(event, rest) }] : said;
}

const ACCEPTS = { INPUT_VOICE: 'speech', INPUT_EVENT_DTMF: 'keys', INPUT_VOICE_DTMF: 'both' } as const;

function nextOf(
  event: NonNullable<SocketResponse['output_events']>[number] | undefined,
  {
    input_mode: mode,
    input_handling_config: config,
    input_sensitive: sensitive,
    session_summary: summary,
  }: Omit<SocketResponse, 'response_type'>,
): DeliveredNext {
  const { name, metadata = {} } = event ?? {};
  if (event?.event_type === 'SESSION_END' || event?.event_type === 'TRANSFER_TO_AGENT') {
    const kind = event.event_type === 'SESSION_END' ? 'end' : 'transfer';
    return { kind, name: name ?? '', metadata, ...(typeof summary?.text === 'string' ? { summary: summary.text } : {}) };
  }
  const accept = Object.entries(ACCEPTS).find(([word]) => word === mode)?.[1];
  if (accept === undefined) throw new Error(`a FINAL that goes on has the input mode ${String(mode)} (G-80)`);
  const { dtmf_input_length: digits, inter_digit_timeout_msec: interDigitMs, termchar } = config?.dtmf_config ?? {};
  return {
    ...{ kind: 'listen', accept, digits: digits ?? 0, interDigitMs: interDigitMs ?? 0, sensitive: sensitive ?? false },
    terminator: dtmfCharacterOfName(termchar ?? '') ?? 'none',
    ...(event === undefined ? {} : { event: { name: name ?? '', metadata } }),
  };
}
