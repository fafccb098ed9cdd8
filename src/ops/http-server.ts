// The operations HTTP server: health checks, metrics, the latest calls and the platform's ping (O-01). It needs no
// token, so it listens on loopback by default, takes no bodies and shows no caller data. WebSocket upgrades go to the
// server that shares the port.
import fastify, { type FastifyInstance, type RouteShorthandOptions } from 'fastify';
import { ServerResponse, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { isLoopback } from '../base/loopback.ts';
import { isExpectedHost } from './host-names.ts';
import type { Readiness } from './readiness.ts';

/** Source of GET /metrics. */
interface MetricsSource {
  readonly contentType: string;
  text(): Promise<string>;
}

interface OfOrganization {
  readonly organizationId: string;
}

/** The body of GET /calls: plain values. */
interface RecentCalls {
  readonly calls: readonly OfOrganization[];
  /** Refused calls. */
  readonly refused: readonly OfOrganization[];
}

/** Source of GET /calls. */
interface CallsSource {
  recent(): RecentCalls | Promise<RecentCalls>;
  find(conversationId: string): object | undefined | Promise<object | undefined>;
}

/** A server of another protocol on the same port. */
interface UpgradesPort {
  /** Takes a connection and closes it; the operations server does not cut it. */
  readonly take: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Most connections of that server; this port accepts that many more. */
  readonly maxConnections: number;
}

export interface OpsOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Host names for calls and metrics, besides `host`, localhost and IP addresses. */
  readonly hostNames: readonly string[];
  /** The NAME in /NAME/v1/ping. */
  readonly serviceName: string;
  readonly readiness: Pick<Readiness, 'current'>;
  readonly metrics: MetricsSource;
  readonly calls: CallsSource;
  /** Default: upgrade requests are answered like any other. */
  readonly upgrades?: UpgradesPort;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A listening server. */
export interface OpsServer {
  /** `host:port` as bound. */
  readonly address: string;
  /** The bound port. */
  readonly port: number;
  /** Stops listening and cuts open connections, because probes are short. */
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 1024;
/** Room for the largest token in an upgrade request. */
const MAX_HEADER_BYTES = 16_384;
const MAX_CONNECTIONS = 100;
const REQUEST_TIMEOUT_MS = 5000;
const IDLE_CONNECTION_MS = 10_000;

/**
 * Starts the server.
 *
 * @throws AppError `listen_failed` when the address is taken or not allowed.
 */
export async function startOpsServer(options: OpsOptions): Promise<OpsServer> {
  const server = fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: IDLE_CONNECTION_MS,
    forceCloseConnections: true,
    http: { maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: REQUEST_TIMEOUT_MS, connectionsCheckingInterval: 1000 },
    // The framework's text would repeat the malformed URL.
    frameworkErrors: (_error, _request, reply) => {
      reply.hijack();
      reply.raw.writeHead(400, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(fixedText(400)));
    },
  });
  server.server.maxConnections = MAX_CONNECTIONS + (options.upgrades?.maxConnections ?? 0);
  if (options.upgrades !== undefined) passUpgrades(server, options.upgrades.take);
  answerUnknownRoutes(server, options.log);
  addRoutes(server, options);
  if (!isLoopback(options.host)) {
    options.log.warn(
      { event: 'ops_exposed', host: options.host },
      'the operations port needs no token and other machines can reach it: restrict it with a firewall',
    );
  }
  try {
    await server.listen({ host: options.host, port: options.port });
  } catch (cause) {
    await server.close();
    throw new AppError(
      'listen_failed',
      `the operations server cannot listen on ops.host ${options.host}, ops.port ${String(options.port)}`,
      {
        details: { host: options.host, port: options.port },
        cause,
      },
    );
  }
  // Only pipes have a string as address.
  const { address, family, port } = server.server.address() as AddressInfo;
  const host = family === 'IPv6' ? `[${address}]` : address;
  return { address: `${host}:${String(port)}`, port, close: () => server.close() };
}

/**
 * Passes WebSocket upgrades on. Requests that offer another protocol, as many health checkers offer HTTP/2, are
 * answered as usual.
 */
