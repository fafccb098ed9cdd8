// The media server: opens the port, serves the services of the contract, checks every token, and shuts down in order.
import {
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type UntypedHandleCall,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { Clock } from '../../base/clock.ts';
import { toAppError, type ErrorCode } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { ConnectionLimits } from '../../base/open-connections.ts';
import type { CatalogSource } from '../../bot/catalog.ts';
import type { Contract } from '../../contract/grpc.ts';
import type { Admission } from '../../session/admission.ts';
import type { Sessions } from '../../session/sessions.ts';
import type { Gate } from '../gate.ts';
import type { PeerPort } from '../forward/peer-port.ts';
import type { Relays } from '../forward/relays.ts';
import { SOLE_HOME, type CallHomes } from '../homes.ts';
import { CallMetadata } from './call-metadata.ts';
import { openSocketListener, type SocketListener, type SocketListenerOptions } from '../socket-listener.ts';
import { Health } from './health.ts';
import { routeLibraryLog } from './library-log.ts';
import { listVirtualAgents } from './list-virtual-agents.ts';
import { asStream, createOneRequest } from './one-request.ts';
import { asBytes } from './message-batch.ts';
import { createProcessCallerInput } from './process-caller-input.ts';
import { Refusals } from '../refused.ts';
import { grpcStatus } from './status.ts';
import { StreamCheck, type CheckedCall } from './stream-check.ts';
import { ToWire } from './to-wire.ts';
import { orUndecodable } from './undecodable.ts';

/** Limits and switches of the media server; times are ms. */
export interface MediaServerSettings
  extends Pick<SocketListenerOptions, 'host' | 'port' | 'security' | 'handshakeTimeoutMs'>, ConnectionLimits {
  /** Largest message read. */
  readonly maxMessageBytes: number;
  readonly maxStreamsPerConnection: number;
  /** A connection without a stream is closed after this long. */
  readonly maxConnectionIdleMs: number;
  readonly keepaliveMs: number;
  readonly keepaliveTimeoutMs: number;
  readonly firstMessageTimeoutMs: number;
  /** Most bytes that may wait on one stream for its client to read (G-91). */
  readonly maxQueuedBytes: number;
  /** Whether server reflection is offered to clients with a token. */
  readonly hasReflection: boolean;
  /** Whether trailers name the prompt texts; for tests only. */
  readonly isRevealingText: boolean;
}

export interface MediaServerParts {
  readonly settings: MediaServerSettings;
  readonly contract: Contract;
  readonly gate: Gate;
  readonly sessions: Sessions;
  /** Default: all calls live in this process. */
  readonly homes?: CallHomes;
  /** Connections to and from other instances, if there are any. The calling code closes them. */
  readonly peers?: Peers | undefined;
  readonly catalog: CatalogSource;
  readonly clock: Clock;
  readonly log: Logger;
  /** Metadata keys of the platform profile. */
  readonly metadataKeys: { readonly authorization: string; readonly trackingId: string };
  readonly admission: Admission;
  readonly mayTake: SocketListenerOptions['mayTake'];
  /** Counts RPCs that ended with an error. */
  readonly onRefused: (code: ErrorCode) => void;
}

/** The connections from and to other instances. */
export interface Peers {
  readonly port: PeerPort;
  readonly relays: Relays;
}

/** A running media server. */
export interface MediaServer {
  readonly address: string;
  readonly port: number;
  /** Changes the state of both health services. */
  setServing(isServing: boolean): void;
  /**
   * Sends GOAWAY, so that clients open further RPCs on new connections. Open RPCs go on; new connections are still
   * accepted.
   */
  goAway(): void;
  /** Accepts no more connections; open ones go on and may open RPCs. */
  stopListening(): void;
  /** Accepts no more connections, lets open RPCs finish until `limitMs`, then cuts them. */
  close(limitMs: number): Promise<void>;
}

/** Longest delay of a timer, ms: only `close` cuts connections. */
const NEVER_MS = 2 ** 31 - 1;

const NOTHING = (): void => undefined;

/** Starts the media server. @throws AppError `listen_failed`. */
export async function startMediaServer(parts: MediaServerParts): Promise<MediaServer> {
  const { settings, contract, gate, clock, log } = parts;
  routeLibraryLog(log, clock);
  const metadata = new CallMetadata(parts.metadataKeys);
  const refusals = new Refusals(log, clock, parts.onRefused);
  // The port opens last, when everything else is ready.
  const opened: { listener?: SocketListener } = {};
  const tokens = new StreamCheck(gate, metadata, {
    began: (peer) => opened.listener?.began(peer) ?? NOTHING,
    verified: (peer) => {
      opened.listener?.verified(peer);
    },
  });
  const oneRequest = { metadata, clock, refusals, limitMs: settings.firstMessageTimeoutMs };
  const health = new Health([contract.media.serviceName], tokens, oneRequest);
  // G-01: grpc-js answers every path that is not added below with UNIMPLEMENTED.
  const server = new Server(channelOptions(settings));

  const { ProcessCallerInput, ListVirtualAgents } = contract.media.definition;
  const { homes = SOLE_HOME, peers } = parts;
  const callerInput = {
    decode: orUndecodable(ProcessCallerInput.requestDeserialize),
    ...{ gate, tokens, homes, clock, log, metadata, refusals, sessions: parts.sessions, admission: parts.admission },
    toWire: new ToWire(contract),
    firstMessageTimeoutMs: settings.firstMessageTimeoutMs,
    maxQueuedBytes: settings.maxQueuedBytes,
    isRevealingText: settings.isRevealingText,
  };
  server.addService(
    { ProcessCallerInput: { ...ProcessCallerInput, requestDeserialize: asBytes }, ListVirtualAgents: asStream(ListVirtualAgents) },
    {
      ProcessCallerInput: createProcessCallerInput({ ...callerInput, relays: peers?.relays }),
      ListVirtualAgents: createOneRequest(oneRequest, listVirtualAgents(tokens, gate, parts.catalog)),
    },
  );
  if (peers !== undefined) {
    const { instanceId } = peers.port;
    // The connection is authenticated; the token of each turn is still checked.
    const peerTokens = new StreamCheck(gate, metadata, { began: () => NOTHING, verified: NOTHING });
    const turns = createProcessCallerInput({ ...callerInput, tokens: peerTokens, instanceId });
    peers.port.serve(contract.media.processCallerInputPath, turns, homes);
  }
  for (const { definition, handlers } of [health.standard(), health.platform(contract.health)]) {
    server.addService(definition, handlers);
  }
  if (settings.hasReflection) {
    const { ReflectionService } = await import('@grpc/reflection');
    // The library adds the reflection service itself; this wrapper puts the gate before it (G-04).
    new ReflectionService(contract.packageDefinition).addToServer({
      addService: (definition: ServiceDefinition, handlers: UntypedServiceImplementation) => {
        const gated = Object.entries(handlers).map(([name, handler]) => [name, behindGate(handler, tokens, metadata, refusals)] as const);
        server.addService(definition, Object.fromEntries(gated));
      },
    });
  }

  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const listener = (opened.listener = await openSocketListener({
    ...settings,
    name: 'media server',
    protocols: ['h2'],
    mayTake: parts.mayTake,
    clock,
    log,
    onConnection: (connection) => {
      injector.injectConnection(connection);
    },
  }));
  return {
    address: listener.address,
    port: listener.port,
    setServing: (isServing) => {
      health.setServing(isServing);
    },
    goAway: () => {
      injector.drain(NEVER_MS);
    },
    stopListening: () => {
      listener.stopListening();
    },
    close: async (limitMs) => {
      health.close();
      listener.stopListening();
      const finished = new Promise<void>((resolve) => {
        server.tryShutdown(() => {
          resolve();
        });
      });
      // Not `forceShutdown`: with channelz off, grpc-js 1.14 does not know the connections that it should cut.
      const cancelCut = clock.after(limitMs, () => {
        listener.cut();
      });
      await finished;
      // From Node 24, grpc-js calls back while streams are still open, so the socket listener waits for the last one.
      await listener.close();
      cancelCut();
    },
  };
}

function channelOptions(settings: MediaServerSettings): Record<string, number> {
  return {
    'grpc.max_receive_message_length': settings.maxMessageBytes,
    'grpc.max_concurrent_streams': settings.maxStreamsPerConnection,
    'grpc.max_connection_idle_ms': settings.maxConnectionIdleMs,
    'grpc.keepalive_time_ms': settings.keepaliveMs,
    'grpc.keepalive_timeout_ms': settings.keepaliveTimeoutMs,
    // channelz costs time per message and is not offered.
    'grpc.enable_channelz': 0,
  };
}

interface AnyStream extends CheckedCall {
  emit(event: 'error', error: Error): boolean;
}

function behindGate(handler: UntypedHandleCall, tokens: StreamCheck, metadata: CallMetadata, refusals: Refusals): UntypedHandleCall {
  // The gate only delays the handler, which keeps its own parameter types.
  const run = handler as (call: AnyStream) => void;
  const gated = async (call: AnyStream): Promise<void> => {
    try {
      await tokens.check(call);
    } catch (thrown) {
      const error = toAppError(thrown);
      refusals.write('a reflection request', error, { trackingId: metadata.trackingId(call.metadata) });
      refusals.count(error);
      call.emit('error', grpcStatus(error));
      return;
    }
    run(call);
  };
  return ((call: AnyStream) => {
    void gated(call);
  }) as UntypedHandleCall;
}
