// A collector of OpenTelemetry on loopback: takes spans over OTLP/HTTP as JSON and keeps them, or fails as a test wants it.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

/** More are not kept. */
const MAX_SPANS = 100_000;
const MAX_BODY_BYTES = 16_777_216;

const ATTRIBUTES = z
  .array(z.object({ key: z.string(), value: z.record(z.string(), z.union([z.string(), z.number()])) }))
  .transform((all) => Object.fromEntries(all.map(({ key, value }) => [key, Object.values(value)[0]])));
const NANOSECONDS = z.string().transform(BigInt);
const SPAN = z.object({
  traceId: z.string().regex(/^[\da-f]{32}$/u),
  spanId: z.string().regex(/^[\da-f]{16}$/u),
  parentSpanId: z.string().optional(),
  name: z.string(),
  startTimeUnixNano: NANOSECONDS,
  endTimeUnixNano: NANOSECONDS,
  attributes: ATTRIBUTES,
  events: z.array(z.object({ name: z.string(), timeUnixNano: NANOSECONDS })),
  status: z.object({ code: z.number(), message: z.string().optional() }),
});
const BODY = z.object({
  resourceSpans: z.array(
    z.object({ resource: z.object({ attributes: ATTRIBUTES }), scopeSpans: z.array(z.object({ spans: z.array(SPAN) })) }),
  ),
});

/** A span as it arrives. */
export type ArrivedSpan = z.infer<typeof SPAN> & { readonly resource: z.infer<typeof ATTRIBUTES> };

/** One collector. `close` must be called. */
export class TraceCollector {
  readonly spans: ArrivedSpan[] = [];
  /** Everything that came, as it was written. */
  text = '';
  requests = 0;
  /** What happens to requests from now on; `drop` takes spans and keeps none. */
  does: 'take' | 'drop' | 'refuse' | 'hang' = 'take';
  readonly #server = createServer((request, response) => {
    // Who sends may give up.
    this.#answer(request, response).catch(() => response.destroy());
  });

  static async start(): Promise<TraceCollector> {
    const collector = new TraceCollector();
    await new Promise<void>((resolve) => collector.#server.listen(0, '127.0.0.1', resolve));
    return collector;
  }

  /** For `traces.endpoint`. */
  get url(): string {
    // A server that listens on TCP has an address of this shape.
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests += 1;
    if (this.does === 'hang') return;
    let body = '';
    for await (const chunk of request) if (body.length < MAX_BODY_BYTES) body += String(chunk);
    const { does } = this;
    if (does === 'take') this.#keep(body);
    response
      .writeHead((does === 'take' || does === 'drop') && request.url === '/v1/traces' ? 200 : 503, { 'content-type': 'application/json' })
      .end('{}');
  }

  #keep(body: string): void {
    if (this.spans.length >= MAX_SPANS) return;
    this.text += body;
    for (const { resource, scopeSpans } of BODY.parse(JSON.parse(body)).resourceSpans)
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) this.spans.push({ ...span, resource: resource.attributes });
  }
}
