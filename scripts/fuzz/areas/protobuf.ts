// Messages of the media service: the first byte chooses the RPC, and what follows is its stream of framed messages.
import http2, { type ClientHttp2Session } from 'node:http2';
import { AppError } from '../../../src/base/errors.ts';
import { loadContract } from '../../../src/contract/grpc.ts';
import type { PlatformProfile } from '../../../src/contract/profile.ts';
import { FrameReader, framed } from '../../../src/transport/forward/frames.ts';
import { callFromWire, inputFromWire } from '../../../src/transport/grpc/from-wire.ts';
import { orUndecodable, UNDECODABLE } from '../../../src/transport/grpc/undecodable.ts';
import { reactionOf, type Area, type Reaction } from '../area.ts';
import { CONVERSATION, messagesOf, ORGANIZATION } from '../messages.ts';
import { mutated, mutatedParts } from '../mutations.ts';
import { ANSWER_MS, atMost, freshConversation, type Target } from '../target.ts';

const [CALLER_INPUT, LIST] = [Buffer.of(0), Buffer.of(1)];
/** What a stream is given after its last message before it is cancelled, ms: it need not end. */
const PATIENCE_MS = 400;
/** gRPC status that says that the server is to blame. */
const OUR_FAULT = new Set(['2', '12', '13', '15']);

export function protobuf(profile: PlatformProfile, target?: Target): Area {
  const { media } = loadContract(profile);
  const { ProcessCallerInput, ListVirtualAgents } = media.definition;
  const [decode, decodeList] = [orUndecodable(ProcessCallerInput.requestDeserialize), orUndecodable(ListVirtualAgents.requestDeserialize)];
  const messages = messagesOf(profile);
  const list = ListVirtualAgents.requestSerialize({ customer_org_id: ORGANIZATION });
  const read = (input: Buffer): Promise<Reaction> =>
    reactionOf(
      () => {
        const kinds = framesOf(input.subarray(1)).map((message) => {
          if (input[0] === LIST[0]) return typeof decodeList(message);
          const request = decode(message);
          if (request === UNDECODABLE) return 'undecodable';
          callFromWire(request);
          return inputFromWire(request)?.kind ?? 'later';
        });
        return [...new Set(kinds)].sort().join(' ');
      },
      (thrown) => (thrown instanceof AppError ? `${thrown.code} ${thrown.message}` : undefined),
    );
  return {
    name: 'protobuf',
    seeds: [
      Buffer.concat([CALLER_INPUT, ...messages.map(framed)]),
      ...messages.map((message) => Buffer.concat([CALLER_INPUT, framed(message)])),
      Buffer.concat([LIST, framed(list)]),
    ],
    mutate: (input, random, other) => {
      if (random() < 0.1) return mutated(input, random, other);
      const change = (part: Buffer): Buffer => mutated(part, random, drawnFrom(other, random));
      const parts = mutatedParts(framesOf(input.subarray(1)), random, framesOf(other.subarray(1)), change);
      return Buffer.concat([input.subarray(0, 1), ...parts.map(framed)]);
    },
    read,
    ...(target !== undefined && { send: sender(target, media.processCallerInputPath, media.listVirtualAgentsPath), lanes: 16 }),
  };
}

function drawnFrom(input: Buffer, random: () => number): Buffer {
  const frames = framesOf(input.subarray(1));
  return frames[Math.floor(random() * frames.length)] ?? input;
}

/** Whole messages; a rest without one is left out. */
function framesOf(stream: Buffer): readonly Buffer[] {
  try {
    return new FrameReader().read(stream);
  } catch {
    return [];
  }
}

/** Streams share a connection, as those of the platform do. */
function sender(target: Target, callerInput: string, list: string): (input: Buffer) => Promise<Reaction> {
  let shared: ClientHttp2Session | undefined;
  const session = (): ClientHttp2Session => {
    if (shared === undefined || shared.destroyed || shared.closed) {
      shared = http2.connect(target.url, { ca: target.certificatePem }).on('error', () => undefined);
      shared.unref();
    }
    return shared;
  };
  return async (input) => {
    const path = input[0] === LIST[0] ? list : callerInput;
    const head = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', authorization: target.token };
    const stream = session().request(head);
    const status = new Promise<string>((resolve) => {
      const readStatus = (headers: http2.IncomingHttpHeaders): void => {
        const code = headers['grpc-status'];
        if (code !== undefined) resolve(String(code));
      };
      stream.on('response', readStatus).on('trailers', readStatus);
      stream
        .on('error', () => undefined)
        .once('close', () => {
          resolve(`closed ${String(stream.rstCode)}`);
        });
    });
    let bytes = 0;
    stream.on('data', (chunk: Buffer) => (bytes += chunk.length));
    stream.end(freshConversation(input.subarray(1), CONVERSATION));
    const ended = (await atMost(status, PATIENCE_MS)) ?? (bytes > 0 ? 'answering' : await atMost(status, ANSWER_MS));
    stream.close();
    if (ended === undefined) return bytes > 0 ? { outcome: 'answering late' } : { outcome: 'silent', wrong: 'a stream had no answer' };
    return { outcome: ended, ...(OUR_FAULT.has(ended) && { wrong: `a stream ended with status ${ended}` }) };
  };
}
