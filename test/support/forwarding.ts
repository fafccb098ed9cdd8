// Forwarded turns between real sockets with TLS, without an engine: homes that a test answers for, a server that forwards every turn,
// and a platform that calls it. Who has the call is what the test says.
import {
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  type ClientDuplexStream,
  type ServerDuplexStream,
  type ServiceDefinition,
  type StatusObject,
} from '@grpc/grpc-js';
import http2, { type ClientHttp2Stream } from 'node:http2';
import { onTestFinished } from 'vitest';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import type { AppError } from '../../src/base/errors.ts';
import { createLogger } from '../../src/base/log.ts';
import type { CallKey } from '../../src/dialog/call.ts';
import { framed } from '../../src/transport/forward/frames.ts';
import { createPeerIdentity, type PeerIdentity } from '../../src/transport/forward/identity.ts';
import { Links } from '../../src/transport/forward/links.ts';
import { openPeerPort, type KnownCertificates, type PeerPort } from '../../src/transport/forward/peer-port.ts';
import { bytesMethod } from '../../src/transport/forward/peer-service.ts';
import type { HeldTurn } from '../../src/transport/forward/relay.ts';
import { Relays, type RelayObserver } from '../../src/transport/forward/relays.ts';
import type { Asked, ForwardLoss, Located, Peer } from '../../src/dialog/home.ts';
import type { CallHomes } from '../../src/transport/homes.ts';
import { CountedClock } from './counted-clock.ts';
import { startRelay, type Relay as Wire } from './relay.ts';
import { until } from './until.ts';

const CALL: CallKey = { organizationId: 'org', conversationId: 'call' };
export const SILENT = createLogger({ level: 'silent' });

const TURN = bytesMethod('/test.Media/Turn', true);
const DEFINITION: ServiceDefinition = { Turn: TURN };

/** A stream as a home sees it. */
export type HomeStream = ServerDuplexStream<Buffer, Buffer>;

/** One turn at its home. */
export class HomeTurn {
  readonly stream: HomeStream;
  readonly received: Buffer[] = [];
  isHalfClosed = false;
  isCancelled = false;
  readonly #delivered: (turnId: string) => Promise<boolean>;

  /** @param reads - default: at once. */
  constructor(stream: HomeStream, delivered: (turnId: string) => Promise<boolean>, reads: boolean) {
    this.stream = stream;
    this.#delivered = delivered;
    stream.on('error', () => undefined);
    stream.on('cancelled', () => (this.isCancelled = true));
    if (reads) this.read();
  }

  read(): void {
    this.stream.on('data', (message: Buffer) => this.received.push(message));
    this.stream.on('end', () => (this.isHalfClosed = true));
  }

  /** Whether the platform has its reply. */
  delivered(): Promise<boolean> {
    return this.#delivered(this.header('parley-turn') ?? '');
  }

  header(name: string): string | undefined {
    return this.stream.metadata.get(name)[0]?.toString();
  }

  texts(): readonly string[] {
    return this.received.map(String);
  }
}

/** An instance that answers turns. */
export class Home {
  readonly id: string;
  readonly identity: PeerIdentity;
  readonly peer: Peer;
  readonly port: PeerPort;
  readonly turns: HomeTurn[] = [];
  /** Calls that probes find here. */
  readonly calls = new Set<string>();
  /** What it answers to questions of operators. */
  answer: (question: string) => Promise<string> = () => Promise.reject(new Error('it cannot say'));
  readonly #wire: Wire;

  private constructor(id: string, identity: PeerIdentity, port: PeerPort, wire: Wire) {
    this.id = id;
    this.identity = identity;
    this.port = port;
    this.peer = { id, address: wire.target.replace('grpc://', ''), certificate: identity.fingerprint };
    this.#wire = wire;
  }

