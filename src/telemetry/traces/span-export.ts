// Sends spans to a collector over OTLP/HTTP, in batches and without delaying calls, with the packages of OpenTelemetry. These packages
// are optional and loaded only here.
import type { SpanKind, SpanStatusCode, trace, TraceFlags, Context, HrTime } from '@opentelemetry/api';
import type { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type * as Sdk from '@opentelemetry/sdk-trace-base';
import { waitAtMost } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { ATTRIBUTES } from './conventions.ts';
import type { Span } from './span.ts';

/** Most spans that wait for the collector; further ones are dropped. One takes about a kilobyte. */
const MAX_WAITING = 8192;
const MAX_BATCH = 512;
const BATCH_EVERY_MS = 2000;
/** Longest time, ms, for the collector to take a batch, further attempts included, and to take the rest at the end. */
const LIMIT_MS = 5000;
const MAX_NAME_CHARS = 128;
const MAX_VALUE_CHARS = 1024;
const INSTALL = 'npm install @opentelemetry/sdk-trace-base@^2.12.1 @opentelemetry/exporter-trace-otlp-http@^0.223.0';

/** The packages of OpenTelemetry, as far as they are used. */
export interface TracePackages {
  readonly api: {
    readonly trace: Pick<typeof trace, 'setSpanContext'>;
    readonly ROOT_CONTEXT: Context;
    readonly SpanKind: typeof SpanKind;
    readonly SpanStatusCode: typeof SpanStatusCode;
    readonly TraceFlags: typeof TraceFlags;
  };
  readonly sdk: Pick<typeof Sdk, 'AlwaysOnSampler' | 'BasicTracerProvider' | 'BatchSpanProcessor'>;
  readonly Exporter: new (config: ConstructorParameters<typeof OTLPTraceExporter>[0]) => Sdk.SpanExporter;
}

export interface SpanExportOptions {
  /** Address of the collector; `/v1/traces` is appended. */
  readonly endpoint: string;
  /** Id of this process. */
  readonly instanceId: string;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface SpanExport {
  /** Queues a span. Never throws. */
  readonly write: (span: Span) => void;
  /** Sends the waiting spans; gives up after five seconds. Never rejects. */
  close(): Promise<void>;
}

/**
 * Opens the export. Without a reachable collector spans are lost, and nothing else.
 *
 * @param load - loads the packages; default: the installed ones.
 * @throws AppError `config_invalid` when the packages are not installed, `internal` when they cannot be loaded.
 */
export async function openSpanExport(
  { endpoint, instanceId, version, clock, log }: SpanExportOptions,
  load: () => Promise<TracePackages> = installed,
): Promise<SpanExport> {
  const { api, sdk, Exporter } = await load().catch((cause: unknown) => {
    throw notLoaded(cause);
  });
  const { exporter, written } = watched(new Exporter({ url: `${endpoint}/v1/traces`, timeoutMillis: LIMIT_MS }), log);
  const batches = { maxQueueSize: MAX_WAITING, maxExportBatchSize: MAX_BATCH, scheduledDelayMillis: BATCH_EVERY_MS };
  // The ids come from telemetry/traces/span.
  const ids = { traceId: '', spanId: '' };
  const provider = new sdk.BasicTracerProvider({
    resource: resourceOf({ 'service.name': 'parley', 'service.version': version, 'service.instance.id': instanceId }),
    // Samples every span it gets: sampling has already been decided.
    sampler: new sdk.AlwaysOnSampler(),
    idGenerator: { generateTraceId: () => ids.traceId, generateSpanId: () => ids.spanId },
    spanLimits: { attributeValueLengthLimit: MAX_VALUE_CHARS },
    spanProcessors: [new sdk.BatchSpanProcessor(exporter, { ...batches, exportTimeoutMillis: LIMIT_MS })],
  });
  const tracer = provider.getTracer('parley', version);
  const { SpanKind, SpanStatusCode, TraceFlags, ROOT_CONTEXT } = api;
  const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;
  return {
    write: ({ traceId, spanId, parentId, name, kind, startMs, endMs, attributes, events = [], failure }) => {
      Object.assign(ids, { traceId, spanId });
      const parent = parentId === undefined ? undefined : { traceId, spanId: parentId, traceFlags: TraceFlags.SAMPLED };
      const span = tracer.startSpan(
        name.slice(0, MAX_NAME_CHARS),
        { startTime: hrTime(startMs), kind: kind === undefined ? SpanKind.INTERNAL : kinds[kind], attributes },
        parent === undefined ? ROOT_CONTEXT : api.trace.setSpanContext(ROOT_CONTEXT, parent),
      );
      for (const event of events) span.addEvent(event.name, hrTime(event.atMs));
      if (failure !== undefined) span.setAttribute(ATTRIBUTES.error, failure).setStatus({ code: SpanStatusCode.ERROR, message: failure });
      written();
      span.end(hrTime(endMs));
    },
    close: async () => {
      // `shutdown` rejects when the collector does not take the rest, and may wait longer than a stop may take.
      const waited = await waitAtMost(provider.shutdown(), LIMIT_MS, clock).catch(() => undefined);
      if (waited?.kind !== 'value') log.warn({ event: 'spans_lost' }, 'the last spans were not taken by the collector');
    },
  };
}

/** Logs when spans begin to be lost, because the collector takes none or too many are waiting, and when that is over. */
function watched(exporter: Sdk.SpanExporter, log: Logger): { readonly exporter: Sdk.SpanExporter; readonly written: () => void } {
  let isTaking = true;
  let waiting = 0;
  let isFull = false;
  const written = (): void => {
    if (waiting < MAX_WAITING) waiting += 1;
    else if (!isFull) {
      isFull = true;
      log.warn({ event: 'spans_lost', waiting }, 'too many spans wait for the collector; further ones are lost');
    }
  };
  const watching: Sdk.SpanExporter = {
    export: (spans, done) => {
      waiting = Math.max(0, waiting - spans.length);
      if (isFull && waiting < MAX_WAITING / 2) {
        isFull = false;
        log.info({ event: 'spans_taken' }, 'there is room again for spans that wait for the collector');
      }
      exporter.export(spans, (result) => {
        const { error } = result;
        if (isTaking && error !== undefined) log.warn({ event: 'spans_lost', err: error }, 'the collector takes no spans; they are lost');
        if (!isTaking && error === undefined) log.info({ event: 'spans_taken' }, 'the collector takes spans again');
        isTaking = error === undefined;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
  return { exporter: watching, written };
}

function resourceOf(attributes: Readonly<Record<string, string>>): NonNullable<Sdk.TracerConfig['resource']> {
  const resource = { attributes, merge: () => resource, getRawAttributes: () => Object.entries(attributes) };
  return resource;
}

/** Not a plain number, because OpenTelemetry takes small numbers for times since the start of the process. */
function hrTime(ms: number): HrTime {
  const s = Math.floor(ms / 1000);
  return [s, Math.floor((ms - s * 1000) * 1e6)];
}

async function installed(): Promise<TracePackages> {
  const [api, sdk, { OTLPTraceExporter: Exporter }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/exporter-trace-otlp-http'),
  ]);
  return { api, sdk, Exporter };
}

function notLoaded(cause: unknown): AppError {
  const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND';
  return isMissing
    ? new AppError('config_invalid', `traces.endpoint is set, and the packages that send spans are not installed: ${INSTALL}`, { cause })
    : new AppError('internal', 'the packages that send spans are installed and cannot be loaded', { cause });
}
