// The gRPC client side of the platform: dials a server, opens one RPC per turn, and turns everything that can go wrong
// into a named failure. Knows no turn grammar: what is sent when is the caller's business.
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import {
  Client,
  Metadata,
  connectivityState,
  credentials,
  status,
  type ChannelCredentials,
  type ClientOptions,
  type StatusObject,
} from '@grpc/grpc-js';
import type { Clock } from '../base/clock.ts';
import { loadContract, type Contract, type ListAgentsResponse, type MediaRequest, type MediaResponse } from '../contract/grpc.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import { failureOf, type Failure } from './failure.ts';
import { answerFromWire } from './from-wire.ts';
import type { Line, LineEnd, LineTurn, TurnListener } from './line.ts';
import { requestMaker, type CallIdentity } from './to-wire.ts';
import type { Target } from './target.ts';

/** How to reach a server and who to be there. */
export interface GrpcLineOptions {
  readonly target: Target;
  readonly profile: PlatformProfile;
  readonly clock: Clock;
  /** The data-source token; none sends no authorization. */
  readonly token?: string;
  /** Send `Bearer TOKEN` and not the token alone; both must be taken (G-03, U-02). Default false. */
  readonly bearer?: boolean;
  /** Correlation id of the connection. Default: the conversation id of the turn, none for listing agents. */
  readonly trackingId?: string;
  /** PEM of the only authorities trusted; default the authorities of Node. Checking cannot be switched off. */
  readonly certificateAuthority?: Uint8Array;
  /** Name the certificate must carry; default the target's host. */
  readonly serverName?: string;
  /** Longest wait for a connection, ms, counted from the making of the object. */
  readonly connectLimitMs: number;
}

/** One agent a server offers. */
export interface ListedAgent {
  readonly id: string;
  readonly name: string;
  readonly isDefault: boolean;
}

/** Key of the trailing metadata in which our own server names the text of an RPC's prompts, when a test setting allows. */
const PROMPT_TEXT_KEY = 'parley-prompt-text-bin';
/** Largest message taken: what the official gateway allows, 50 MB each way. */
const MAX_MESSAGE_BYTES = 50 * 1024 * 1024;

/** A connection to one server. `close` must be called. */
export class GrpcConnection {
  readonly #options: GrpcLineOptions;
  readonly #contract: Contract;
  readonly #client: Client;
  readonly #zeroMs: number;

