// The routes for programs: health checks, metrics, the latest calls and the platform's ping (O-01).
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../base/clock.ts';
import type { Audited, Guard } from './console-guard.ts';
import type { Readiness } from './readiness.ts';

const OPEN_METRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** Source of GET /metrics. */
export interface MetricsSource {
  readonly contentType: string;
  text(): Promise<string>;
  /** Converts the text to OpenMetrics for clients that accept it. Default: all clients get the text. */
  readonly openMetrics?: ((text: string) => string) | undefined;
}

interface OfOrganization {
  readonly organizationId: string;
}

/** The body of GET /calls: plain values. */
export interface RecentCalls {
  readonly calls: readonly OfOrganization[];
  /** Refused calls. */
  readonly refused: readonly OfOrganization[];
}

/** Source of GET /calls. */
export interface CallsSource {
  recent(): RecentCalls | Promise<RecentCalls>;
  find(conversationId: string): object | undefined | Promise<object | undefined>;
}

export interface RoutesOptions {
  /** The NAME in /NAME/v1/ping. */
  readonly serviceName: string;
  readonly readiness: Pick<Readiness, 'current'>;
  readonly metrics: MetricsSource;
  readonly calls: CallsSource;
  readonly guard: Guard;
  readonly clock: Clock;
}

/** Adds the routes. Ping and health checks reveal nothing, so anybody may request them under any host name. */
export function addRoutes(server: FastifyInstance, { readiness, metrics, calls, guard, clock, serviceName }: RoutesOptions): void {
  server.get('/health/live', () => ({ live: true }));
  server.get('/health/ready', (_request, reply) => {
    const state = readiness.current;
    return reply.code(state.ready ? 200 : 503).send(state);
  });
  server.get('/metrics', guard.metrics, async ({ headers }, reply) => {
    const text = await metrics.text();
    const { openMetrics } = metrics;
    if (openMetrics === undefined || headers.accept?.includes('application/openmetrics-text') !== true)
      return reply.type(metrics.contentType).send(text);
    return reply.type(OPEN_METRICS).send(openMetrics(text));
  });
  server.get<{ Querystring: Readonly<Record<string, unknown>> }>('/calls', guard.visitors, async ({ query }, reply) => {
    const { organizationId, ...others } = query;
    // Ignoring a misspelt filter would return everything.
    const isKnown = Object.keys(others).length === 0 && (organizationId === undefined || typeof organizationId === 'string');
    if (!isKnown) return reply.code(400).send({ error: 'the one parameter is organizationId, once' });
    const recent = await calls.recent();
    const isMeant = (one: OfOrganization): boolean => organizationId === undefined || one.organizationId === organizationId;
    return { calls: recent.calls.filter(isMeant), refused: recent.refused.filter(isMeant) };
  });
  server.get<OneCall>('/calls/:conversationId', guard.visitors, (request, reply) =>
    answerCall(request, reply, { guard, find: (id) => calls.find(id) }),
  );
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

export interface OneCall {
  Params: { conversationId: string };
}

type Found = object | 'busy' | undefined;

/** Answers with one call or 404, and logs the audit line. */
export async function answerCall(
  request: FastifyRequest<OneCall>,
  reply: FastifyReply,
  { guard, find }: { readonly guard: Pick<Guard, 'audit'>; readonly find: (id: string) => Found | Promise<Found> },
): Promise<FastifyReply> {
  const { conversationId } = request.params;
  const call = await find(conversationId);
  guard.audit(request, { what: 'call_opened', conversationId, outcome: outcomeOf(call) });
  return typeof call === 'object' ? reply.send(call) : notShown(reply, call);
}

/** The outcome for the audit log. */
export function outcomeOf(found: Found): Audited['outcome'] {
  return found === 'busy' ? found : found === undefined ? 'not_found' : 'shown';
}

/** Answers when a call was not found, or cannot be read now. */
export function notShown(reply: FastifyReply, found: 'busy' | undefined): FastifyReply {
  if (found === undefined) return reply.code(404).send(fixedText(404));
  return reply.code(503).header('retry-after', '20').send({ error: 'recordings cannot be read now: try again' });
}

/** The body of an answer without content. */
export function fixedText(status: number): { readonly error: string } {
  if (status === 404) return { error: 'not found' };
  return { error: status < 500 ? 'bad request' : 'internal error' };
}
