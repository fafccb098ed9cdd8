// The HTTP side: serves the routes. Applies the ordered faults, and does for all resources what the contract demands of every request:
// tracking id, date, media types, tokens and scopes, rate limit, form of errors.
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { AppError } from '../../base/errors.ts';
import type { Fault } from './faults.ts';
import type { Asker } from './journal.ts';
import type { Platform } from './platform.ts';
import { Refusal } from './refusal.ts';
import type { Answer, Asked, Permitted, Route, RouteName } from './route.ts';
import { CONTROL_PREFIX } from './control-wire.ts';
import type { ControlCommands } from './control.ts';
import { isSameSecret } from './application-token.ts';

export interface ServerOptions {
  readonly routes: readonly Route[];
  /** 0: any free port. */
  readonly port: number;
  /** Undefined: nobody can control the platform over HTTP. */
  readonly control: Control | undefined;
}

export interface ApiServer {
  readonly port: number;
  /** Stops listening and closes open connections. */
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const MAX_BODY_BYTES = 65_536;
const MAX_HEADER_BYTES = 16_384;
const MAX_CONNECTIONS = 200;
const MAX_PARAM_CHARS = 500;
const REQUEST_TIMEOUT_MS = 30_000;
/** The message of an answer that is an ordered fault. */
const ORDERED = 'ordered by a test';
const BEARER = /^Bearer +(?<token>[\w.~+/-]+=*)$/iu;

/** Starts the server on 127.0.0.1. @throws AppError `listen_failed` when the port is taken. */
export async function startServer(platform: Platform, { routes, port: wanted, control }: ServerOptions): Promise<ApiServer> {
  const server = fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: MAX_PARAM_CHARS },
    http: { maxHeaderSize: MAX_HEADER_BYTES },
    genReqId: () => `ROUTER_${randomUUID().toUpperCase()}`,
    frameworkErrors: (_error, request, reply) => refuse(platform, request, reply, new Refusal(400, 'the address cannot be read')),
  });
  server.server.maxConnections = MAX_CONNECTIONS;
  server.removeContentTypeParser('text/plain');
  server.decorateRequest('asker', undefined);
  addHooks(server, platform);
  addRoutes(server, platform, routes);
  if (control !== undefined) await addControl(server, control);
  await server.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, parsed) => parsed(null, body));
    for (const route of routes) if (route.takes === 'form') addRoute(scope, platform, route);
    done();
  });
  try {
    await server.listen({ host: HOST, port: wanted });
  } catch (cause) {
    await server.close();
    throw new AppError('listen_failed', `the administration side cannot listen on ${HOST}:${String(wanted)}`, {
      cause,
      details: { port: wanted },
    });
  }
  // A server that listens on a port has an address object; only a pipe has a string.
  const { port } = server.server.address() as AddressInfo;
  return { port, close: () => server.close() };
}

function addHooks(server: FastifyInstance, platform: Platform): void {
  server.addHook('onRequest', (request, reply, done) => {
    reply.header(platform.names.rest.trackingHeader, request.id).header('date', new Date(platform.nowMs()).toUTCString());
    reply.header('cache-control', 'no-store');
    done();
  });
  server.addHook('onSend', (request, reply, _payload, done) => {
    note(platform, request, reply.statusCode, true);
    done();
  });
  server.setNotFoundHandler((request, reply) => refuse(platform, request, reply, new Refusal(404, 'there is no such path')));
  server.setErrorHandler((error, request, reply) => refuse(platform, request, reply, asRefusal(error)));
}

function addRoutes(server: FastifyInstance, platform: Platform, routes: readonly Route[]): void {
  const methods = new Map<string, string[]>();
  for (const route of routes) {
    if (route.takes !== 'form') addRoute(server, platform, route);
    for (const path of pathsOf(route)) methods.set(path, [...(methods.get(path) ?? []), methodOf(route.name)]);
  }
  for (const [path, allow] of methods) {
    const method = METHODS.filter((other) => !allow.includes(other));
    server.route({
      method,
      url: platform.prefix + path,
      // Refuses before the body is read, so that a wrong media type does not hide the 405.
      onRequest: (_request, _reply, done) => done(new Refusal(405, 'the path does not have this method', { allow })),
      handler: () => undefined,
    });
  }
}

