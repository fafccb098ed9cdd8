// The one question between instances beside forwarded turns: does this call live with you?
import { constants } from 'node:http2';
import type { MethodDefinition, sendUnaryData, ServerUnaryCall, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import type { Clock } from '../../base/clock.ts';
import type { Peer } from '../../dialog/home.ts';
import type { CallHomes } from '../homes.ts';
import { framed, FrameReader } from './frames.ts';
import { addressedTo, notMine, readForwarded } from './headers.ts';
import { LinkFailure, type Links } from './links.ts';

const PATH = '/parley.peer.v1.Peer/Has';
/** Longest wait for an answer, ms; whoever asks waits less. */
const ANSWER_LIMIT_MS = 1000;
const YES = Buffer.from([1]);
const NO = Buffer.from([0]);

/** An RPC of peers: its messages stay bytes. @param isStream - in both directions; else one message each. */
export function bytesMethod(path: string, isStream: boolean): MethodDefinition<Buffer, Buffer> {
  const asIs = (bytes: Buffer): Buffer => bytes;
  return {
    ...{ path, requestStream: isStream, responseStream: isStream },
    ...{ requestSerialize: asIs, requestDeserialize: asIs, responseSerialize: asIs, responseDeserialize: asIs },
  };
}

/** The answering side, for a server of gRPC. */
export function probeService(
  instanceId: string,
  homes: Pick<CallHomes, 'has'>,
): { readonly definition: ServiceDefinition; readonly handlers: UntypedServiceImplementation } {
  const Has = ({ metadata, request }: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>): void => {
    if (readForwarded(metadata, instanceId) === undefined) answer(notMine());
    else answer(null, homes.has(request.toString()) ? YES : NO);
  };
  return { definition: { Has: bytesMethod(PATH, false) }, handlers: { Has } };
}

/**
 * Asks an instance whether a call lives there.
 *
 * @param callId - of `callId` in dialog.
 * @throws LinkFailure when there is no answer, or not from the process that is meant.
 */
export async function probe(links: Links, peer: Peer, callId: string, clock: Clock): Promise<boolean> {
  const stream = await links.open(peer, { ':path': PATH, ...addressedTo(peer.id) });
  return new Promise((resolve, reject) => {
    const frames = new FrameReader();
    const cancelTimer = clock.after(ANSWER_LIMIT_MS, () => {
      stream.close(constants.NGHTTP2_CANCEL);
    });
    stream.on('error', () => undefined);
    stream.on('data', (chunk: Buffer) => {
      const [answer] = frames.read(chunk);
      if (answer !== undefined) resolve(answer.equals(YES));
    });
    stream.once('close', () => {
      cancelTimer();
      reject(new LinkFailure('broken', 'a peer did not say whether a call lives there'));
    });
    stream.end(framed(Buffer.from(callId)));
  });
}