  static async open(
    id: string,
    { known, reads = true, path = TURN.path }: { readonly known: KnownCertificates; readonly reads?: boolean; readonly path?: string },
  ): Promise<Home> {
    const clock = new CountedClock();
    const identity = await createPeerIdentity(clock.nowMs());
    const port = await openPeerPort({
      ...{ host: '127.0.0.1', port: 0, identity, instanceId: id, known, maxMessageBytes: 4_000_000, clock, log: SILENT },
      answer: (question) => home.answer(question),
    });
    const wire = await startRelay(port.port);
    const home: Home = new Home(id, identity, port, wire);
    port.serve(
      path,
      (stream, delivered) => {
        home.turns.push(new HomeTurn(stream, delivered, reads));
      },
      { has: (callId) => home.calls.has(callId) },
    );
    onTestFinished(async () => {
      wire.close();
      await port.close(0);
    });
    return home;
  }

  /** As a process that is killed: its connections break, and nobody listens any more. */
  kill(): void {
    this.#wire.close();
  }

  /** As with a network that loses every packet: its connections stay, and nothing passes on them in either direction. */
  swallow(): void {
    this.#wire.swallow();
  }

  /** The turn that came as the n-th. */
  async turn(at = 0): Promise<HomeTurn> {
    await until(`turn ${String(at)} reaches home ${this.id}`, () => this.turns.length > at);
    const turn = this.turns[at];
    if (turn === undefined) throw new Error('it was there');
    return turn;
  }
}

/** Certificates of a table that tests write. */
export class Table implements KnownCertificates {
  readonly fingerprints = new Set<string>();
  refreshes = 0;
  /** What another reading brings. */
  late: readonly string[] = [];

  has(fingerprint: string): boolean {
    return this.fingerprints.has(fingerprint);
  }

  refresh(): Promise<void> {
    this.refreshes += 1;
    for (const fingerprint of this.late) this.fingerprints.add(fingerprint);
    return Promise.resolve();
  }
}

/** Homes in the order in which a test wants them asked for; the last one stays. */
export class ScriptedHomes implements CallHomes {
  readonly asked: Asked[] = [];
  readonly losses: { readonly home: string; readonly why: ForwardLoss }[] = [];
  answers: (Located | AppError)[];

  constructor(...answers: (Located | AppError)[]) {
    this.answers = answers;
  }

  locate(_call: CallKey, asked: Asked): Promise<Located> {
    this.asked.push(asked);
    const next = this.answers.length > 1 ? this.answers.shift() : this.answers[0];
    if (next === undefined) throw new Error('the test has said nothing');
    return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
  }

  lost(_call: CallKey, home: Peer, why: ForwardLoss): void {
    this.losses.push({ home: home.id, why });
  }

  has(): boolean {
    return false;
  }
}

export function at(home: Pick<Home, 'peer'>, isTaking = false): Located & { readonly kind: 'at_peer' } {
  return { kind: 'at_peer', home: home.peer, isTaking };
}

/** A turn as the platform sees it. */
export class PlatformTurn {
  readonly stream: ClientDuplexStream<Buffer, Buffer>;
  readonly received: Buffer[] = [];
  status: StatusObject | undefined;

  constructor(stream: ClientDuplexStream<Buffer, Buffer>, reads: boolean) {
    this.stream = stream;
    if (reads) this.read();
    stream.on('error', () => undefined);
    stream.on('status', (status: StatusObject) => (this.status = status));
  }

  read(): void {
    this.stream.on('data', (message: Buffer) => this.received.push(message));
  }

  send(...messages: readonly (string | Buffer)[]): this {
    for (const message of messages) this.stream.write(Buffer.from(message));
    return this;
  }

  async ended(): Promise<StatusObject> {
    await until('the turn has its status', () => this.status !== undefined);
    if (this.status === undefined) throw new Error('it was there');
    return this.status;
  }

  texts(): readonly string[] {
    return this.received.map(String);
  }
}

/** A server that forwards every turn, and a platform before it. */
export class Forwarder {
  readonly clock: CountedClock;
  readonly identity: PeerIdentity;
  readonly links: Links;
  readonly relays: Relays;
  readonly homes: ScriptedHomes;
  readonly events: string[] = [];
  readonly cameHome: { readonly located: Located; readonly held: HeldTurn }[] = [];
  readonly failed: { readonly error: AppError; readonly isReplyDue: boolean }[] = [];
  asked: Asked = { opensWith: 'nothing' };
  readonly #client: Client;
  readonly #port: number;