function addRoute(server: FastifyInstance, platform: Platform, route: Route): void {
  for (const path of pathsOf(route)) {
    server.route<{ Params: { id?: string } }>({
      method: methodOf(route.name),
      url: platform.prefix + path,
      config: { routeName: route.name },
      handler: async (request, reply) => {
        const fault = platform.faults.take(route.name);
        if (fault !== undefined && isPlayedFirst(fault)) return playFault(fault, platform, request, reply);
        const body = route.takes === 'form' ? readForm(request.body) : request.body;
        const asked: Asked = { path, id: request.params.id ?? '', query: request.query, body };
        const work = answered(route, asked, request, platform);
        if (fault === undefined) return send(reply, await work);
        const status = await work.then(
          (answer) => answer.status,
          (thrown: unknown) => asRefusal(thrown).status,
        );
        if (fault.kind === 'refused_after_all') throw new Refusal(fault.status, ORDERED);
        return cut(platform, request, reply, status);
      },
    });
  }
}

/** Checks token, scope, rate limit and media type, and then asks the resource. */
async function answered(route: Route, asked: Asked, request: FastifyRequest, platform: Platform): Promise<Answer> {
  const permitted = route.needs === 'nothing' ? undefined : permit(route.needs, asked, request, platform);
  const clientId = permitted?.grant.clientId ?? clientIdOf(asked);
  request.asker = askerOf(permitted, clientId, platform);
  platform.limit.admit(clientId ?? 'unknown');
  // The framework calls no parser for an empty body without a type, so nothing else refuses such a body.
  if (route.takes !== undefined && request.headers['content-type'] === undefined) throw new Refusal(415, 'the media type is missing');
  if (route.needs === 'nothing') return route.answer(asked);
  if (permitted === undefined) throw new TypeError('a guarded route has a checked token');
  return route.answer(permitted);
}

function permit(needs: Exclude<Route['needs'], 'nothing'>, asked: Asked, request: FastifyRequest, { tokens, names }: Platform): Permitted {
  const accessToken = BEARER.exec(request.headers.authorization ?? '')?.groups?.['token'];
  const grant = accessToken === undefined ? undefined : tokens.read(accessToken);
  if (accessToken === undefined || grant === undefined) throw new Refusal(401, 'the access token is missing or not valid');
  if (needs !== 'token' && !grant.scopes.includes(names.scopes[needs])) {
    throw new Refusal(403, 'the access token lacks a scope', { descriptions: [`the scope ${names.scopes[needs]} is needed`] });
  }
  return { ...asked, grant, accessToken };
}

/** The client id in the body or the query, for requests without a token. */
function clientIdOf({ body, query }: Asked): string | undefined {
  for (const sent of [body, query]) {
    if (typeof sent !== 'object' || sent === null || !('client_id' in sent)) continue;
    if (typeof sent.client_id === 'string') return sent.client_id;
  }
  return undefined;
}

function askerOf(permitted: Permitted | undefined, clientId: string | undefined, { apps }: Platform): Asker | undefined {
  const kind = apps.kindOf(clientId ?? '');
  return kind === undefined ? undefined : { kind, organizationId: kind === 'service_app' ? permitted?.grant.organizationId : undefined };
}

type FirstFault = Exclude<Fault, { kind: 'lost_answer' | 'refused_after_all' }>;

function isPlayedFirst(fault: Fault): fault is FirstFault {
  return fault.kind !== 'lost_answer' && fault.kind !== 'refused_after_all';
}