function passUpgrades(server: FastifyInstance, take: UpgradesPort['take']): void {
  /** Upgraded connections, which the HTTP server neither cuts nor limits. */
  const detached = new Set<Socket>();
  server.server.on('upgrade', (request, duplex, head) => {
    if (request.headers.upgrade?.toLowerCase() === 'websocket') {
      take(request, duplex, head);
      return;
    }
    const { socket } = request;
    detached.add(socket);
    socket.once('close', () => detached.delete(socket));
    socket.on('error', () => undefined);
    socket.setTimeout(IDLE_CONNECTION_MS, () => socket.destroy());
    // No body will be read.
    request.complete = true;
    request.push(null);
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => {
      socket.destroySoon();
    });
    server.server.emit('request', request, response);
  });
  server.addHook('preClose', async () => {
    for (const socket of detached) socket.destroy();
    return Promise.resolve();
  });
}

/** For routes that show calls or metrics. Ping and health checks show nothing and may use any host name. */
function demandExpectedHost({ host, hostNames }: OpsOptions): RouteShorthandOptions {
  return {
    onRequest: async (request, reply) => {
      if (isExpectedHost(request.headers.host, [host, ...hostNames])) return;
      await reply.code(421).send({ error: 'this host name is not in ops.host_names' });
    },
  };
}

function addRoutes(server: FastifyInstance, options: OpsOptions): void {
  const { readiness, metrics, calls, clock, serviceName } = options;
  const guarded = demandExpectedHost(options);
  server.addHook('onSend', async (_request, reply) => {
    reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
    return Promise.resolve();
  });
  server.get('/health/live', () => ({ live: true }));
  server.get('/health/ready', (_request, reply) => {
    const state = readiness.current;
    return reply.code(state.ready ? 200 : 503).send(state);
  });
  server.get('/metrics', guarded, async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
  server.get<{ Querystring: Readonly<Record<string, unknown>> }>('/calls', guarded, async ({ query }, reply) => {
    const { organizationId, ...others } = query;
    // A misspelt filter must not return everything.
    const isKnown = Object.keys(others).length === 0 && (organizationId === undefined || typeof organizationId === 'string');
    if (!isKnown) return reply.code(400).send({ error: 'the one parameter is organizationId, once' });
    const recent = await calls.recent();
    const isMeant = (one: OfOrganization): boolean => organizationId === undefined || one.organizationId === organizationId;
    return { calls: recent.calls.filter(isMeant), refused: recent.refused.filter(isMeant) };
  });
  server.get<{ Params: { conversationId: string } }>('/calls/:conversationId', guarded, async (request, reply) => {
    const call = await calls.find(request.params.conversationId);
    return call === undefined ? reply.code(404).send(fixedText(404)) : reply.send(call);
  });
  server.get(`/${serviceName}/v1/ping`, (_request, reply) => {
    const { ready } = readiness.current;
    return reply.code(ready ? 200 : 503).send({
      serviceName,
      serviceType: 'REQUIRED',
      serviceState: ready ? 'online' : 'offline',
      message: `${serviceName} is ${ready ? 'ONLINE' : 'OFFLINE'}`,
      lastUpdated: new Date(clock.nowMs()).toISOString(),
    });
  });
}

/** Unknown routes get a fixed text. */
function answerUnknownRoutes(server: FastifyInstance, log: Logger): void {
  server.setNotFoundHandler((_request, reply) => reply.code(404).send(fixedText(404)));
  server.setErrorHandler((error, request, reply) => {
    const given = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
    const status = typeof given === 'number' && given >= 400 && given < 500 ? given : 500;
    // The route's pattern, because the URL is untrusted.
    if (status === 500) log.error({ err: error, route: request.routeOptions.url }, 'an operations request failed');
    return reply.code(status).send(fixedText(status));
  });
}

function fixedText(status: number): { readonly error: string } {
  if (status === 404) return { error: 'not found' };
  return { error: status < 500 ? 'bad request' : 'internal error' };
}
