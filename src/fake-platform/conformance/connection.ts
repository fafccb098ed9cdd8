// A connection to a server for any request: RPCs of the media method, the list of agents, and unknown paths.
// Knows messages, and no turn and no rule.
import { connectivityState, Metadata, status, type Client, type ClientUnaryCall, type StatusObject } from '@grpc/grpc-js';
import type { Clock } from '../../base/clock.ts';
import { loadContract, type Contract, type ListAgentsResponse, type MediaRequest } from '../../contract/grpc.ts';
import type { PlatformProfile } from '../../contract/profile.ts';
import { openClient, type ChannelOptions } from '../lines/grpc-client.ts';
import { statusName } from '../lines/status-name.ts';
import { quoted, type ExchangeLog } from './exchange.ts';
import { redactor, type Redactor } from './redaction.ts';
import { CheckGivenUp } from './verdict.ts';
import { WireRpc, type Ending, type SizedResponse } from './wire.ts';

/** How to reach a server. */
export interface WireOptions extends ChannelOptions {
  readonly profile: PlatformProfile;
  readonly clock: Clock;
  /** Value of the authorization entry as sent; undefined sends none. */
  readonly authorization: string | undefined;
  /** The good token, which is never shown, even if the server repeats it. */
  readonly token?: string | undefined;
}

/** How an RPC with a single answer ended. */
export type OneAnswer = { readonly kind: 'answer'; readonly bytes: Buffer } | { readonly kind: 'status'; readonly ending: Ending };

/** The request and its time limit. */
interface Asked {
  readonly request: Uint8Array;
  readonly limitMs: number;
  /** What to say about an answer that does not come in time. */
  readonly late: string;
  readonly log: ExchangeLog;
}

/** Most agents whose ids a line of an exchange names. */
const SHOWN_AGENTS = 8;

/** One connection. Whoever opens it closes it. */
export class WireConnection {
  readonly #options: WireOptions;
  readonly #client: Client;
  readonly #contract: Contract;
  readonly #redact: Redactor;
  /** Ends what is open, by what is open. */
  readonly #open = new Map<object, () => void>();
  #isClosed = false;
  #isOverloaded = false;

  constructor(options: WireOptions) {
    this.#options = options;
    this.#redact = redactor(options.authorization, options.token);
    this.#client = openClient(options);
    this.#contract = loadContract(options.profile);
  }

  /** Whether the server said that it has no room; then its behaviour proves nothing about a rule. */
  get isOverloaded(): boolean {
    return this.#isOverloaded;
  }

  /** Whether there is a connection now. */
  get isConnected(): boolean {
    return this.#client.getChannel().getConnectivityState(false) === connectivityState.READY;
  }

