// The two other RPCs between instances: whether a call lives there, and the report of a delivered reply.
import { constants } from 'node:http2';
import type { MethodDefinition, sendUnaryData, ServerUnaryCall, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import type { Clock } from '../../base/clock.ts';
import type { Peer } from '../../dialog/home.ts';
import type { CallHomes } from '../homes.ts';
import type { Deliveries } from './deliveries.ts';
import { framed, FrameReader } from './frames.ts';
import { addressedTo, notMine, readForwarded } from './headers.ts';
import { LinkFailure, type Links } from './links.ts';

const HAS = '/parley.peer.v1.Peer/Has';
const DELIVERED = '/parley.peer.v1.Peer/Delivered';
/** Longest wait for an answer, ms. */
const ANSWER_LIMIT_MS = 1000;
const YES = Buffer.from([1]);
const NO = Buffer.from([0]);
const NOTHING = Buffer.alloc(0);

/** An RPC between peers whose messages stay bytes. @param isStream - bidirectional streaming; else unary. */
export function bytesMethod(path: string, isStream: boolean): MethodDefinition<Buffer, Buffer> {
  const asIs = (bytes: Buffer): Buffer => bytes;
  return {
    path,
    requestStream: isStream,
    responseStream: isStream,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  };
}

/** The server side. */
export function peerService(
  instanceId: string,
  homes: Pick<CallHomes, 'has'>,
  deliveries: Pick<Deliveries, 'delivered'>,
): { readonly definition: ServiceDefinition; readonly handlers: UntypedServiceImplementation } {
  const Has = ({ metadata, request }: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>): void => {
    if (readForwarded(metadata, instanceId) === undefined) answer(notMine());
    else answer(null, homes.has(request.toString()) ? YES : NO);
  };
  const Delivered = ({ metadata, request }: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>): void => {
    if (readForwarded(metadata, instanceId) !== undefined) deliveries.delivered(request.toString());
    answer(null, NOTHING);
  };
  return {
    definition: { Has: bytesMethod(HAS, false), Delivered: bytesMethod(DELIVERED, false) },
    handlers: { Has, Delivered },
  };
}

/**
 * Asks an instance whether a call lives there.
 *
 * @param callId - of `callId` in dialog.
 * @throws LinkFailure when there is no answer, or another process answers.
 */
export async function probe(links: Links, peer: Peer, callId: string, clock: Clock): Promise<boolean> {
  const stream = await links.open(peer, { ':path': HAS, ...addressedTo(peer.id) });
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
      reject(new LinkFailure('broken', 'a peer did not answer whether a call lives there'));
    });
    stream.end(framed(Buffer.from(callId)));
  });
}

/**
 * Reports a delivered reply to the home of its turn. Resolves when the home has answered or cannot be reached, after
 * a second at most. Never rejects.
 */
export async function reportDelivery(links: Links, home: Peer, turnId: string, clock: Clock): Promise<void> {
  const stream = await links.open(home, { ':path': DELIVERED, ...addressedTo(home.id) }).catch(() => undefined);
  if (stream === undefined) return;
  await new Promise<void>((resolve) => {
    const cancelTimer = clock.after(ANSWER_LIMIT_MS, () => {
      stream.close(constants.NGHTTP2_CANCEL);
    });
    stream.on('error', () => undefined);
    stream.once('close', () => {
      cancelTimer();
      resolve();
    });
    stream.resume();
    stream.end(framed(Buffer.from(turnId)));
  });
}
