// A client of the media server that does only what a test tells it: opens RPCs, sends messages or raw bytes, and keeps
// every response, the trailers and the status. It knows the messages and no turn grammar; tests play the platform.
import { Client, credentials, Metadata, status, type ClientDuplexStream, type ServiceError, type StatusObject } from '@grpc/grpc-js';
import {
  loadContract,
  type ListAgentsRequest,
  type ListAgentsResponse,
  type MediaRequest,
  type MediaResponse,
} from '../../src/contract/grpc.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { PlatformCall, type CallIds } from './platform-call.ts';
import { until, within } from './until.ts';

const contract = loadContract(loadProfile('fake'));
const { ProcessCallerInput, ListVirtualAgents } = contract.media.definition;

/** Where the RPCs are: the names come from the platform profile. */
export const PATHS = {
  callerInput: contract.media.processCallerInputPath,
  list: contract.media.listVirtualAgentsPath,
} as const;
/** Full names of the media service and of the health services that can be asked. */
export const SERVICES = {
  media: contract.media.serviceName,
  health: ['grpc.health.v1.Health', contract.health.serviceName],
} as const;

/** Largest response accepted, bytes: a prompt of a minute as WAV fits. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;

/** How to reach a server. */
export interface PlatformClientOptions {
  /** `localhost:PORT`. */
  readonly target: string;
  /** PEM of the authority to trust; plaintext without. */
  readonly authority?: string | undefined;
  /** PEM that the client shows; none without. */
  readonly certificate?: { readonly cert: string; readonly key: string } | undefined;
  /** Value of the authorization entry; none is sent without. */
  readonly authorization?: string | undefined;
  readonly organizationId: string;
  readonly channelOptions?: Readonly<Record<string, number | string>>;
}

/** How an RPC ended. */
export type Ending = Pick<StatusObject, 'code' | 'details' | 'metadata'>;

/** A stream between us and a server; bytes go out as they are, for messages no serializer would write. */
export class ClientTurn {
  readonly responses: MediaResponse[] = [];
  /** Undefined until the server has ended the RPC. */
  ending: Ending | undefined;
  readonly #stream: ClientDuplexStream<MediaRequest | Uint8Array, MediaResponse>;
  readonly #ended: Promise<Ending>;

  constructor(stream: ClientDuplexStream<MediaRequest | Uint8Array, MediaResponse>, isReading: boolean) {
    this.#stream = stream;
    if (isReading) stream.on('data', (response: MediaResponse) => this.responses.push(response));
    this.#ended = new Promise((resolve) => {
      stream.on('status', (ending: StatusObject) => {
        this.ending = ending;
        resolve(ending);
      });
    });
    // The status says the same.
    stream.on('error', () => undefined);
  }

  send(...messages: readonly (MediaRequest | Uint8Array)[]): this {
    for (const message of messages) this.#stream.write(message);
    return this;
  }

  halfClose(): this {
    this.#stream.end();
    return this;
  }

  cancel(): void {
    this.#stream.cancel();
  }

  /** Begins to read, on a turn that was opened without. */
  read(): void {
    this.#stream.on('data', (response: MediaResponse) => this.responses.push(response));
  }

  /** Waits until the server has ended the RPC. */
  ended(): Promise<Ending> {
    return within(() => `the RPC ends; so far: ${JSON.stringify(this.story)}`, this.#ended);
  }

  /** Waits for a response with this {@link story}. */
  async heard(line: string): Promise<void> {
    await until(
      () => `a response is "${line}"; so far: ${JSON.stringify(this.story)}`,
      () => {
        if (this.story.includes(line)) return true;
        if (this.ending === undefined) return false;
        throw new Error(`the RPC ended (${statusName(this.ending.code)} ${this.ending.details}) with ${JSON.stringify(this.story)}`);
      },
    );
  }

  /** Every response in a few words, as the reference exchanges are written; see {@link storyOf}. */
  get story(): readonly string[] {
    return this.responses.map(storyOf);
  }

  /** The audio of all prompts in order, headers included. */
  get audio(): Buffer {
    return Buffer.concat(
      this.responses.flatMap(({ prompts = [] }) => prompts.map(({ audio_content }) => audio_content ?? Buffer.alloc(0))),
    );
  }

  /** Prompt texts of the trailers, without those of sounds that have none; undefined when none were sent. */
  get trailerTexts(): unknown {
    const entry = this.ending?.metadata.get('parley-prompt-text-bin')[0];
    const texts: unknown = entry === undefined ? undefined : JSON.parse(entry.toString());
    return Array.isArray(texts) ? texts.filter((text) => text !== '') : texts;
  }
}

/** One client with one connection. Whoever makes it closes it. */
export class PlatformClient {
  readonly organizationId: string;
  readonly #client: Client;
  readonly #authorization: string | undefined;

