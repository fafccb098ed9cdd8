// The gRPC client side of the platform: dials a server, opens one RPC per turn, and turns everything that can go wrong
// into a named failure. Knows no turn grammar: what is sent when is the caller's business.
import { Metadata, connectivityState, status, type Client, type StatusObject } from '@grpc/grpc-js';
import type { Clock } from '../../base/clock.ts';
import {
  loadContract,
  SERVING_STATUS,
  type Contract,
  type HealthResponse,
  type ListAgentsResponse,
  type MediaRequest,
  type MediaResponse,
} from '../../contract/grpc.ts';
import type { PlatformProfile } from '../../contract/profile.ts';
import type { Connection } from './connection.ts';
import { failureOf, type Failure } from './failure.ts';
import { answerFromWire } from './from-wire.ts';
import { openWatchedClient, type ChannelOptions } from './grpc-client.ts';
import type { Line, LineEnd, LineTurn, ListedAgent, TurnListener } from './line.ts';
import { APOLOGY_KEY, PROMPT_TEXT_KEY, readPromptTexts } from '../caller/prompt-texts.ts';
import { limitedWait, type Wait } from './limited-wait.ts';
import { ReadingGate } from './reading-gate.ts';
import { requestMaker, type CallIdentity } from './to-wire.ts';

/** How to reach a server and who to be there. */
export interface GrpcLineOptions extends ChannelOptions {
  readonly profile: PlatformProfile;
  readonly clock: Clock;
  /** The data-source token; none sends no authorization. */
  readonly token?: string;
  /** Send `Bearer TOKEN` and not the token alone; both must be taken (G-03, U-02). Default false. */
  readonly bearer?: boolean;
  /** Correlation id of the connection. Default: the conversation id of the turn, none for listing agents. */
  readonly trackingId?: string;
  /** Longest wait for a connection, ms: of `connect` and the first RPC behind it together, then of each RPC that finds none. */
  readonly connectLimitMs: number;
  /** Turns can stop reading ({@link LineTurn.pauseReading}), and the server feels it soon. Default false: it costs time. */
  readonly readsSlowly?: boolean;
}

/** What a server says of its health. */
export type HealthWord = 'serving' | 'not_serving' | 'unknown';

/** A method that answers once. */
interface OneAnswer<Request, Response> {
  readonly path: string;
  readonly requestSerialize: (request: Request) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

type Reader<Response, Answer> = (response: Response | undefined) => Answer;

/** Receive window of a platform that reads slowly, bytes: two seconds of µ-law, so that a server feels it within one prompt. */
const SMALL_WINDOW_BYTES = 16_384;

/** A connection to one server. `close` must be called. */
export class GrpcConnection implements Connection {
  readonly #options: GrpcLineOptions;
  readonly #contract: Contract;
  readonly #client: Client;
  readonly #cut: () => void;
  /** How much of the wait for a connection is over before the next RPC begins, ms. */
  #waitedMs = 0;

  constructor(options: GrpcLineOptions) {
    this.#options = options;
    this.#contract = loadContract(options.profile);
    const window = options.readsSlowly === true ? { receiveWindowBytes: SMALL_WINDOW_BYTES } : {};
    const { client, cut } = openWatchedClient({ ...options, ...window });
    this.#client = client;
    this.#cut = cut;
  }

  connect(signal?: AbortSignal): Promise<void> {
    const channel = this.#client.getChannel();
    const { clock, connectLimitMs } = this.#options;
    const beganMs = clock.monotonicMs();
    return new Promise((resolve) => {
      let isOver = false;
      const settle = (): void => {
        isOver = true;
        this.#waitedMs = clock.monotonicMs() - beganMs;
        cancelTimer();
        signal?.removeEventListener('abort', settle);
        resolve();
      };
      const check = (): void => {
        if (isOver) return;
        const state = channel.getConnectivityState(true);
        const isSettled = state !== connectivityState.IDLE && state !== connectivityState.CONNECTING;
        if (isSettled) settle();
        else channel.watchConnectivityState(state, Infinity, check);
      };
      const cancelTimer = clock.after(connectLimitMs, settle);
      signal?.addEventListener('abort', settle, { once: true });
      if (signal?.aborted === true) settle();
      else check();
    });
  }

