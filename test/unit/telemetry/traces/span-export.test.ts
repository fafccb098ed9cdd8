// Spans on their way to a collector, and collectors that do not take them.
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock, type Clock } from '../../../../src/base/clock.ts';
import { createLogger } from '../../../../src/base/log.ts';
import { openSpanExport, type SpanExport } from '../../../../src/telemetry/traces/span-export.ts';
import type { Span } from '../../../../src/telemetry/traces/span.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { TraceCollector } from '../../../support/trace-collector.ts';
import { until } from '../../../support/until.ts';

const SPAN: Span = {
  ...{ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), parentId: 'c'.repeat(16), name: 'turn', kind: 'server' },
  ...{ startMs: 1_800_000_000_000.25, endMs: 1_800_000_001_000, attributes: { one: 1, text: 'x', none: undefined } },
  ...{ events: [{ name: 'barge_in', atMs: 1_800_000_000_500 }], failure: 'bot_failed' },
};

async function opened(clock: Clock = systemClock): Promise<{ collector: TraceCollector; spans: SpanExport; log: string[] }> {
  const collector = await TraceCollector.start();
  onTestFinished(() => collector.close());
  const log: string[] = [];
  const logger = createLogger({ level: 'debug', destination: { write: (line) => log.push(line) } });
  const spans = await openSpanExport({ endpoint: collector.url, instanceId: 'i', version: '1.2.3', clock, log: logger });
  return { collector, spans, log };
}

describe('the export of spans', () => {
  it('sends what was written at the latest when it closes, with the ids and times that were given', async () => {
    const { collector, spans, log } = await opened();
    spans.write(SPAN);
    const { parentId: _, ...first } = SPAN;
    spans.write({ ...first, spanId: 'd'.repeat(16), name: 'n'.repeat(1000) });
    await spans.close();
    expect(collector.spans).toMatchObject([
      {
        ...{ traceId: SPAN.traceId, spanId: SPAN.spanId, parentSpanId: SPAN.parentId, name: 'turn', attributes: { one: 1, text: 'x' } },
        ...{ startTimeUnixNano: 1_800_000_000_000_250_000n, endTimeUnixNano: 1_800_000_001_000_000_000n },
        ...{ events: [{ name: 'barge_in', timeUnixNano: 1_800_000_000_500_000_000n }], status: { code: 2, message: 'bot_failed' } },
        resource: { 'service.name': 'parley', 'service.version': '1.2.3', 'service.instance.id': 'i' },
      },
      { spanId: 'd'.repeat(16), name: 'n'.repeat(128) },
    ]);
    expect(collector.spans[1]?.parentSpanId).toBeUndefined();
    expect(log).toEqual([]);
  });

  it('says once that spans are lost when more are written than may wait, and when that is over', async () => {
    // However long a busy machine takes to send all of it.
    const { collector, spans, log } = await opened(new FakeClock());
    // The first batch is under way at once.
    const room = 512 + 8192;
    for (let count = 0; count < room; count += 1) spans.write({ ...SPAN, events: [] });
    expect(log).toEqual([]);
    for (let count = 0; count < 3; count += 1) spans.write(SPAN);
    await spans.close();
    expect(log.map((line) => (JSON.parse(line) as { readonly event: string }).event)).toEqual(['spans_lost', 'spans_taken']);
    expect(collector.spans).toHaveLength(room);
  });

  it.each(['refuse', 'hang'] as const)(
    'closes within five seconds and says that spans are lost when the collector does %s',
    async (does) => {
      const clock = new FakeClock();
      const { collector, spans, log } = await opened(clock);
      collector.does = does;
      spans.write(SPAN);
      const closing = spans.close();
      await until('the collector is asked', () => collector.requests > 0);
      clock.advance(5000);
      await closing;
      expect(log.join('')).toContain('"event":"spans_lost"');
    },
  );

  it('says what to install when its packages are missing, and that they are broken when they are', async () => {
    const options = {
      endpoint: 'http://127.0.0.1:1',
      instanceId: 'i',
      version: '1',
      clock: systemClock,
      log: createLogger({ level: 'silent' }),
    };
    const missing = Object.assign(new Error('no'), { code: 'ERR_MODULE_NOT_FOUND' });
    const message: unknown = expect.stringContaining('npm install @opentelemetry/sdk-trace-base');
    await expect(openSpanExport(options, () => Promise.reject(missing))).rejects.toMatchObject({ code: 'config_invalid', message });
    await expect(openSpanExport(options, () => Promise.reject(new Error('broken')))).rejects.toMatchObject({ code: 'internal' });
  });
});