  constructor({ target, authority, certificate, authorization, organizationId, channelOptions = {} }: PlatformClientOptions) {
    this.organizationId = organizationId;
    this.#authorization = authorization;
    const pem = (text: string | undefined): Buffer | null => (text === undefined ? null : Buffer.from(text));
    this.#client = new Client(
      target,
      authority === undefined
        ? credentials.createInsecure()
        : credentials.createSsl(pem(authority), pem(certificate?.key), pem(certificate?.cert)),
      {
        'grpc.max_receive_message_length': MAX_RESPONSE_BYTES,
        'grpc.max_send_message_length': -1,
        'grpc.enable_retries': 0,
        // A connection of its own: grpc-js shares one between clients of the same address.
        'grpc.use_local_subchannel_pool': 1,
        ...channelOptions,
      },
    );
  }

  /** Opens a turn. @param options.isReading - false plays a client that never reads; default true. */
  open(options: { readonly isReading?: boolean; readonly metadata?: Readonly<Record<string, string>> } = {}): ClientTurn {
    const stream = this.#client.makeBidiStreamRequest(
      ProcessCallerInput.path,
      requestBytes,
      (bytes: Buffer) => ProcessCallerInput.responseDeserialize(bytes),
      this.#metadata(options.metadata),
    );
    return new ClientTurn(stream, options.isReading ?? true);
  }

  /** A conversation with one agent; see {@link PlatformCall}. */
  call(ids: Partial<CallIds> = {}): PlatformCall {
    return new PlatformCall(this, ids);
  }

  /** Asks for the agents. @throws ServiceError */
  list(request: ListAgentsRequest = { customer_org_id: this.organizationId }): Promise<ListAgentsResponse> {
    return this.unary(
      ListVirtualAgents.path,
      (value: ListAgentsRequest) => ListVirtualAgents.requestSerialize(value),
      (bytes) => ListVirtualAgents.responseDeserialize(bytes),
      request,
    );
  }

  /** Any unary RPC. @throws ServiceError */
  unary<Request, Response>(
    path: string,
    serialize: (value: Request) => Buffer,
    deserialize: (bytes: Buffer) => Response,
    request: Request,
  ): Promise<Response> {
    const answer = new Promise<Response>((resolve, reject) => {
      this.#client.makeUnaryRequest(
        path,
        serialize,
        deserialize,
        request,
        this.#metadata(),
        (error: ServiceError | null, response?: Response) => {
          if (error !== null) reject(error);
          else if (response === undefined) reject(new Error('neither an error nor a response'));
          else resolve(response);
        },
      );
    });
    return within(`${path} answers`, answer);
  }

  /** Any RPC whose answers are a stream: the answers so far, and how it ended. */
  stream<Request, Response>(
    path: string,
    serialize: (value: Request) => Buffer,
    deserialize: (bytes: Buffer) => Response,
    request: Request,
  ): OpenStream<Response> {
    const call = this.#client.makeServerStreamRequest(path, serialize, deserialize, request, this.#metadata());
    const responses: Response[] = [];
    call.on('data', (response: Response) => responses.push(response));
    call.on('error', () => undefined);
    let isEnded = false;
    const ended = new Promise<Ending>((resolve) => {
      call.on('status', (ending: StatusObject) => {
        isEnded = true;
        resolve(ending);
      });
    });
    return {
      responses,
      get isEnded() {
        return isEnded;
      },
      ended: () => within(`${path} ends`, ended),
      cancel: () => {
        call.cancel();
      },
    };
  }

  /** The bytes of a message, for a test that changes them. */
  encode(message: MediaRequest): Buffer {
    return requestBytes(message);
  }

  close(): void {
    this.#client.close();
  }

  #metadata(more: Readonly<Record<string, string>> = {}): Metadata {
    const metadata = new Metadata();
    if (this.#authorization !== undefined) metadata.set('authorization', this.#authorization);
    for (const [key, value] of Object.entries(more)) metadata.set(key, value);
    return metadata;
  }
}

/** A stream of answers. */
export interface OpenStream<Response> {
  readonly responses: readonly Response[];
  readonly isEnded: boolean;
  ended(): Promise<Ending>;
  cancel(): void;
}

/** A code as its name, for messages of failing tests. */
export function statusName(code: number | undefined): string {
  return code === undefined ? 'open' : (status[code] ?? String(code));
}

/**
 * A response in a few words: its type, its event, then each prompt as `wav`, `audio`, `text` or `empty`. `text+audio`
 * would be a prompt that may be spoken twice (G-46).
 */
function storyOf({ response_type = 0, output_events = [], prompts = [] }: MediaResponse): string {
  const type = ['FINAL', 'PARTIAL', 'CHUNK'][response_type] ?? String(response_type);
  const events = output_events.map(({ event_type = 0 }) => EVENT_NAMES[event_type] ?? String(event_type));
  const sounds = prompts.map(({ text = '', audio_content = new Uint8Array(0) }) => {
    const sound =
      audio_content.length === 0 ? '' : Buffer.from(audio_content.subarray(0, 4)).toString('latin1') === 'RIFF' ? 'wav' : 'audio';
    return [text === '' ? '' : 'text', sound].filter((part) => part !== '').join('+') || 'empty';
  });
  return [type, ...events, ...sounds].join(' ');
}

const EVENT_NAMES = [
  'UNSPECIFIED',
  'SESSION_END',
  'TRANSFER_TO_AGENT',
  'CUSTOM_EVENT',
  'START_OF_INPUT',
  'END_OF_INPUT',
  'NO_MATCH',
  'NO_INPUT',
];

function requestBytes(message: MediaRequest | Uint8Array): Buffer {
  return message instanceof Uint8Array ? Buffer.from(message) : ProcessCallerInput.requestSerialize(message);
}