  line(identity: CallIdentity): Line {
    const request = requestMaker(identity);
    return {
      open: (listener) => this.#open(listener, request, this.#metadata(identity.conversationId)),
      close: () => {
        this.#client.close();
      },
      break: this.#cut,
    };
  }

  listAgents(organizationId: string, limitMs: number, signal?: AbortSignal): Promise<readonly ListedAgent[] | Failure> {
    const { ListVirtualAgents } = this.#contract.media.definition;
    return this.#ask(ListVirtualAgents, { customer_org_id: organizationId }, agentsOf, {
      ...{ clock: this.#options.clock, what: 'list its agents', limitMs, signal },
    });
  }

  /** Asks the platform's own health service whether the server takes calls (1.8); parameters as of {@link listAgents}. */
  checkHealth(limitMs: number, signal?: AbortSignal): Promise<HealthWord | Failure> {
    return this.#ask(this.#contract.health.definition.Check, {}, healthWordOf, {
      ...{ clock: this.#options.clock, what: 'tell its health', limitMs, signal },
    });
  }

  async #ask<Request, Response, Answer>(rpc: OneAnswer<Request, Response>, request: Request, read: Reader<Response, Answer>, wait: Wait) {
    const ends: (() => void)[] = [];
    try {
      return await limitedWait<Answer>(wait, (settle) => {
        const call = this.#client.makeUnaryRequest(
          rpc.path,
          rpc.requestSerialize,
          rpc.responseDeserialize,
          request,
          this.#metadata(undefined),
          (error, response?: Response) => {
            settle(error === null ? read(response) : failureOf(error));
          },
        );
        ends.push(this.#watchConnecting(settle), () => {
          call.cancel();
        });
      });
    } finally {
      for (const end of ends) end();
    }
  }

  close(): Promise<void> {
    this.#client.close();
    return Promise.resolve();
  }

  #open(listener: TurnListener, request: ReturnType<typeof requestMaker>, metadata: Metadata): LineTurn {
    const { path, requestSerialize, responseDeserialize } = this.#contract.media.definition.ProcessCallerInput;
    const gate = this.#options.readsSlowly === true ? new ReadingGate() : undefined;
    const call = this.#client.makeBidiStreamRequest<MediaRequest, MediaResponse>(
      path,
      requestSerialize,
      responseDeserialize,
      metadata,
      gate === undefined ? {} : { interceptors: [gate.interceptor] },
    );
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
      if (result.code === status.OK) end(completed(result.metadata));
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
        // The end of the turn waits behind what is held.
        gate?.open();
      },
      ...(gate === undefined ? {} : { pauseReading: gate.shut, resumeReading: gate.open }),
    };
  }

  /** Reports a connection that does not come about; the library itself would try for ever. */
  #watchConnecting(giveUp: (failure: Failure) => void): () => void {
    const { clock, connectLimitMs } = this.#options;
    const leftMs = connectLimitMs - this.#waitedMs;
    this.#waitedMs = 0;
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

function agentsOf(response: ListAgentsResponse | undefined): readonly ListedAgent[] {
  return (response?.virtual_agents ?? []).map((agent) => ({
    id: agent.virtual_agent_id ?? '',
    name: agent.virtual_agent_name ?? '',
    isDefault: agent.is_default ?? false,
  }));
}

function healthWordOf(response: HealthResponse | undefined): HealthWord {
  if (response?.status === SERVING_STATUS.SERVING) return 'serving';
  return response?.status === SERVING_STATUS.NOT_SERVING ? 'not_serving' : 'unknown';
}

function completed(trailers: Metadata): LineEnd {
  const value = trailers.get(PROMPT_TEXT_KEY)[0];
  const promptTexts = value === undefined ? [] : readPromptTexts(value.toString());
  return { kind: 'completed', promptTexts, isApology: trailers.get(APOLOGY_KEY)[0] === 'true' };
}
