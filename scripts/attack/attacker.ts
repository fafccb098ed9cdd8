// Everything a stranger does to a server's two ports, in a process of its own, so that callers are not measured by what it costs to
// attack: broken and silent connections, abuses of HTTP/2, forged tokens, and mutated messages of somebody whose token is good.
import http2 from 'node:http2';
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { seededNumbers } from '../../src/base/seeded-numbers.ts';
import type { ForgedToken } from './forged-tokens.ts';
import { ABUSES, type Abuse } from './http2-abuses.ts';
import { mutated, mutatedText } from './mutations.ts';

/** What an attacker is to do. */
export interface Orders {
  readonly port: number;
  readonly socketPort: number;
  readonly callerInputPath: string;
  readonly seconds: number;
  readonly seed: number;
  readonly broken: number;
  readonly silent: number;
  readonly forged: readonly ForgedToken[];
  /** Good ones: for those whose messages are mutated. */
  readonly token: string;
  readonly socketToken: string;
  /** Messages of a call, Base64, and as the text of envelopes. */
  readonly messages: readonly string[];
  readonly envelopes: readonly string[];
}

/** What was done so far. */
export interface Deeds {
  broken: number;
  silent: number;
  abuses: number;
  forged: number;
  mutated: number;
  /** Names of forged tokens that were accepted. */
  accepted: string[];
  /** Names of abuses whose connection was still open long after. */
  left: string[];
}

/** 42 bytes after which Node 20 neither closes a connection nor sees that its client has. */
const BROKEN = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from('000000040000000000', 'hex'),
  Buffer.from('ffffff000000000001', 'hex'),
]);
/** Connections a second of a flood. */
const PER_S = 200;
/** A connection without a token ends after five seconds; a machine with much to do is given time. */
const LEFT_MS = 15_000;
const ABUSES_AT_ONCE = 3;
const ANSWER_MS = 15_000;

/** Attacks until its time is over; reports what it has done from time to time. */
export async function attack(orders: Orders, report: (deeds: Deeds) => void): Promise<Deeds> {
  const deeds: Deeds = { broken: 0, silent: 0, abuses: 0, forged: 0, mutated: 0, accepted: [], left: [] };
  const untilMs = performance.now() + orders.seconds * 1000;
  const reports = setInterval(() => {
    report(deeds);
  }, 10_000);
  const again = async (work: () => Promise<void>): Promise<void> => {
    while (performance.now() < untilMs) await work();
  };
  await Promise.all([
    again(async () => {
      await floodOf(orders.broken, orders.port, untilMs, true, () => (deeds.broken += 1));
      await floodOf(orders.silent, orders.port, untilMs, false, () => (deeds.silent += 1));
    }),
    again(() => abuseAll(orders.port, untilMs, deeds)),
    again(() => forgeAll(orders, untilMs, deeds)),
    again(() => mutateStreams(orders, deeds)),
    again(() => mutateSockets(orders, deeds)),
  ]);
  clearInterval(reports);
  return deeds;
}

function connect(port: number): net.Socket {
  return net.connect(port, '127.0.0.1').on('error', () => undefined);
}

function closed(socket: net.Socket, limitMs: number): Promise<boolean> {
  if (socket.destroyed) return Promise.resolve(true);
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      resolve(false);
    }, limitMs);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

/** @param isBroken - they break the protocol and go; the others say nothing and stay until the server closes them. */
async function floodOf(count: number, port: number, untilMs: number, isBroken: boolean, done: () => void): Promise<void> {
  const open: net.Socket[] = [];
  for (let each = 0; each < count && performance.now() < untilMs; each += 1) {
    const socket = connect(port);
    if (isBroken) {
      socket.write(BROKEN);
      // Read, or the end is a reset, which the server would see.
      socket.resume().once('data', () => socket.end());
    } else socket.resume();
    open.push(socket);
    done();
    if (each % 10 === 9) await pause(10_000 / PER_S);
  }
  await pause(Math.min(2000, Math.max(0, untilMs - performance.now())));
  for (const socket of open) socket.destroy();
}

async function abuseAll(port: number, untilMs: number, deeds: Deeds): Promise<void> {
  const waiting = [...ABUSES];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined && performance.now() < untilMs; next = waiting.shift()) {
      if (!(await abuse(next, port))) deeds.left.push(next.name);
      deeds.abuses += 1;
    }
  };
  await Promise.all(Array.from({ length: ABUSES_AT_ONCE }, worker));
}

/** @returns whether the server has ended the connection, sooner or later. */
async function abuse({ pieces, isReading = true }: Abuse, port: number): Promise<boolean> {
  const socket = connect(port);
  if (isReading) socket.resume();
  for (const piece of pieces()) {
    if (socket.destroyed) break;
    // Who reads nothing may be read no more; then this is all there is to send.
    if (!socket.write(piece)) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed(socket, 1000)]);
  }
  // Whoever does not read sees no end, and would wait for ever: now it does.
  if (!isReading) {
    await pause(1000);
    socket.resume();
  }
  const wasClosed = await closed(socket, LEFT_MS);
  socket.destroy();
  return wasClosed;
}

