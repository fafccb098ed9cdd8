// RPCs with one request, served as streams: the token is checked before the request is read (G-02), and the wait for
// the request is limited. For a unary RPC grpc-js would wait for ever.
import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { Clock } from '../../base/clock.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import { settle } from '../../base/settle.ts';
import type { Visitor } from '../gate.ts';
import type { CallMetadata } from './call-metadata.ts';
import type { RefusedWhat, Refusals } from '../refused.ts';
import { grpcStatus } from './status.ts';
import type { StreamCheck } from './stream-check.ts';
import { orUndecodable, UNDECODABLE } from './undecodable.ts';

export interface OneRequestParts {
  readonly metadata: CallMetadata;
  readonly clock: Clock;
  readonly refusals: Refusals;
  /** Longest wait for the request, the token check included, ms. */
  readonly limitMs: number;
}

export interface OneRequestOptions<Request, Response> {
  /** Undefined: no token is needed (G-04). */
  readonly tokens: StreamCheck | undefined;
  /** The beginning of log messages. */
  readonly what: RefusedWhat;
  /** Answers the RPC and ends it, now or later. A thrown error ends the RPC with the status of this error. */
  readonly answer: (request: Request, call: AnsweringCall<Response>, visitor: Visitor) => void;
}

/** The RPC as `answer` gets it. `cancelled` is emitted when the RPC has ended for any reason. */
export type AnsweringCall<Response> = Pick<ServerDuplexStream<unknown, Response>, 'write' | 'end' | 'on' | 'emit' | 'getPeer'>;

type Call<Request, Response> = ServerDuplexStream<Request | typeof UNDECODABLE, Response>;

/** The handler of an RPC with one request; its definition must come from {@link asStream}. */
export function createOneRequest<Request, Response>(
  { metadata, clock, refusals, limitMs }: OneRequestParts,
  { tokens, what, answer }: OneRequestOptions<Request, Response>,
): (call: Call<Request, Response>) => void {
  return (call) => {
    let isWaiting = true;
    const stopWaiting = (): boolean => {
      if (!isWaiting) return false;
      isWaiting = false;
      cancelTimer();
      call.off('data', received);
      call.off('end', ended);
      // Reads and drops further messages.
      call.resume();
      return true;
    };
    const refuse = (thrown: unknown): void => {
      const error = toAppError(thrown);
      refusals.write(what, error, { trackingId: metadata.trackingId(call.metadata) }, tokens === undefined);
      refusals.count(error);
      call.emit('error', grpcStatus(error));
    };
    const giveUp = (thrown: unknown): void => {
      if (stopWaiting()) refuse(thrown);
    };
    const cancelTimer = clock.after(limitMs, () => {
      giveUp(new AppError('turn_timeout', 'the stream was opened and no message came'));
    });
    let visitor: Visitor = { kind: 'unchecked' };
    const received = (message: Request | typeof UNDECODABLE): void => {
      if (!stopWaiting()) return;
      try {
        if (message === UNDECODABLE) throw new AppError('bad_message', 'the message could not be decoded');
        answer(message, call, visitor);
      } catch (thrown) {
        refuse(thrown);
      }
    };
    const ended = (): void => {
      giveUp(new AppError('bad_message', 'the stream ended without a message'));
    };
    const read = (checked: Visitor): void => {
      if (!isWaiting) return;
      visitor = checked;
      call.on('data', received);
      call.on('end', ended);
    };
    call.on('cancelled', stopWaiting);
    // Without a listener an error of the connection would end the process.
    call.on('error', stopWaiting);
    settle(() => (tokens === undefined ? visitor : tokens.check(call)), read, giveUp);
  };
}

/** The definition of such an RPC as a bidirectional stream, whose bytes on the wire are the same. */
export function asStream<Rpc extends { readonly requestDeserialize: (bytes: Buffer) => unknown }>(
  rpc: Rpc,
): Rpc & { requestStream: true; responseStream: true } {
  return { ...rpc, requestStream: true, responseStream: true, requestDeserialize: orUndecodable(rpc.requestDeserialize) };
}
