// What comes to the port between servers. The first byte says from whom: 0 without TLS, 1 without a certificate, 2 with one that nobody
// knows, 3 another server of ours. What follows is written on the connection.
import net from 'node:net';
import tls from 'node:tls';
import { systemClock } from '../../../src/base/clock.ts';
import { createLogger } from '../../../src/base/log.ts';
import { framed } from '../../../src/transport/forward/frames.ts';
import { createPeerIdentity, type PeerIdentity } from '../../../src/transport/forward/identity.ts';
import { openPeerPort, type PeerPort } from '../../../src/transport/forward/peer-port.ts';
import type { Area, Reaction } from '../area.ts';
import { frame, GREETING, requestOf, TYPE } from '../http2-abuses.ts';
import { ANSWER_MS, isClosedWithin } from '../target.ts';
import { answersIn, mutatedFrames } from './http2-frames.ts';

const ID = 'INSTANCE-OF-THE-PORT';
const TURN = '/media/Turn';
const PATHS = [TURN, '/parley.peer.v1.Peer/Has', '/parley.peer.v1.Peer/Delivered', '/parley.peer.v1.Peer/Ask'];
const FROM = { plain: 0, bare: 1, unknown: 2, peer: 3 } as const;

export async function peerPort(): Promise<Area> {
  const [own, peer, stranger] = await Promise.all([0, 1, 2].map(() => createPeerIdentity(systemClock.nowMs())));
  if (own === undefined || peer === undefined || stranger === undefined) throw new TypeError('three were made');
  /** What came to a handler. */
  const reached = { strict: 0 };
  // Nobody gets in at the first port; at the second one, `peer` does.
  const strict = await open(
    own,
    () => false,
    () => (reached.strict += 1),
  );
  const friendly = await open(
    own,
    (fingerprint) => fingerprint === peer.fingerprint,
    () => undefined,
  );
  const rpcs = PATHS.map((path) => {
    const request = requestOf(path, { 'parley-forward-to': ID, 'parley-turn': 'turn' });
    return Buffer.concat([GREETING, frame(TYPE.headers, 4, 1, request), frame(TYPE.data, 1, 1, framed(Buffer.from('{}')))]);
  });
  return {
    name: 'peer-port',
    seeds: Object.values(FROM).flatMap((from) => rpcs.map((rpc) => Buffer.concat([Buffer.of(from), rpc]))),
    mutate: (input, random, other) => {
      const from = random() < 0.05 ? Math.floor(random() * 5) : (input[0] ?? 0);
      return Buffer.concat([Buffer.of(from), mutatedFrames(input.subarray(1), random, other.subarray(1))]);
    },
    send: async (input) => {
      const isPeer = input[0] === FROM.peer;
      const identity = isPeer ? peer : input[0] === FROM.unknown ? stranger : undefined;
      const reaction = await send(input, isPeer ? friendly.port : strict.port, identity);
      return reached.strict > 0 ? { ...reaction, wrong: 'a stranger got through to the peer port' } : reaction;
    },
    close: async () => {
      await Promise.all([strict.close(0), friendly.close(0)]);
    },
  };
}

async function open(identity: PeerIdentity, has: (fingerprint: string) => boolean, onReached: () => void): Promise<PeerPort> {
  const port = await openPeerPort({
    ...{ host: '127.0.0.1', port: 0, identity, instanceId: ID, maxMessageBytes: 1_000_000, clock: systemClock },
    known: { has, refresh: () => Promise.resolve() },
    answer: (question) => {
      onReached();
      return Promise.resolve(question);
    },
    log: createLogger({ level: 'silent' }),
  });
  const handler: Parameters<PeerPort['serve']>[1] = (turn) => {
    onReached();
    turn
      .on('error', () => undefined)
      .on('end', () => {
        turn.end();
      });
    turn.resume();
  };
  port.serve(TURN, handler, {
    has: () => {
      onReached();
      return true;
    },
  });
  return port;
}

async function send(input: Buffer, port: number, identity: PeerIdentity | undefined): Promise<Reaction> {
  const at = { port, host: '127.0.0.1' };
  const shown = identity === undefined ? {} : { cert: identity.certificate, key: identity.key };
  // The certificate of the port is its own; the servers compare its fingerprint.
  const socket =
    input[0] === FROM.plain ? net.connect(at) : tls.connect({ ...at, ...shown, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
  const chunks: Buffer[] = [];
  socket.on('error', () => undefined).on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.end(input.subarray(1));
  const isClosed = await isClosedWithin(socket, ANSWER_MS);
  const outcome = answersIn(Buffer.concat(chunks));
  const named = `${String(input[0])} ${input[0] === FROM.plain ? '' : outcome}`;
  if (!isClosed) return { outcome: named, wrong: 'a connection to the peer port stayed open' };
  return { outcome: named };
}
