// The gRPC client of the platform: dials a server, opens one RPC per turn, and turns every error into a named failure. Knows no turn
// grammar: the caller decides what to send and when.
import { waitAtMost } from '../../base/abort.ts';
import { loadContract, SERVING_STATUS, type Contract, type HealthResponse, type ListAgentsResponse } from '../../contract/grpc.ts';
import type { Failure } from './failure.ts';
import { framed } from './grpc-framing.ts';
import { accessHeaders, turnsOf, type GrpcAccess } from './grpc-turns.ts';
import type { Connection } from './connection.ts';
import type { Line, ListedAgent } from './line.ts';
import { limitedWait } from './limited-wait.ts';
import { RpcConnection, type RpcConnectionOptions } from './rpc-connection.ts';
import type { CallIdentity } from './to-wire.ts';

/** How to reach a server, and the caller's identity. */
export interface GrpcLineOptions extends GrpcAccess, RpcConnectionOptions {
  /** Turns can stop reading, and the server notices soon, because receive windows are small. Default false. */
  readonly readsSlowly?: boolean;
}

/** A server's health status. */
export type HealthWord = 'serving' | 'not_serving' | 'unknown';

interface OneAnswer<Request, Response> {
  readonly path: string;
  readonly requestSerialize: (request: Request) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

/** Receive window of a platform that reads slowly, bytes: two seconds of µ-law, so that the server notices within one prompt. */
const SMALL_WINDOW_BYTES = 16_384;

/** A connection to one server, opened at its first use and opened again when an RPC finds it gone. `close` must be called. */
export class GrpcConnection implements Connection {
  readonly #options: GrpcLineOptions;
  readonly #contract: Contract;
  readonly #dialled: RpcConnection[] = [];

  constructor(options: GrpcLineOptions) {
    this.#options = options.readsSlowly === true ? { ...options, streamWindowBytes: SMALL_WINDOW_BYTES } : options;
    this.#contract = loadContract(options.profile);
  }

  async connect(signal?: AbortSignal): Promise<void> {
    const { clock, connectLimitMs } = this.#options;
    await waitAtMost(this.#connection.settled, connectLimitMs, clock, signal);
  }

  line(identity: CallIdentity): Line {
    const open = turnsOf(this.#options, identity);
    return {
      open: (listener) => {
        const { pauseReading, resumeReading, ...turn } = open(this.#connection, listener);
        return this.#options.readsSlowly === true ? { ...turn, pauseReading, resumeReading } : turn;
      },
      close: () => this.#closeAll(),
      break: () => this.#dialled.at(-1)?.cut(),
    };
  }

  async listAgents(organizationId: string, limitMs: number, signal?: AbortSignal): Promise<readonly ListedAgent[] | Failure> {
    const { ListVirtualAgents } = this.#contract.media.definition;
    const answer = await this.#ask(ListVirtualAgents, { customer_org_id: organizationId }, 'list its agents', limitMs, signal);
    return 'code' in answer ? answer : agentsOf(answer.response);
  }

  /** Sends the platform's health check, which asks whether the server accepts calls (1.8). Parameters as of {@link listAgents}. */
  async checkHealth(limitMs: number, signal?: AbortSignal): Promise<HealthWord | Failure> {
    const answer = await this.#ask(this.#contract.health.definition.Check, {}, 'report its health', limitMs, signal);
    return 'code' in answer ? answer : healthWordOf(answer.response);
  }

  close(): Promise<void> {
    this.#closeAll();
    return Promise.resolve();
  }

  async #ask<Request, Response extends object>(
    { path, requestSerialize, responseDeserialize }: OneAnswer<Request, Response>,
    request: Request,
    what: string,
    limitMs: number,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly response: Response | undefined } | Failure> {
    const asking: { cancel?: () => void } = {};
    const wait = { clock: this.#options.clock, what, limitMs, signal };
    const answer = await limitedWait<{ readonly response: Response | undefined }>(wait, (settle) => {
      let response: Response | undefined;
      const rpc = this.#connection.open(accessHeaders(this.#options, path, undefined), {
        message: (bytes) => {
          response = responseDeserialize(bytes);
        },
        ended: (end) => settle(end.kind === 'completed' ? { response } : end.failure),
      });
      asking.cancel = rpc.cancel;
      rpc.send(framed(requestSerialize(request)));
      rpc.halfClose();
    });
    asking.cancel?.();
    return answer;
  }

  get #connection(): RpcConnection {
    const last = this.#dialled.at(-1);
    if (last?.isUsable === true) return last;
    const next = new RpcConnection(this.#options);
    this.#dialled.push(next);
    return next;
  }

  #closeAll(): void {
    for (const connection of this.#dialled.splice(0)) connection.close();
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
