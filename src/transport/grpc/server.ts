// The media server: puts the services of the contract behind the door, each behind the gate, and stops them in order.
import {
  Server,
  ServerCredentials,
  type Metadata,
  type ServiceDefinition,
  type UntypedHandleCall,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { ReflectionService } from '@grpc/reflection';
import type { Clock } from '../../base/clock.ts';
import { toAppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Catalog } from '../../bot/catalog.ts';
import type { Contract } from '../../contract/grpc.ts';
import type { Sessions } from '../../session/sessions.ts';
import type { Gate } from '../gate.ts';
import { CallMetadata } from './call-metadata.ts';
import { openDoor, type DoorOptions } from './door.ts';
import { Health } from './health.ts';
import { createListVirtualAgents } from './list-virtual-agents.ts';
import { createProcessCallerInput, UNDECODABLE } from './process-caller-input.ts';
import { grpcStatus } from './status.ts';
import { ToWire } from './to-wire.ts';

/** Limits and switches of the media server; times are ms. */
export interface MediaServerSettings extends Pick<DoorOptions, 'host' | 'port' | 'security' | 'maxConnections' | 'handshakeTimeoutMs'> {
  /** Largest message read. */
  readonly maxMessageBytes: number;
  readonly maxStreamsPerConnection: number;
  readonly keepaliveMs: number;
  readonly keepaliveTimeoutMs: number;
  readonly firstMessageTimeoutMs: number;
  readonly maxOpenTurns: number;
  /** Serve the description of the services to whoever has a token. */
  readonly hasReflection: boolean;
  /** Name prompt texts in response trailers; for tests only. */
  readonly isRevealingText: boolean;
}

/** What the media server is made of. */
export interface MediaServerParts {
  readonly settings: MediaServerSettings;
  readonly contract: Contract;
  readonly gate: Gate;
  readonly sessions: Sessions;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly log: Logger;
  /** Metadata keys of the platform profile. */
  readonly metadataKeys: { readonly authorization: string; readonly trackingId: string };
}

/** A running media server. */
export interface MediaServer {
  readonly address: string;
  readonly port: number;
  /** Changes what both health services say. */
  setServing(isServing: boolean): void;
  /** Takes no more connections and lets open RPCs finish until `limitMs`; then cuts them. */
  close(limitMs: number): Promise<void>;
}

/** Starts the media server. @throws AppError `certificate_invalid` or `listen_failed`. */
export async function startMediaServer(parts: MediaServerParts): Promise<MediaServer> {
  const { settings, contract, gate, log } = parts;
  const metadata = new CallMetadata(parts.metadataKeys);
  const health = new Health([contract.media.serviceName]);
  const server = new Server(channelOptions(settings));
  const gated = (definition: ServiceDefinition, handlers: UntypedServiceImplementation): UntypedServiceImplementation =>
    Object.fromEntries(
      Object.entries(handlers).map(([name, handler]) => [
        name,
        isOpenToAll(definition, name) ? handler : behindGate(handler, gate, metadata),
      ]),
    );
  // Third-party services add themselves; through this they are gated like our own (G-04).
  const gatedServer = {
    addService: (definition: ServiceDefinition, handlers: UntypedServiceImplementation): void => {
      server.addService(definition, gated(definition, handlers));
    },
  };

  const { ProcessCallerInput, ListVirtualAgents } = contract.media.definition;
  server.addService(
    {
      ProcessCallerInput: { ...ProcessCallerInput, requestDeserialize: orUndecodable(ProcessCallerInput.requestDeserialize) },
      ListVirtualAgents: { ...ListVirtualAgents, requestDeserialize: orUndecodable(ListVirtualAgents.requestDeserialize) },
    },
    {
      ProcessCallerInput: createProcessCallerInput({
        gate,
        sessions: parts.sessions,
        toWire: new ToWire(contract),
        clock: parts.clock,
        log,
        metadata,
        firstMessageTimeoutMs: settings.firstMessageTimeoutMs,
        maxOpenTurns: settings.maxOpenTurns,
        isRevealingText: settings.isRevealingText,
      }),
      ListVirtualAgents: createListVirtualAgents({ gate, catalog: parts.catalog, metadata, log }),
    },
  );
  gatedServer.addService(contract.health.definition, health.platform);
  health.standard.addToServer(gatedServer);
  if (settings.hasReflection) new ReflectionService(contract.packageDefinition).addToServer(gatedServer);

  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const door = await openDoor({
    ...settings,
    log,
    onConnection: (connection) => {
      injector.injectConnection(connection);
    },
  });
  return {
    address: door.address,
    port: door.port,
    setServing: (isServing) => {
      health.setServing(isServing);
    },
    close: async (limitMs) => {
      health.close();
      door.stopListening();
      const finished = new Promise<void>((resolve) => {
        server.tryShutdown(() => {
          resolve();
        });
      });
      const cancelCut = parts.clock.after(limitMs, () => {
        server.forceShutdown();
      });
      await finished;
      cancelCut();
      await door.close();
    },
  };
}

function channelOptions(settings: MediaServerSettings): Record<string, number> {
  return {
    'grpc.max_receive_message_length': settings.maxMessageBytes,
    'grpc.max_concurrent_streams': settings.maxStreamsPerConnection,
    'grpc.keepalive_time_ms': settings.keepaliveMs,
    'grpc.keepalive_timeout_ms': settings.keepaliveTimeoutMs,
    // Bookkeeping for a debugging service we do not offer; it costs per message.
    'grpc.enable_channelz': 0,
  };
}

// G-04: only the unary health check may skip the token.
function isOpenToAll(definition: ServiceDefinition, name: string): boolean {
  const method = definition[name] ?? Object.values(definition).find(({ originalName }) => originalName === name);
  return method?.path.endsWith('.Health/Check') ?? false;
}

/** What the gate needs of any kind of call. */
interface AnyCall {
  readonly metadata: Metadata;
  emit(event: 'error', error: Error): boolean;
}

function behindGate(handler: UntypedHandleCall, gate: Gate, metadata: CallMetadata): UntypedHandleCall {
  // The handler keeps its own parameter types; the gate only delays the call to it.
  const run = handler as (call: AnyCall, ...rest: unknown[]) => void;
  const gated = async (call: AnyCall, rest: unknown[]): Promise<void> => {
    try {
      await gate.admit(metadata.authorization(call.metadata));
    } catch (thrown) {
      const refusal = grpcStatus(toAppError(thrown));
      // A unary call ends through its callback, every other kind through its stream.
      const [callback] = rest;
      if (isCallback(callback)) callback(refusal);
      else call.emit('error', refusal);
      return;
    }
    run(call, ...rest);
  };
  return ((call: AnyCall, ...rest: unknown[]) => {
    void gated(call, rest);
  }) as UntypedHandleCall;
}

function isCallback(value: unknown): value is (error: Error) => void {
  return typeof value === 'function';
}

function orUndecodable<T>(decode: (bytes: Buffer) => T): (bytes: Buffer) => T | typeof UNDECODABLE {
  return (bytes) => {
    try {
      return decode(bytes);
    } catch {
      return UNDECODABLE;
    }
  };
}
