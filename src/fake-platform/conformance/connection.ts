// Connections to a server for any request: RPCs of the media method, the list of agents, and unknown paths.
// Knows messages, but no turn and no rule.
import { status } from '@grpc/grpc-js';
import type { Clock } from '../../base/clock.ts';
import { loadContract, type Contract, type ListAgentsResponse, type MediaRequest } from '../../contract/grpc.ts';
import type { PlatformProfile } from '../../contract/profile.ts';
import type { DialOptions } from '../lines/dial.ts';
import { statusName } from '../lines/failure.ts';
import { framed } from '../lines/grpc-framing.ts';
import { RpcConnection, rpcHeaders, type Rpc, type RpcListener } from '../lines/rpc-connection.ts';
import { quoted, type ExchangeLog } from './exchange.ts';
import { redactor, type Redactor } from './tokens.ts';
import { CheckGivenUp } from './verdict.ts';
import { WireRpc, type Ending } from './wire.ts';

export interface WireOptions extends DialOptions {
  readonly profile: PlatformProfile;
  readonly clock: Clock;
  /** The value of the authorization header; undefined sends none. */
  readonly authorization: string | undefined;
  /** The good token; it is never shown, even if the server repeats it. */
  readonly token?: string | undefined;
}

export type OneAnswer = { readonly kind: 'answer'; readonly bytes: Buffer } | { readonly kind: 'status'; readonly ending: Ending };

/** Longest wait for a connection, ms: longer than any check waits for a sign of the server. */
const CONNECT_LIMIT_MS = 60_000;
/** Most agents named in one line of an exchange. */
const SHOWN_AGENTS = 8;

/** One connection, opened for the first RPC, and again when an RPC finds it closed. Close it after use. */
export class WireConnection {
  readonly #options: WireOptions;
  readonly #contract: Contract;
  readonly #redact: Redactor;
  readonly #dialled: RpcConnection[] = [];
  readonly #rpcs: WireRpc[] = [];
  #isClosed = false;
  #isOverloaded = false;

  constructor(options: WireOptions) {
    this.#options = options;
    this.#redact = redactor(options.authorization, options.token);
    this.#contract = loadContract(options.profile);
  }

  /** Whether the server said that it has no room. Then its behaviour says nothing about a rule. */
  get isOverloaded(): boolean {
    return this.#isOverloaded;
  }

  get isConnected(): boolean {
    return this.#dialled.at(-1)?.isConnected === true;
  }

  /** Opens an RPC of the media method. @throws CheckGivenUp. */
  open(name: string, log: ExchangeLog): WireRpc {
    const { path, requestSerialize, responseDeserialize } = this.#contract.media.definition.ProcessCallerInput;
    const codec = {
      open: (listener: RpcListener) => this.#open(path, listener),
      ...{ encode: requestSerialize, decode: responseDeserialize },
    };
    const rpc = new WireRpc(name, codec, this.#options.clock, log, this.#redact);
    this.#rpcs.push(rpc);
    return rpc;
  }

  /** The encoded request, for a check that changes the bytes. */
  encode(message: MediaRequest): Buffer {
    return this.#contract.media.definition.ProcessCallerInput.requestSerialize(message);
  }

  /** Asks for the agents (G-05). @throws CheckGivenUp. */
  async list(organizationId: string, limitMs: number, log: ExchangeLog): Promise<ListAgentsResponse | Ending> {
    const { path, requestSerialize, responseDeserialize } = this.#contract.media.definition.ListVirtualAgents;
    const answer = await this.ask(path, requestSerialize({ customer_org_id: organizationId }), limitMs, log);
    if (answer.kind === 'status') return answer.ending;
    try {
      const list = responseDeserialize(answer.bytes);
      log.add('suite', path, `the list names ${agentsText(list)}`);
      return list;
    } catch {
      return { code: status.INTERNAL, details: 'the list cannot be read' };
    }
  }

  /** Sends any request, waits for the first answer or the end of the RPC, and cancels the RPC. @throws CheckGivenUp. */
  async ask(path: string, request: Uint8Array, limitMs: number, log: ExchangeLog): Promise<OneAnswer> {
    const answer = await new Promise<OneAnswer>((resolve) => {
      const rpc = this.#open(path, {
        message: (bytes) => settle({ kind: 'answer', bytes: Buffer.from(bytes) }),
        ended: (end) => {
          const { code, details }: Ending = end.kind === 'completed' ? { code: status.OK, details: '' } : end.status;
          settle({ kind: 'status', ending: { code, details: this.#redact(details) } });
        },
      });
      const settle = (found: OneAnswer): void => {
        cancelTimer();
        resolve(found);
        rpc.cancel();
      };
      log.add('platform', path, `${String(request.length)} bytes`);
      const late = { code: status.DEADLINE_EXCEEDED, details: `no answer within ${String(limitMs)} ms` };
      const cancelTimer = this.#options.clock.after(limitMs, () => settle({ kind: 'status', ending: late }));
      rpc.send(framed(request));
      rpc.halfClose();
    });
    if (answer.kind === 'answer') log.add('server', path, `${String(answer.bytes.length)} bytes`);
    else log.add('server', path, `${statusName(answer.ending.code)} ${quoted(answer.ending.details)}`);
    return answer;
  }

  /** Cancels the open RPCs, closes the connection, and takes no more requests. */
  drop(): void {
    this.#isClosed = true;
    for (const rpc of this.#rpcs) rpc.cancel();
    for (const connection of this.#dialled.splice(0)) connection.close();
  }

  /** @throws CheckGivenUp. */
  #open(path: string, listener: RpcListener): Rpc {
    if (this.#isClosed) throw new CheckGivenUp();
    const { authorization, profile } = this.#options;
    const headers = rpcHeaders(path, authorization === undefined ? {} : { [profile.metadata.authorization]: authorization });
    let connection = this.#dialled.at(-1);
    if (connection?.isUsable !== true) {
      connection = new RpcConnection({ ...this.#options, connectLimitMs: CONNECT_LIMIT_MS });
      this.#dialled.push(connection);
    }
    return connection.open(headers, {
      ...listener,
      ended: (end) => {
        const code: status = end.kind === 'broken' ? end.status.code : status.OK;
        if (code === status.RESOURCE_EXHAUSTED) this.#isOverloaded = true;
        listener.ended(end);
      },
    });
  }
}

function agentsText({ virtual_agents: agents = [] }: ListAgentsResponse): string {
  const shown = agents
    .slice(0, SHOWN_AGENTS)
    .map(({ virtual_agent_id: id = '', is_default: isDefault }) => `${quoted(id)}${isDefault === true ? ' (the default)' : ''}`);
  const more = agents.length > SHOWN_AGENTS ? ', …' : '';
  return `${String(agents.length)} agents${shown.length === 0 ? '' : `: ${shown.join(', ')}${more}`}`;
}