  constructor(options: GrpcLineOptions) {
    const { host, port } = options.target;
    this.#options = options;
    this.#zeroMs = options.clock.monotonicMs();
    this.#contract = loadContract(options.profile);
    this.#client = new Client(
      `dns:${isIP(host) === 6 ? `[${host}]` : host}:${String(port)}`,
      channelCredentials(options),
      clientOptions(options),
    );
  }

  /**
   * Waits until the connection stands, so that no latency is measured from before. Also comes back when it cannot be
   * made or takes too long: the first RPC then says why.
   *
   * @param signal - stops the waiting.
   */
  connect(signal?: AbortSignal): Promise<void> {
    const channel = this.#client.getChannel();
    return new Promise((resolve) => {
      let isOver = false;
      const settle = (): void => {
        isOver = true;
        cancelTimer();
        signal?.removeEventListener('abort', settle);
        resolve();
      };
      const look = (): void => {
        if (isOver) return;
        const state = channel.getConnectivityState(true);
        const isSettled = state !== connectivityState.IDLE && state !== connectivityState.CONNECTING;
        if (isSettled) settle();
        else channel.watchConnectivityState(state, Infinity, look);
      };
      const cancelTimer = this.#options.clock.after(this.#options.connectLimitMs, settle);
      signal?.addEventListener('abort', settle, { once: true });
      if (signal?.aborted === true) settle();
      else look();
    });
  }

  /** The line of one call. */
  line(identity: CallIdentity): Line {
    const request = requestMaker(identity);
    return {
      open: (listener) => this.#open(listener, request, this.#metadata(identity.conversationId)),
      close: () => {
        this.close();
      },
    };
  }

  /**
   * Asks for the agents of an organization (G-05).
   *
   * @param limitMs - longest wait for the answer, ms.
   * @returns the agents, or why there is no answer.
   */
  listAgents(organizationId: string, limitMs: number): Promise<readonly ListedAgent[] | Failure> {
    const { path, requestSerialize, responseDeserialize } = this.#contract.media.definition.ListVirtualAgents;
    return new Promise((resolve) => {
      const stopWaiting: (() => void)[] = [];
      const settle = (result: readonly ListedAgent[] | Failure): void => {
        for (const stop of stopWaiting) stop();
        resolve(result);
      };
      const call = this.#client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        { customer_org_id: organizationId },
        this.#metadata(undefined),
        (error, response?: ListAgentsResponse) => {
          settle(error === null ? agentsOf(response) : failureOf(error));
        },
      );
      stopWaiting.push(
        this.#watchConnecting((failure) => {
          settle(failure);
          call.cancel();
        }),
        this.#options.clock.after(limitMs, () => {
          settle({ code: 'no_answer', message: `the server did not list its agents within ${String(limitMs)} ms` });
          call.cancel();
        }),
      );
    });
  }

  /** Closes the connection. Open RPCs must be cancelled before. */
  close(): void {
    this.#client.close();
  }

  #open(listener: TurnListener, request: ReturnType<typeof requestMaker>, metadata: Metadata): LineTurn {
    const { path, requestSerialize, responseDeserialize } = this.#contract.media.definition.ProcessCallerInput;
    const call = this.#client.makeBidiStreamRequest<MediaRequest, MediaResponse>(path, requestSerialize, responseDeserialize, metadata);
    let isOver = false;
    let halfClosed = false;
    const end = (how: LineEnd): void => {
      if (isOver) return;
      isOver = true;
      stopWatching();
      listener.ended(how);
    };
    const giveUp = (failure: Failure): void => {
      end({ kind: 'broken', failure });
      call.cancel();
    };
    const stopWatching = this.#watchConnecting(giveUp);
    call.on('data', (response: MediaResponse) => {
      if (isOver) return;
      try {
        listener.answered(answerFromWire(response));
      } catch (error) {
        giveUp({ code: 'garbage', message: `an answer cannot be read: ${error instanceof Error ? error.message : 'no reason given'}` });
      }
    });
    // The status follows and says the same; without a listener the error would end the process.
    call.on('error', () => undefined);
    call.on('status', (result: StatusObject) => {
      if (result.code === status.OK) end({ kind: 'completed', promptTexts: promptTexts(result.metadata) });
      else end({ kind: 'broken', failure: failureOf(result) });
    });
    return {
      send: (input) => {
        if (!isOver && !halfClosed) call.write(request(input));
      },
      halfClose: () => {
        if (isOver || halfClosed) return;
        halfClosed = true;
        call.end();
      },
      cancel: () => {
        if (!isOver) call.cancel();
      },
    };
  }

  /** Reports a connection that does not come about; the library itself would try for ever. */
  #watchConnecting(giveUp: (failure: Failure) => void): () => void {
    const { clock, connectLimitMs } = this.#options;
    const leftMs = connectLimitMs - (clock.monotonicMs() - this.#zeroMs);
    return clock.after(Math.max(0, leftMs), () => {
      if (this.#client.getChannel().getConnectivityState(false) === connectivityState.READY) return;
      giveUp({ code: 'connect_timeout', message: `no connection within ${String(connectLimitMs)} ms` });
    });
  }

  #metadata(conversationId: string | undefined): Metadata {
    const { token, bearer, trackingId = conversationId, profile } = this.#options;
    const metadata = new Metadata();
    if (token !== undefined) metadata.set(profile.metadata.authorization, bearer === true ? `Bearer ${token}` : token);
    if (trackingId !== undefined) metadata.set(profile.metadata.trackingId, trackingId);
    return metadata;
  }
}

function channelCredentials({ target, certificateAuthority, serverName }: GrpcLineOptions): ChannelCredentials {
  if (!target.isSecure) return credentials.createInsecure();
  const authority = certificateAuthority === undefined ? null : Buffer.from(certificateAuthority);
  const checked = serverName ?? target.host;
  return credentials.createSsl(authority, null, null, {
    checkServerIdentity: (_, certificate) => checkServerIdentity(checked, certificate),
  });
}

function clientOptions({ target, serverName }: GrpcLineOptions): ClientOptions {
  // Node 26 refuses an IP address as the name in the handshake, so a name that no certificate depends on stands there;
  // which name the certificate must carry is checked in channelCredentials.
  const handshakeName = serverName ?? (isIP(target.host) === 0 ? undefined : 'localhost');
  return {
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
    // A turn that is tried twice would hide a failure and count the caller's input double.
    'grpc.enable_retries': 0,
    'grpc.service_config_disable_resolution': 1,
    // The address given is the address dialled, whatever proxy the surroundings name.
    'grpc.enable_http_proxy': 0,
    // One connection per caller, never shared with another caller of this process.
    'grpc.use_local_subchannel_pool': 1,
    ...(handshakeName === undefined || isIP(handshakeName) !== 0 ? {} : { 'grpc.ssl_target_name_override': handshakeName }),
  };
}

function agentsOf(response: ListAgentsResponse | undefined): readonly ListedAgent[] {
  return (response?.virtual_agents ?? []).map((agent) => ({
    id: agent.virtual_agent_id ?? '',
    name: agent.virtual_agent_name ?? '',
    isDefault: agent.is_default ?? false,
  }));
}

function promptTexts(trailers: Metadata): readonly string[] {
  const value = trailers.get(PROMPT_TEXT_KEY)[0];
  if (value === undefined) return [];
  try {
    const list: unknown = JSON.parse(value.toString());
    return Array.isArray(list) ? list.filter((text): text is string => typeof text === 'string') : [];
  } catch {
    // A foreign server may use the key for something else; then there are no texts.
    return [];
  }
}
