// The gRPC connections of a load: each carries so many calls, a further one is opened when all are full, and one that broke, or
// that the server wants to end, gets no further turn. Knows no turn grammar.
import { loadContract, type Contract } from '../../contract/grpc.ts';
import type { PlatformProfile } from '../../contract/profile.ts';
import { PROMPT_TEXT_KEY, readPromptTexts } from '../caller/prompt-texts.ts';
import { answerFromWire } from '../lines/from-wire.ts';
import type { Line, LineTurn, PlatformInput, TurnListener } from '../lines/line.ts';
import { requestMaker, type CallIdentity } from '../lines/to-wire.ts';
import { audioMessages, framed } from './grpc-framing.ts';
import { rpcHeaders, SharedConnection, type SharedConnectionOptions } from './shared-connection.ts';

/** How to reach a server and who to be there. */
export interface ConnectionPoolOptions extends SharedConnectionOptions {
  readonly profile: PlatformProfile;
  /** The data-source token; none sends no authorization. */
  readonly token?: string;
  /** Send `Bearer TOKEN` and not the token alone (G-03). Default false. */
  readonly bearer?: boolean;
}

interface Shared {
  readonly connection: SharedConnection;
  /** Calls that use it now. */
  calls: number;
}

/** Turns that one call may have open at once: one that is heard, one that listens, and one on its way out. */
const TURNS_OF_A_CALL = 3;

/** Connections to one server. `close` must be called. */
export class ConnectionPool {
  readonly #options: ConnectionPoolOptions;
  readonly #contract: Contract;
  readonly #callsPerConnection: number;
  #all: Shared[] = [];

  constructor(options: ConnectionPoolOptions, callsPerConnection: number) {
    this.#options = options;
    this.#contract = loadContract(options.profile);
    this.#callsPerConnection = callsPerConnection;
  }

  /** Connections of calls that are over and still close: none, as they stay for others. */
  readonly closing = 0;

  /** Connections that are open. */
  get size(): number {
    return this.#all.length;
  }

  /**
   * The line of a new call; whoever takes it closes it after the call. A call moves to another connection when its own is used
   * up, as servers and what stands before them let happen every so many calls: only turns that are open then are at stake.
   */
  line(identity: CallIdentity): Line {
    const encode = encoderOf(identity, this.#contract);
    const headers = this.#headers(identity.conversationId);
    let shared = this.#take();
    let isOpen = true;
    return {
      open: (listener) => {
        if (!shared.connection.isUsable) {
          shared.calls -= 1;
          shared = this.#take();
        }
        return this.#open(shared.connection, headers, encode, listener);
      },
      close: () => {
        if (isOpen) shared.calls -= 1;
        isOpen = false;
      },
    };
  }

  /** Opens connections for so many calls ahead, so that no call waits for its own. */
  prepare(calls: number): void {
    const wanted = Math.ceil(calls / this.#callsPerConnection);
    while (this.#all.length < wanted) this.#add();
  }

  close(): void {
    for (const { connection } of this.#all) connection.close();
    this.#all = [];
  }

  #open(
    connection: SharedConnection,
    headers: Readonly<Record<string, string>>,
    encode: (input: PlatformInput) => Buffer,
    listener: TurnListener,
  ): LineTurn {
    const read = this.#contract.media.definition.ProcessCallerInput.responseDeserialize;
    const rpc = connection.open(headers, {
      message: (bytes) => {
        listener.answered(answerFromWire(read(bytes)));
      },
      ended: (end) => {
        listener.ended(end.kind === 'broken' ? end : { kind: 'completed', promptTexts: textsOf(end.trailers[PROMPT_TEXT_KEY]) });
      },
    });
    return {
      send: (input) => {
        rpc.send(encode(input));
      },
      halfClose: rpc.halfClose,
      cancel: rpc.cancel,
    };
  }

  #headers(conversationId: string): Readonly<Record<string, string>> {
    const { token, bearer, profile } = this.#options;
    return rpcHeaders(this.#contract.media.processCallerInputPath, {
      ...(token === undefined ? {} : { [profile.metadata.authorization]: bearer === true ? `Bearer ${token}` : token }),
      [profile.metadata.trackingId]: conversationId,
    });
  }

  /** A connection with room for one more call, which has it. */
  #take(): Shared {
    const useful = this.#all.filter(({ connection }) => connection.isUsable || connection.openRpcs > 0);
    for (const gone of this.#all) if (!useful.includes(gone)) gone.connection.close();
    this.#all = useful;
    const taken = useful.find((each) => this.#hasRoom(each)) ?? this.#add();
    taken.calls += 1;
    return taken;
  }

  #add(): Shared {
    const added = { connection: new SharedConnection(this.#options), calls: 0 };
    this.#all.push(added);
    return added;
  }

  #hasRoom({ connection, calls }: Shared): boolean {
    const room = Math.min(this.#callsPerConnection, Math.floor(connection.maxRpcs / TURNS_OF_A_CALL));
    return connection.isUsable && calls < Math.max(1, room);
  }
}

/** Encodes what one call sends. */
function encoderOf(identity: CallIdentity, contract: Contract): (input: PlatformInput) => Buffer {
  const { requestSerialize } = contract.media.definition.ProcessCallerInput;
  const request = requestMaker(identity);
  const audioMessage = audioMessages((audio) => requestSerialize(request({ kind: 'audio', audio })));
  return (input) => (input.kind === 'audio' ? audioMessage(input.audio) : framed(requestSerialize(request(input))));
}

function textsOf(trailer: string | readonly string[] | undefined): readonly string[] {
  return typeof trailer === 'string' ? readPromptTexts(Buffer.from(trailer, 'base64').toString()) : [];
}
