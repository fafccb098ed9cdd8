// The other RPCs between instances: whether a call lives at an instance, the report of a delivered reply, and questions of operators.
import { constants } from 'node:http2';
import {
  status,
  type MethodDefinition,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { Clock } from '../../base/clock.ts';
import type { Peer } from '../../dialog/home.ts';
import type { CallHomes } from '../homes.ts';
import type { Deliveries } from './deliveries.ts';
import { framed, FrameReader } from './frames.ts';
import { addressedTo, notMine, readForwarded } from './headers.ts';
import { LinkFailure, type Links } from './links.ts';

const HAS = '/parley.peer.v1.Peer/Has';
const DELIVERED = '/parley.peer.v1.Peer/Delivered';
const ASK = '/parley.peer.v1.Peer/Ask';
/** Longest wait for an answer, ms. */
const ANSWER_LIMIT_MS = 1000;
/** Longest wait for the answer to an operator's question, ms: shorter than a worker's answer to its primary may take. */
const QUESTION_LIMIT_MS = 1500;

/** Answers a question of an operator. Question and answer are JSON. May reject. */
export type AnswerQuestion = (question: string) => Promise<string>;
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
  answerQuestion: AnswerQuestion,
): { readonly definition: ServiceDefinition; readonly handlers: UntypedServiceImplementation } {
  const Has = ({ metadata, request }: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>): void => {
    if (readForwarded(metadata, instanceId) === undefined) answer(notMine());
    else answer(null, homes.has(request.toString()) ? YES : NO);
  };
  const Delivered = ({ metadata, request }: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>): void => {
    if (readForwarded(metadata, instanceId) !== undefined) deliveries.delivered(request.toString());
    answer(null, NOTHING);
  };
  const Ask = ({ metadata, request }: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>): void => {
    if (readForwarded(metadata, instanceId) === undefined) {
      answer(notMine());
      return;
    }
    answerQuestion(request.toString()).then(
      (text) => {
        answer(null, Buffer.from(text));
      },
      () => {
        answer({ code: status.UNAVAILABLE, details: 'the question cannot be answered' });
      },
    );
  };
  return {
    definition: { Has: bytesMethod(HAS, false), Delivered: bytesMethod(DELIVERED, false), Ask: bytesMethod(ASK, false) },
    handlers: { Has, Delivered, Ask },
  };
}

/**
 * Asks an instance whether a call lives at it.
 *
 * @param callId - made by `callId` in dialog.
 * @throws LinkFailure when there is no answer, or another process answers.
 */
export async function probe(links: Links, peer: Peer, callId: string, clock: Clock): Promise<boolean> {
  return (await request(links, peer, { path: HAS, body: callId, limitMs: ANSWER_LIMIT_MS }, clock)).equals(YES);
}

/** Asks an instance a question of an operator. @throws LinkFailure as {@link probe}. */
export async function askPeer(links: Links, peer: Peer, question: string, clock: Clock): Promise<string> {
  return (await request(links, peer, { path: ASK, body: question, limitMs: QUESTION_LIMIT_MS }, clock)).toString();
}

async function request(
  links: Links,
  peer: Peer,
  { path, body, limitMs }: { readonly path: string; readonly body: string; readonly limitMs: number },
  clock: Clock,
): Promise<Buffer> {
  const stream = await links.open(peer, { ':path': path, ...addressedTo(peer.id) });
  return new Promise((resolve, reject) => {
    const frames = new FrameReader();
    const cancelTimer = clock.after(limitMs, () => {
      stream.close(constants.NGHTTP2_CANCEL);
    });
    stream.on('error', () => undefined);
    stream.on('data', (chunk: Buffer) => {
      const [answer] = frames.read(chunk);
      if (answer !== undefined) resolve(answer);
    });
    stream.once('close', () => {
      cancelTimer();
      reject(new LinkFailure('broken', 'a peer did not answer'));
    });
    stream.end(framed(Buffer.from(body)));
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
