// Calls over gRPC, as a transport under test: messages and numbers of the wire, over a real socket with TLS and a token.
import { status } from '@grpc/grpc-js';
import {
  DTMF_KEY,
  dtmfCharacter,
  EVENT_INPUT,
  EVENT_OUTPUT,
  INPUT_MODE,
  VOICE_ENCODING,
  type MediaRequest,
  type MediaResponse,
} from '../../../src/contract/grpc.ts';
import { jsonFromStruct, structFromJson } from '../../../src/contract/struct.ts';
import type { Input } from '../../../src/dialog/input.ts';
import { PlatformCall, type CallIds } from '../platform-call.ts';
import { statusName, type ClientTurn, type PlatformClient } from '../platform-client.ts';
import type { Delivered, DeliveredNext, TransportUnderTest } from './placed-call.ts';
import { serverUnderTest } from './server-under-test.ts';
import { TurnWiseCall, type LoneTurn } from './turn-wise-call.ts';

type WireInput = Pick<MediaRequest, 'audio_input' | 'dtmf_input' | 'event_input'>;

/** Makes it. @param flags - of the server; they must find the bots. */
export async function grpcTransport(flags: readonly string[]): Promise<TransportUnderTest> {
  const { server, transport } = await serverUnderTest({ flags });
  const client = await server.client();
  return {
    ...transport,
    place: (agentId = '') =>
      Promise.resolve(new TurnWiseCall((conversationId, first) => new GrpcTurn(client, { conversationId, agentId }, first))),
  };
}

class GrpcTurn implements LoneTurn {
  readonly #call: PlatformCall;
  readonly #turn: ClientTurn;

  constructor(client: PlatformClient, ids: Pick<CallIds, 'conversationId' | 'agentId'>, first: Input) {
    this.#call = new PlatformCall(client, ids);
    this.#turn = this.#call.open(wireInput(first));
  }

  send(input: Input): void {
    this.#turn.send(this.#call.message(wireInput(input)));
  }

  halfClose(): void {
    this.#turn.halfClose();
  }

  get delivered(): readonly Delivered[] {
    return this.#turn.responses.flatMap(deliveredOf);
  }

  get end(): string {
    const code = this.#turn.ending?.code;
    return code === status.OK ? 'complete' : statusName(code);
  }
}

function wireInput(input: Input): WireInput {
  switch (input.kind) {
    case 'audio': {
      const format = input.encoding === undefined ? {} : { encoding: VOICE_ENCODING.MULAW_FORMAT, sample_rate_hertz: 8000 };
      return { audio_input: { caller_audio: input.audio, ...format } };
    }
    case 'dtmf':
      return { dtmf_input: { dtmf_events: [...input.digits].map((digit) => DTMF_KEY[digit as keyof typeof DTMF_KEY]) } };
    case 'dtmf_start':
      return { event_input: { event_type: EVENT_INPUT.START_OF_DTMF } };
    case 'no_input':
      return { event_input: { event_type: EVENT_INPUT.NO_INPUT } };
    case 'session_end':
      return { event_input: { event_type: EVENT_INPUT.SESSION_END } };
    case 'session_start':
      return { event_input: { event_type: EVENT_INPUT.SESSION_START, name: input.name, parameters: structFromJson(input.parameters) } };
    case 'custom_event':
      return { event_input: { event_type: EVENT_INPUT.CUSTOM_EVENT, name: input.name, parameters: structFromJson(input.parameters) } };
  }
}

function deliveredOf({ response_type: type = 0, prompts = [], output_events: [event] = [], ...rest }: MediaResponse): readonly Delivered[] {
  if (event?.event_type === EVENT_OUTPUT.START_OF_INPUT) return [{ kind: 'speech', is: 'started' }];
  if (event?.event_type === EVENT_OUTPUT.END_OF_INPUT) return [{ kind: 'speech', is: 'ended' }];
  const said = prompts.flatMap(
    ({ audio_content: mulaw = new Uint8Array(0), text = '', is_barge_in_enabled: mayBeCut = false }): Delivered[] => {
      if (mulaw.length > 0) return [{ kind: 'sound', mulaw, mayBeCut }];
      return text === '' ? [] : [{ kind: 'text', text }];
    },
  );
  const next = type === 0 ? nextOf(event, rest) : undefined;
  return next === undefined ? said : [...said, { kind: 'next', next }];
}

const ACCEPTS = new Map<number | undefined, 'speech' | 'keys' | 'both'>([
  [INPUT_MODE.INPUT_VOICE, 'speech'],
  [INPUT_MODE.INPUT_EVENT_DTMF, 'keys'],
  [INPUT_MODE.INPUT_VOICE_DTMF, 'both'],
]);

/** Undefined: nothing comes after it, because the caller is gone (G-75). */
function nextOf(
  event: NonNullable<MediaResponse['output_events']>[number] | undefined,
  { input_mode: mode, input_handling_config: config, input_sensitive: sensitive = false, session_summary: summary }: MediaResponse,
): DeliveredNext | undefined {
  const { name = '', metadata } = event ?? {};
  const json = jsonFromStruct(metadata);
  if (event?.event_type === EVENT_OUTPUT.SESSION_END || event?.event_type === EVENT_OUTPUT.TRANSFER_TO_AGENT) {
    const kind = event.event_type === EVENT_OUTPUT.SESSION_END ? 'end' : 'transfer';
    return { kind, name, metadata: json, ...(summary?.text === undefined ? {} : { summary: summary.text }) };
  }
  const accept = ACCEPTS.get(mode);
  if (accept === undefined) return undefined;
  const { dtmf_input_length: digits = 0, inter_digit_timeout_msec: interDigitMs = 0, termchar = 0 } = config?.dtmf_config ?? {};
  const terminator = dtmfCharacter(termchar) ?? 'none';
  return {
    ...{ kind: 'listen', accept, digits, interDigitMs, terminator, sensitive },
    ...(event === undefined ? {} : { event: { name, metadata: json } }),
  };
}