  /** Opens an RPC of the media method. @throws CheckGivenUp. */
  open(name: string, log: ExchangeLog): WireRpc {
    this.#demandOpen();
    const { path, requestSerialize, responseDeserialize } = this.#contract.media.definition.ProcessCallerInput;
    const stream = this.#client.makeBidiStreamRequest<MediaRequest | Uint8Array, SizedResponse>(
      path,
      (message) => (message instanceof Uint8Array ? Buffer.from(message) : requestSerialize(message)),
      (bytes) => ({ message: responseDeserialize(bytes), bytes: bytes.length }),
      this.#metadata(),
    );
    const rpc = new WireRpc(name, stream, this.#options.clock, log, this.#redact);
    this.#open.set(stream, () => {
      rpc.cancel();
    });
    stream.on('status', ({ code }: StatusObject) => {
      this.#isOver(stream, code);
    });
    return rpc;
  }

  /** The bytes of a request, for a check that changes them. */
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

  /** Any RPC with a single answer. @throws CheckGivenUp. */
  async ask(path: string, request: Uint8Array, limitMs: number, log: ExchangeLog): Promise<OneAnswer> {
    const late = `no answer within ${String(limitMs)} ms`;
    return this.#answered(path, { request, limitMs, late, log }, (settle) => {
      const call = this.#client.makeUnaryRequest<Uint8Array, Buffer>(
        path,
        (bytes) => Buffer.from(bytes),
        (bytes) => bytes,
        request,
        this.#metadata(),
        (error, bytes) => {
          this.#isOver(call, error?.code);
          if (error === null) settle({ kind: 'answer', bytes: bytes ?? Buffer.alloc(0) });
          else settle({ kind: 'status', ending: { code: error.code, details: this.#redact(error.details) } });
        },
      );
      return call;
    });
  }

  /** Any RPC that answers with a stream: waits for the first answer or status, then cancels. @throws CheckGivenUp. */
  async first(path: string, request: Uint8Array, limitMs: number, log: ExchangeLog): Promise<OneAnswer> {
    return this.#answered(path, { request, limitMs, late: 'no answer', log }, (settle) => {
      const call = this.#client.makeServerStreamRequest<Uint8Array, Buffer>(
        path,
        (bytes) => Buffer.from(bytes),
        (bytes) => bytes,
        request,
        this.#metadata(),
      );
      call.on('error', () => undefined);
      call.on('data', (bytes: Buffer) => {
        settle({ kind: 'answer', bytes });
        call.cancel();
      });
      call.on('status', ({ code, details }: StatusObject) => {
        this.#isOver(call, code);
        settle({ kind: 'status', ending: { code, details: this.#redact(details) } });
      });
      return call;
    });
  }

  /** Cancels what is open and closes the connection: it takes no more requests. */
  drop(): void {
    this.#isClosed = true;
    for (const end of [...this.#open.values()]) end();
    this.#client.close();
  }

  /** Places an RPC and waits for the first answer that `place` settles; a late one is cancelled. */
  async #answered(
    path: string,
    { request, limitMs, late, log }: Asked,
    place: (settle: (answer: OneAnswer) => void) => Pick<ClientUnaryCall, 'cancel'>,
  ): Promise<OneAnswer> {
    this.#demandOpen();
    log.add('platform', path, `${String(request.length)} bytes`);
    return new Promise((resolve) => {
      let isOver = false;
      const settle = (answer: OneAnswer): void => {
        if (isOver) return;
        isOver = true;
        cancelTimer();
        this.#record(path, answer, log);
        resolve(answer);
      };
      const call = place(settle);
      this.#open.set(call, () => {
        call.cancel();
      });
      const cancelTimer = this.#options.clock.after(limitMs, () => {
        settle({ kind: 'status', ending: { code: status.DEADLINE_EXCEEDED, details: late } });
        call.cancel();
      });
    });
  }

  #demandOpen(): void {
    if (this.#isClosed) throw new CheckGivenUp();
  }

  #isOver(call: object, code: number | undefined): void {
    this.#open.delete(call);
    if (code === status.RESOURCE_EXHAUSTED) this.#isOverloaded = true;
  }

  #record(path: string, answer: OneAnswer, log: ExchangeLog): void {
    if (answer.kind === 'answer') log.add('server', path, `${String(answer.bytes.length)} bytes`);
    else log.add('server', path, `${statusName(answer.ending.code)} ${quoted(answer.ending.details)}`);
  }

  #metadata(): Metadata {
    const { authorization, profile } = this.#options;
    const metadata = new Metadata();
    if (authorization !== undefined) metadata.set(profile.metadata.authorization, authorization);
    return metadata;
  }
}

function agentsText({ virtual_agents: agents = [] }: ListAgentsResponse): string {
  const shown = agents
    .slice(0, SHOWN_AGENTS)
    .map(({ virtual_agent_id: id = '', is_default: isDefault }) => `${quoted(id)}${isDefault === true ? ' (the default)' : ''}`);
  const more = agents.length > SHOWN_AGENTS ? ', …' : '';
  return `${String(agents.length)} agents${shown.length === 0 ? '' : `: ${shown.join(', ')}${more}`}`;
}
