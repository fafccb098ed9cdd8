// A phone as a web page, on loopback: serves the page and its data, and makes a call for each WebSocket of the page. Requests must name
// this host and this origin, so that no page of another site can use the phone.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import fastify, { type FastifyReply } from 'fastify';
import { WebSocketServer, type WebSocket } from 'ws';
import { AppError } from '../../base/errors.ts';
import { bodyPart } from '../../base/body-part.ts';
import { callerScript, type CallerScript } from '../caller/caller-again.ts';
import { DEFAULT_LIMITS } from '../caller/call-clock.ts';
import { openConnection } from '../lines/open-connection.ts';
import { parseTarget } from '../lines/target.ts';
import type { MessageLog } from './message-log.ts';
import { SoftphoneCall, type CallWatch, type SoftphoneCallOptions, QUALITIES } from './softphone-call.ts';
import type { Choices, ToPage } from './softphone-api.ts';

export interface PageFile {
  readonly type: string;
  readonly body: Uint8Array | string;
}

export interface SoftphoneOptions extends Pick<SoftphoneCallOptions, 'access' | 'voice' | 'modelsUrl' | 'clock' | 'checkBots'> {
  /** 0: any free port. */
  readonly port: number;
  /** The file at a path such as `/`. Called for every request, because a page may have been built anew. */
  readonly file: (path: string) => Promise<PageFile | undefined>;
  readonly watch: (conversationId: string, messages: MessageLog) => CallWatch;
  /** One side's audio of a call that has ended, as WAV; undefined: there is none. */
  readonly sound: (conversationId: string, side: string) => Uint8Array | undefined;
}

export interface Softphone {
  /** `http://127.0.0.1:PORT/` */
  readonly url: string;
  /** Ends calls and closes everything. */
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
/** Most parallel calls: more than one person needs. */
const MAX_CALLS = 4;
/** Most callers that are kept to call again. The caller of the longest call takes 14 MB. */
const MAX_SCRIPTS = 5;
/** Longest WAV from a page, bytes: ten minutes at 16 kHz and 16 bits. */
const MAX_WAV_BYTES = 20_000_000;
const LIST_LIMIT_MS = 5000;
const REQUEST_LIMIT_MS = 10_000;

/** Starts the softphone. @throws AppError `listen_failed` when the port is taken. */
export async function startSoftphone(options: SoftphoneOptions): Promise<Softphone> {
  const calls = new SoftphoneCalls(options);
  // The port is known when the server listens.
  const bound = { port: options.port };
  const server = fastify({ logger: false, requestTimeout: REQUEST_LIMIT_MS, forceCloseConnections: true });
  server.addHook('onRequest', async ({ headers }, reply) => {
    if (!isOwnHost(headers.host, bound.port)) await reply.code(421).send('this host name is not expected');
  });
  server.addHook('onSend', async (_request, reply) => {
    secured(reply, bound.port);
    return Promise.resolve();
  });
  server.get('/choices', () => calls.choices());
  server.get<{ Params: { id: string; side: string } }>('/calls/:id/:side.wav', ({ params, headers }, reply) => {
    const wav = options.sound(params.id, params.side);
    if (wav === undefined) return reply.code(404).send();
    const part = bodyPart(Buffer.from(wav), headers.range);
    return reply.code(part.status).headers(part.headers).type('audio/wav').send(part.body);
  });
  server.setNotFoundHandler(async ({ url, method }, reply) => {
    const file = method === 'GET' ? await options.file(new URL(url, 'http://page').pathname) : undefined;
    return file === undefined ? reply.code(404).send('not found') : reply.type(file.type).send(file.body);
  });
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_WAV_BYTES, perMessageDeflate: false });
  server.server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => undefined);
    if (isOwnPage(request, bound.port) && request.url === '/call') {
      sockets.handleUpgrade(request, socket, head, (opened) => void calls.hold(opened));
    } else socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n');
  });
  try {
    await server.listen({ host: HOST, port: options.port });
  } catch (cause) {
    await server.close();
    throw new AppError('listen_failed', `the page cannot listen on ${HOST}:${String(options.port)}: choose another with --port`, {
      cause,
      details: { port: options.port },
    });
  }
  // A server that listens on a port has an address object; only a pipe has a string.
  bound.port = (server.server.address() as AddressInfo).port;
  return {
    url: `http://${HOST}:${String(bound.port)}/`,
    close: async () => {
      const over = calls.close();
      // Also closes pages that have not called yet.
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      await over;
      await server.close();
    },
  };
}

class SoftphoneCalls {
  readonly #options: SoftphoneOptions;
  readonly #running = new Set<Promise<unknown>>();
  readonly #stop = new AbortController();
  /** Callers that can call again, by conversation id, oldest first. */
  readonly #scripts = new Map<string, CallerScript>();

  constructor(options: SoftphoneOptions) {
    this.#options = options;
  }

  async choices(): Promise<Choices> {
    const { access, checkBots, clock } = this.#options;
    const problem = await checkBots();
    const { target, ...more } = access('grpc');
    const connection = openConnection({ ...more, target: parseTarget(target), clock, connectLimitMs: DEFAULT_LIMITS.connectMs });
    try {
      const listed = await connection.listAgents(more.organizationId, LIST_LIMIT_MS);
      const [bots, unlisted] = 'code' in listed ? [[], `The bots cannot be listed: ${listed.message}`] : [listed];
      return { bots, lines: QUALITIES, lastCall: [...this.#scripts.keys()].at(-1), problem: unlisted ?? problem };
    } finally {
      await connection.close();
    }
  }

  async hold(socket: WebSocket): Promise<void> {
    if (this.#running.size >= MAX_CALLS) {
      refuse(socket, `${String(MAX_CALLS)} calls go on already: hang up one of them`);
      return;
    }
    const { watch, ...options } = this.#options;
    const conversationId = randomUUID();
    const call = new SoftphoneCall({
      ...options,
      ...{ socket, conversationId, signal: this.#stop.signal },
      scriptOf: (id) => this.#scripts.get(id),
      watch: (messages) => watch(conversationId, messages),
    }).hold();
    this.#running.add(call);
    const result = await call;
    this.#running.delete(call);
    // Without a reply there was no conversation to repeat.
    if (result === undefined || result.replies.length === 0) return;
    const [oldest] = this.#scripts.keys();
    if (this.#scripts.size >= MAX_SCRIPTS && oldest !== undefined) this.#scripts.delete(oldest);
    this.#scripts.set(conversationId, callerScript(result));
  }

  async close(): Promise<void> {
    this.#stop.abort('shutdown');
    await Promise.all(this.#running);
  }
}

function refuse(socket: WebSocket, message: string): void {
  socket.on('error', () => undefined);
  socket.send(JSON.stringify({ type: 'over', outcome: 'refused', message } satisfies ToPage));
  socket.close();
}

/** Whether a request names this machine as its host. A page of another site names its own host, even when that name leads here. */
function isOwnHost(host: string | undefined, port: number): host is string {
  return [HOST, 'localhost'].some((name) => host === `${name}:${String(port)}`);
}

function isOwnPage({ headers }: IncomingMessage, port: number): boolean {
  return isOwnHost(headers.host, port) && headers.origin === `http://${headers.host}`;
}

function secured(reply: FastifyReply, port: number): void {
  const sockets = [HOST, 'localhost'].map((name) => `ws://${name}:${String(port)}`).join(' ');
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "media-src 'self' blob:",
    `connect-src 'self' ${sockets}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  reply
    .header('content-security-policy', policy.join('; '))
    .header('cache-control', 'no-store')
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .header('cross-origin-resource-policy', 'same-origin');
}
