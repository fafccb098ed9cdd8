// The turns of calls over gRPC: one RPC per turn, on any connection. Knows no turn grammar.
import { loadContract, type Contract } from '../../contract/grpc.ts';
import type { PlatformProfile } from '../../contract/profile.ts';
import { answerFromWire } from './from-wire.ts';
import { audioMessages, framed } from './grpc-framing.ts';
import type { LineEnd, LineTurn, PlatformInput, TurnListener } from './line.ts';
import { rpcHeaders, type RpcConnection, type RpcEnd } from './rpc-connection.ts';
import { requestMaker, type CallIdentity } from './to-wire.ts';

/** Trailing metadata in which our own server sends the texts of a reply, when a test setting allows it. */
const PROMPT_TEXT_KEY = 'parley-prompt-text-bin';

/** Trailing metadata in which our own server, under the same setting, marks a reply as the apology for a bot that failed. */
const APOLOGY_KEY = 'parley-apology';

/** Trailing metadata in which our own server, under the same setting, says that its bot wants words and no recognizer runs. */
const NO_RECOGNIZER_KEY = 'parley-no-recognizer';

/** The texts in the value of PROMPT_TEXT_KEY; none when the value is no list: a foreign server may use the key as it likes. */
function readPromptTexts(json: string): readonly string[] {
  try {
    const list: unknown = JSON.parse(json);
    return Array.isArray(list) ? list.filter((text): text is string => typeof text === 'string') : [];
  } catch {
    return [];
  }
}

/** The caller's identity. */
export interface GrpcAccess {
  readonly profile: PlatformProfile;
  /** The data-source token. Undefined: no authorization is sent. */
  readonly token?: string;
  /** Whether to send `Bearer TOKEN` instead of the token alone; servers must accept both (G-03, U-02). Default false. */
  readonly bearer?: boolean;
}

/** The headers of an RPC. @param trackingId - correlation id; undefined: none. */
export function accessHeaders({ profile, token, bearer }: GrpcAccess, path: string, trackingId: string | undefined) {
  return rpcHeaders(path, {
    ...(token === undefined ? {} : { [profile.metadata.authorization]: bearer === true ? `Bearer ${token}` : token }),
    ...(trackingId === undefined ? {} : { [profile.metadata.trackingId]: trackingId }),
  });
}

export type OpenTurn = (connection: RpcConnection, listener: TurnListener) => Required<LineTurn>;

export function turnsOf(access: GrpcAccess, identity: CallIdentity): OpenTurn {
  const contract = loadContract(access.profile);
  const read = contract.media.definition.ProcessCallerInput.responseDeserialize;
  const headers = accessHeaders(access, contract.media.processCallerInputPath, identity.conversationId);
  const encode = encoderOf(identity, contract);
  return (connection, listener) => {
    const rpc = connection.open(headers, {
      message: (bytes) => listener.answered(answerFromWire(read(bytes))),
      ended: (end) => listener.ended(lineEnd(end)),
    });
    return {
      send: (input) => rpc.send(encode(input)),
      halfClose: rpc.halfClose,
      cancel: rpc.cancel,
      pauseReading: rpc.pause,
      resumeReading: rpc.resume,
    };
  };
}

function encoderOf(identity: CallIdentity, contract: Contract): (input: PlatformInput) => Buffer {
  const { requestSerialize } = contract.media.definition.ProcessCallerInput;
  const request = requestMaker(identity);
  const audioMessage = audioMessages((audio) => requestSerialize(request({ kind: 'audio', audio })));
  return (input) => (input.kind === 'audio' ? audioMessage(input.audio) : framed(requestSerialize(request(input))));
}

function lineEnd(end: RpcEnd): LineEnd {
  if (end.kind === 'broken') return end;
  const { trailers } = end;
  const texts = trailers[PROMPT_TEXT_KEY];
  const promptTexts = typeof texts === 'string' ? readPromptTexts(Buffer.from(texts, 'base64').toString()) : [];
  return {
    kind: 'completed',
    promptTexts,
    isApology: trailers[APOLOGY_KEY] === 'true',
    isWithoutWords: trailers[NO_RECOGNIZER_KEY] === 'true',
  };
}
