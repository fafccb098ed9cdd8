// The routes of the console: files, sign-in, and the API of console-api.ts.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { bodyPart } from '../base/body-part.ts';
import type { CallSearch, CallView } from '../dialog/call-view.ts';
import { callQueryIn } from './call-query.ts';
import type { ConsoleAccess } from './console-access.ts';
import type { ConsoleRole, FoundCalls, Overview, ShownOrganizations, ShownVisitor } from './console-api.ts';
import type { Guard } from './console-guard.ts';
import { cookieOf } from './console-sessions.ts';
import { answerCall, fixedText, notShown, outcomeOf, type OneCall } from './routes.ts';

/** The source of what the console shows. Every answer is bounded in time. */
export interface ConsoleSource {
  overview(): Promise<Overview>;
  organizations(): Promise<ShownOrganizations>;
  search(search: CallSearch): Promise<FoundCalls>;
  /** @param role - without `listen`, the view has no transcript. @returns `busy` when recordings cannot be read now. */
  call(conversationId: string, role: ConsoleRole): Promise<CallView | 'busy' | undefined>;
  /** The audio of a recorded call, as WAV. */
  sound(conversationId: string, side: 'caller' | 'bot'): Promise<Buffer | 'busy' | undefined>;
}

export interface ConsoleRoutesOptions {
  readonly access: ConsoleAccess;
  readonly guard: Guard;
  readonly source: ConsoleSource;
  /** The content of a file of the built page; undefined: there is no such file. */
  readonly file: (name: string) => Promise<string | undefined>;
}

interface Sound {
  Params: { conversationId: string; side: string };
}

/** The files of the page. */
const PAGE = {
  'operations.html': 'text/html; charset=utf-8',
  'operations.js': 'text/javascript; charset=utf-8',
  'operations.css': 'text/css; charset=utf-8',
  'licenses.txt': 'text/plain; charset=utf-8',
};

const SIDES = ['caller', 'bot'] as const;

/** Allows scripts, styles and audio from this server only, and no framing by other sites. */
const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; media-src 'self' blob:; " +
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
};

/** Adds the routes to the server. */
export function addConsole(server: FastifyInstance, { access, guard, source, file }: ConsoleRoutesOptions): void {
  // The page addresses its files and the API relatively.
  server.get('/console', guard.named, (_request, reply) => reply.redirect('console/', 308));
  for (const [name, type] of Object.entries(PAGE)) {
    server.get(name === 'operations.html' ? '/console/' : `/console/${name}`, guard.named, async (_request, reply) => {
      if (access.isClosed) return guard.refuse(reply, 'closed');
      const text = await file(name);
      return text === undefined ? reply.code(404).send(fixedText(404)) : reply.headers(PAGE_HEADERS).type(type).send(text);
    });
  }
  server.post<{ Body: unknown }>('/api/session', guard.named, async (request, reply) => {
    const token = tokenIn(request.body);
    if (token === undefined) return reply.code(400).send(fixedText(400));
    const opened = access.signIn(token, request.ip);
    if (typeof opened !== 'object') return guard.refuse(reply, opened);
    const { id, role } = opened;
    guard.audit(request, { what: 'signed_in', outcome: 'shown' }, { name: `${role} token`, role, hasSession: true });
    return reply
      .code(204)
      .header('set-cookie', cookieOf(id, isSecure(request)))
      .send();
  });
  server.delete('/api/session', guard.named, async (request, reply) => {
    access.signOut(request.headers.cookie);
    return reply
      .code(204)
      .header('set-cookie', cookieOf(undefined, isSecure(request)))
      .send();
  });
  server.get('/api/visitor', guard.visitors, (request) => {
    const { name, role, hasSession } = guard.visitorOf(request) ?? NOBODY;
    return { name, role, hasSession } satisfies ShownVisitor;
  });
  server.get('/api/overview', guard.visitors, () => source.overview());
  server.get('/api/organizations', guard.visitors, () => source.organizations());
  server.get<{ Querystring: Readonly<Record<string, unknown>> }>('/api/calls', guard.visitors, async (request, reply) => {
    const query = callQueryIn(request.query);
    return query === undefined ? reply.code(400).send(fixedText(400)) : source.search(query);
  });
  server.get<OneCall>('/api/calls/:conversationId', guard.visitors, (request, reply) => {
    const { role } = guard.visitorOf(request) ?? NOBODY;
    return answerCall(request, reply, { guard, find: (id) => source.call(id, role) });
  });
  server.get<Sound>('/api/calls/:conversationId/sound/:side', guard.visitors, async (request, reply): Promise<FastifyReply> => {
    const { conversationId } = request.params;
    const mayListen = guard.visitorOf(request)?.role === 'listen';
    const side = SIDES.find((each) => each === request.params.side);
    const sound = mayListen && side !== undefined ? await source.sound(conversationId, side) : undefined;
    const outcome = !mayListen ? 'refused' : outcomeOf(sound);
    guard.audit(request, { what: 'sound_heard', conversationId, outcome });
    if (!mayListen) return reply.code(403).send({ error: 'the role listen is needed: show ops.console.listen_token' });
    if (sound === undefined || sound === 'busy') return notShown(reply, sound);
    const { status, headers, body } = bodyPart(sound, request.headers.range);
    return reply.code(status).headers(headers).type('audio/wav').send(body);
  });
}

/** Never used: the guard has let a visitor in. */
const NOBODY: ShownVisitor = { name: '', role: 'view', hasSession: false };

/** Whether the browser uses TLS to the first of the proxies in front of this server. */
function isSecure({ headers }: FastifyRequest): boolean {
  return /^https\s*(?:,|$)/iu.test(String(headers['x-forwarded-proto'] ?? ''));
}

function tokenIn(body: unknown): string | undefined {
  return typeof body === 'object' && body !== null && 'token' in body && typeof body.token === 'string' ? body.token : undefined;
}
