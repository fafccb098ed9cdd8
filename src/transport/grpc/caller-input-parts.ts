// What the RPC of a turn is made of.
import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { EncodedResponse, MediaRequest } from '../../contract/grpc.ts';
import type { Admission } from '../../session/admission.ts';
import type { Sessions } from '../../session/sessions.ts';
import type { Relays } from '../forward/relays.ts';
import type { Gate } from '../gate.ts';
import type { CallHomes } from '../homes.ts';
import type { Refusals } from '../refused.ts';
import type { CallMetadata } from './call-metadata.ts';
import type { StreamCheck } from './stream-check.ts';
import type { ToWire } from './to-wire.ts';
import type { UNDECODABLE } from './undecodable.ts';

/** The RPC as grpc-js gives it: messages as they came, because most of them need no decoding. */
export type CallerCall = ServerDuplexStream<Buffer, EncodedResponse>;

/** What the RPC is made of. */
export interface CallerInputParts {
  readonly decode: (bytes: Buffer) => MediaRequest | typeof UNDECODABLE;
  readonly toWire: ToWire;
  /** Most bytes that may wait for the client to read them (G-91). */
  readonly maxQueuedBytes: number;
  /** Name prompt texts in the trailers; for tests only. */
  readonly isRevealingText: boolean;
  readonly gate: Gate;
  readonly tokens: StreamCheck;
  readonly sessions: Sessions;
  /** Where calls live. */
  readonly homes: CallHomes;
  /** Forward what lives elsewhere; undefined on the peer port, where nothing is forwarded again, and on a server that is alone. */
  readonly relays?: Relays | undefined;
  /** On the peer port: the instance that a forwarded turn must mean. */
  readonly instanceId?: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metadata: CallMetadata;
  /** Longest wait for the first message, ms. */
  readonly firstMessageTimeoutMs: number;
  /** Counts streams. */
  readonly admission: Admission;
  readonly refusals: Refusals;
}