function playFault(fault: FirstFault, platform: Platform, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (fault.kind === 'cut') return cut(platform, request, reply, 0);
  if (fault.kind === 'hang') {
    note(platform, request, 0, false);
    return reply.hijack();
  }
  const { status, message = ORDERED, retryAfterSeconds } = fault;
  throw new Refusal(status, message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
}

function cut(platform: Platform, request: FastifyRequest, reply: FastifyReply, status: number): FastifyReply {
  note(platform, request, status, false);
  reply.hijack();
  request.raw.socket.destroy();
  return reply;
}

function send(reply: FastifyReply, { status, headers = {}, json, html }: Answer): FastifyReply {
  reply.code(status).headers(headers);
  if (html !== undefined) return reply.type('text/html; charset=utf-8').send(html);
  return json === undefined ? reply.send() : reply.type('application/json; charset=utf-8').send(JSON.stringify(json));
}

function refuse({ names, switches }: Platform, request: FastifyRequest, reply: FastifyReply, refusal: Refusal): void {
  const { descriptions = [refusal.message], retryAfterSeconds, oauthError, allow } = refusal.words;
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  if (allow !== undefined) reply.header('allow', allow.join(', '));
  const oauth = oauthError === undefined || !switches.oauthErrors ? {} : { error: oauthError, error_description: refusal.message };
  reply.header(names.rest.trackingHeader, request.id).code(refusal.status).type('application/json; charset=utf-8');
  const errors = descriptions.map((description) => ({ description }));
  void reply.send(JSON.stringify({ message: refusal.message, trackingId: request.id, errors, ...oauth }));
}

/** Errors of the framework have a status. Any other error is a defect of the fake platform, and its answer says so. */
function asRefusal(thrown: unknown): Refusal {
  if (thrown instanceof Refusal) return thrown;
  const status = thrown instanceof Error && 'statusCode' in thrown ? thrown.statusCode : undefined;
  if (status === 400) return new Refusal(400, 'the body cannot be read');
  if (status === 413) return new Refusal(413, 'the body is too long');
  if (status === 415) return new Refusal(415, 'the media type is not supported');
  return new Refusal(500, `a defect of the fake platform: ${thrown instanceof Error ? thrown.message : typeof thrown}`);
}

function note(platform: Platform, request: FastifyRequest, status: number, isAnswered: boolean): void {
  const { routeName } = request.routeOptions.config;
  const { prefix, journal } = platform;
  const path = request.url.startsWith(prefix) ? request.url.slice(prefix.length) : request.url;
  const { method, id: trackingId, asker } = request;
  journal.add({ ...{ method, path, status, isAnswered, trackingId, asker }, route: routeName, atMs: platform.nowMs() });
}

/** Parses a form-urlencoded body. @throws Refusal 400 when a name occurs twice, because it is not known which one was meant. */
function readForm(body: unknown): Readonly<Record<string, string>> {
  const parameters = [...new URLSearchParams(typeof body === 'string' ? body : '')];
  const names = new Set(parameters.map(([name]) => name));
  if (names.size !== parameters.length) throw new Refusal(400, 'a parameter comes twice', { oauthError: 'invalid_request' });
  return Object.fromEntries(parameters);
}

function methodOf(name: RouteName): string {
  return name.slice(0, name.indexOf(' '));
}

function pathsOf({ name, paths }: Route): readonly string[] {
  return paths ?? [name.slice(name.indexOf(' ') + 1)];
}

declare module 'fastify' {
  interface FastifyContextConfig {
    routeName?: RouteName;
  }
  interface FastifyRequest {
    /** Set when the request names a known app, or comes with the control key. */
    asker: Asker | undefined;
  }
}

/** The control key, and the commands that it allows. */
interface Control {
  /** A secret, long and random. */
  readonly key: string;
  readonly commands: ControlCommands;
}

const CONTROL_KEY = /^Bearer (?<key>\S{1,500})$/u;

/** Adds the commands. Call it before the server listens. */
async function addControl(server: FastifyInstance, { key, commands }: Control): Promise<void> {
  await server.register((scope, _options, done) => {
    scope.addHook('onRequest', (request, _reply, next) => {
      const presented = CONTROL_KEY.exec(request.headers.authorization ?? '')?.groups?.['key'];
      if (presented === undefined || !isSameSecret(key, presented)) {
        next(new Refusal(401, 'the control key is missing or another'));
        return;
      }
      request.asker = { kind: 'control', organizationId: undefined };
      next();
    });
    for (const [name, command] of Object.entries(commands)) {
      scope.post(`${CONTROL_PREFIX}/${name}`, async (request, reply) =>
        reply.type('application/json; charset=utf-8').send(JSON.stringify(await command(request.body))),
      );
    }
    done();
  });
}