  private constructor(identity: PeerIdentity, homes: ScriptedHomes, port: number, maxOpen: number, clock: Clock) {
    this.clock = new CountedClock(clock);
    this.identity = identity;
    this.homes = homes;
    this.#port = port;
    this.links = new Links({ identity, clock: this.clock, log: SILENT });
    const observer: RelayObserver = {
      forwardOpened: () => this.events.push('opened'),
      homeAnswered: () => this.events.push('answered'),
      forwardEnded: (outcome, { toHome, toPlatform }) => this.events.push(`${outcome} ${String(toHome)} ${String(toPlatform)}`),
    };
    this.relays = new Relays({ homes, links: this.links, clock: this.clock, log: SILENT, maxOpen, observer });
    this.#client = new Client(`127.0.0.1:${String(port)}`, credentials.createInsecure());
  }

  /** @param table - learns who forwards. */
  static async open(table: Table, homes = new ScriptedHomes(), maxOpen = 1000, clock: Clock = systemClock): Promise<Forwarder> {
    const opened: { forwarder?: Forwarder } = {};
    const server = new Server();
    server.addService(DEFINITION, {
      Turn: (stream: HomeStream) => {
        opened.forwarder?.take(stream);
      },
    });
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
        if (error === null) resolve(bound);
        else reject(error);
      });
    });
    const forwarder = new Forwarder(await createPeerIdentity(new CountedClock().nowMs()), homes, port, maxOpen, clock);
    opened.forwarder = forwarder;
    table.fingerprints.add(forwarder.identity.fingerprint);
    onTestFinished(() => {
      forwarder.#client.close();
      forwarder.links.close();
      server.forceShutdown();
    });
    return forwarder;
  }

  /** Opens a turn. */
  call(options: { readonly metadata?: Record<string, string>; readonly deadlineMs?: number; readonly reads?: boolean } = {}): PlatformTurn {
    const metadata = Metadata.fromHttp2Headers(options.metadata ?? {});
    const deadline = options.deadlineMs === undefined ? {} : { deadline: this.clock.nowMs() + options.deadlineMs };
    const stream = this.#client.makeBidiStreamRequest(TURN.path, TURN.requestSerialize, TURN.responseDeserialize, metadata, deadline);
    return new PlatformTurn(stream, options.reads ?? true);
  }

  /** Opens a turn, sends a message, and leaves all answers where they are; clients of gRPC read ahead. Whoever asks destroys it. */
  callUnread(message: string): { readonly stream: ClientHttp2Stream; destroy(): void } {
    const session = http2.connect(`http://127.0.0.1:${String(this.#port)}`);
    const stream = session.request({ ':method': 'POST', ':path': TURN.path, 'content-type': 'application/grpc', te: 'trailers' });
    stream.write(framed(Buffer.from(message)));
    return {
      stream,
      destroy: () => {
        session.destroy();
      },
    };
  }

  take(stream: HomeStream): void {
    stream.once('data', (first: Buffer) => {
      stream.pause();
      void this.#forward(stream, first);
    });
    stream.on('error', () => undefined);
  }

  async #forward(stream: HomeStream, first: Buffer): Promise<void> {
    const located = await this.homes.locate(CALL, this.asked);
    if (located.kind !== 'at_peer') throw new Error('nothing to forward');
    const relay = this.relays.forward(
      {
        ...{ stream, first, call: CALL, trackingId: 'tracking', asked: this.asked },
        onStatus: ({ code, details, trailers }, onSent) => {
          if (code === 0) stream.end(trailers);
          else stream.emit('error', { code, details, metadata: trailers });
          setImmediate(onSent);
        },
        onHome: (found, held) => {
          this.cameHome.push({ located: found, held });
        },
        onFailed: (error, isReplyDue) => {
          this.failed.push({ error, isReplyDue });
          stream.emit('error', { code: 14, details: error.code });
        },
      },
      located,
    );
    if (relay === undefined) {
      stream.emit('error', { code: 8, details: 'too many' });
      return;
    }
    stream.on('data', (message: Buffer) => {
      relay.push(message);
    });
    stream.on('end', () => {
      relay.halfClose();
    });
    stream.on('cancelled', () => {
      relay.cancel();
    });
  }
}