async function forgeAll({ forged, port, socketPort, callerInputPath }: Orders, untilMs: number, deeds: Deeds): Promise<void> {
  for (const { name, value, onSocket = value } of forged) {
    if (performance.now() > untilMs) return;
    if (await streamAccepted(port, callerInputPath, value)) deeds.accepted.push(`gRPC: ${name}`);
    if (await socketAccepted(socketPort, onSocket)) deeds.accepted.push(`WebSocket: ${name}`);
    deeds.forged += 1;
  }
}

/** Whether a stream gets another answer than UNAUTHENTICATED, or none. */
async function streamAccepted(port: number, path: string, authorization: string | undefined): Promise<boolean> {
  const session = http2.connect(`http://127.0.0.1:${String(port)}`).on('error', () => undefined);
  try {
    const head = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' };
    const stream = session.request(authorization === undefined ? head : { ...head, authorization });
    stream
      .on('error', () => undefined)
      .resume()
      .end();
    return await new Promise<boolean>((resolve) => {
      const readStatus = (headers: http2.IncomingHttpHeaders): void => {
        const code = headers['grpc-status'];
        if (code !== undefined) resolve(code !== '16');
      };
      stream.on('response', readStatus).on('trailers', readStatus);
      // Refused before any token was checked, which accepts nobody.
      stream.once('close', () => {
        resolve(false);
      });
      stream.setTimeout(ANSWER_MS, () => {
        resolve(true);
      });
    });
  } catch {
    // No client can send such a header.
    return false;
  } finally {
    session.destroy();
  }
}

async function socketAccepted(port: number, authorization: string | undefined): Promise<boolean> {
  const socket = connect(port);
  const lines = ['GET /v1/va HTTP/1.1', 'Host: h', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
  const given = authorization === undefined ? [] : [`Authorization: ${/^Bearer/iu.test(authorization) ? '' : 'Bearer '}${authorization}`];
  socket.write([...lines, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', ...given, '', ''].join('\r\n'));
  let said = '';
  socket.on('data', (chunk: Buffer) => (said += chunk.toString('latin1')));
  await Promise.race([new Promise((resolve) => socket.once('data', resolve)), closed(socket, ANSWER_MS)]);
  socket.destroy();
  return said.startsWith('HTTP/1.1 101');
}

let round = 0;

/** Streams of a good token whose messages are wrong in some places. */
async function mutateStreams({ port, callerInputPath, token, messages, seed }: Orders, deeds: Deeds): Promise<void> {
  const random = seededNumbers(seed + (round += 1));
  const session = http2.connect(`http://127.0.0.1:${String(port)}`).on('error', () => undefined);
  const head = { ':method': 'POST', ':path': callerInputPath, 'content-type': 'application/grpc', te: 'trailers', authorization: token };
  const streams = Array.from({ length: 5 }, async () => {
    const stream = session.request(head).on('error', () => undefined);
    stream.resume();
    for (const message of messages) {
      const bytes = mutated(Buffer.from(message, 'base64'), random);
      const prefix = Buffer.alloc(5);
      prefix.writeUInt32BE(bytes.length, 1);
      if (!stream.destroyed && !stream.writableEnded)
        stream.write(Buffer.concat([random() < 0.05 ? mutated(prefix, random) : prefix, bytes]));
      deeds.mutated += 1;
      await pause(random() * 40);
    }
    stream.end();
    await pause(300);
    stream.close();
  });
  await Promise.all(streams);
  session.destroy();
}

async function mutateSockets({ socketPort, socketToken, envelopes, seed }: Orders, deeds: Deeds): Promise<void> {
  const random = seededNumbers(seed + (round += 1));
  const socket = new WebSocket(`ws://127.0.0.1:${String(socketPort)}/v1/va`, { headers: { authorization: `Bearer ${socketToken}` } });
  socket.on('error', () => undefined);
  const over = new Promise<void>((resolve) => {
    socket.once('close', () => {
      resolve();
    });
  });
  const opened = new Promise<void>((resolve) => {
    socket.once('open', resolve);
  });
  await Promise.race([opened, over, pause(ANSWER_MS)]);
  const conversation = `attack-${String(seed)}-${String(round)}`;
  for (const [index, envelope] of envelopes.entries()) {
    if (socket.readyState !== WebSocket.OPEN) break;
    const text = envelope.replaceAll('CONVERSATION', conversation);
    // The first ones are mostly right, or no call would ever begin.
    socket.send(random() < (index === 0 ? 0.3 : 0.7) ? mutatedText(text, random) : text);
    deeds.mutated += 1;
    await pause(random() * 60);
  }
  socket.terminate();
  await over;
}
