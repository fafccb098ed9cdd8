// The operations HTTP server: health checks, metrics, the latest calls, the console and the platform's ping (O-01). It listens on
// loopback by default. WebSocket upgrades go to the server that shares the port.
import fastify, { type FastifyInstance } from 'fastify';
import type { AddressInfo } from 'node:net';
import { AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { isLoopback } from '../base/loopback.ts';
import { ConsoleAccess, type ConsoleSecrets, type ConsoleSettings } from './console-access.ts';
import { Guard } from './console-guard.ts';
import { addConsole, type ConsoleRoutesOptions } from './console-routes.ts';
import { addRoutes, fixedText, type RoutesOptions } from './routes.ts';
import { passUpgrades, type UpgradesPort } from './upgrades.ts';

export interface OpsOptions extends Omit<RoutesOptions, 'guard'> {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Allowed host names for calls, console and metrics, besides `host`, localhost and IP addresses. */
  readonly hostNames: readonly string[];
  readonly console: ConsoleSettings;
  /** What the console shows, and the files of its page. Default: no console. */
  readonly shows?: Pick<ConsoleRoutesOptions, 'source' | 'file'>;
  /** Default: upgrade requests are answered like any other. */
  readonly upgrades?: UpgradesPort;
  readonly log: Logger;
}

/** A listening server. */
export interface OpsServer {
  /** `host:port` as bound. */
  readonly address: string;
  /** The bound port. */
  readonly port: number;
  /** Replaces the secrets of `ops.console`. @returns whether any secret changed. */
  renew(secrets: ConsoleSecrets): boolean;
  /** Stops listening and cuts open connections. */
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 1024;
/** Large enough for the longest token in an upgrade request. */
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
    // The framework's own text would repeat the malformed URL.
    frameworkErrors: (_error, _request, reply) => {
      reply.hijack();
      reply.raw.writeHead(400, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(fixedText(400)));
    },
  });
  server.server.maxConnections = MAX_CONNECTIONS + (options.upgrades?.maxConnections ?? 0);
  if (options.upgrades !== undefined) passUpgrades(server, options.upgrades.take, IDLE_CONNECTION_MS);
  answerUnknownRoutes(server, options.log);
  const { host: listened, hostNames, console, clock, log } = options;
  const access = new ConsoleAccess({ host: listened, console, clock });
  const guard = new Guard({ access, names: [listened, ...hostNames], guardsMetrics: console.guardsMetrics, clock, log });
  server.addHook('onSend', async (_request, reply) => {
    reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
    return Promise.resolve();
  });
  addRoutes(server, { ...options, guard });
  if (options.shows !== undefined) addConsole(server, { ...options.shows, access, guard });
  if (!isLoopback(listened)) {
    log.warn(
      { event: 'ops_exposed', host: listened, console: access.isClosed ? 'closed' : 'guarded' },
      'health checks need no token and other machines can reach the operations port: restrict it with a firewall',
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
  return { address: `${host}:${String(port)}`, port, renew: (secrets) => access.renew(secrets), close: () => server.close() };
}

/** Answers unknown routes and errors with fixed texts. */
function answerUnknownRoutes(server: FastifyInstance, log: Logger): void {
  server.setNotFoundHandler((_request, reply) => reply.code(404).send(fixedText(404)));
  server.setErrorHandler((error, request, reply) => {
    const given = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
    const status = typeof given === 'number' && given >= 400 && given < 500 ? given : 500;
    // Logs the route's pattern, because the URL is untrusted.
    if (status === 500) log.error({ err: error, route: request.routeOptions.url }, 'an operations request failed');
    return reply.code(status).send(fixedText(status));
  });
}
