import { describe, expect, it } from 'vitest';
import { createMetrics, type Metrics } from '../../../src/telemetry/metrics.ts';
import type { ProcessFacts } from '../../../src/telemetry/process-metrics.ts';
import { WorkersMetrics } from '../../../src/telemetry/workers-metrics.ts';
import { CALM, callFacts } from '../../support/call-events.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { watchedSource } from '../../support/watched-source.ts';

const CALL = callFacts();
const READY = { ready: true, reasons: [] };
const STARTING = { ready: false, reasons: ['starting'] };

function selfOf(server: string, current: ProcessFacts['readiness']['current'] = READY): ProcessFacts {
  return { server, version: '1.2.3', readiness: { current }, reasons: ['starting', 'drained'] };
}

const SELF = selfOf('primary');

/** The metrics of a process whose event loop is so late. */
function metricsOf(loopDelayMs = 0, processMetrics = false): Metrics {
  const load = { reading: () => ({ loopDelayMs, rssBytes: 0, heapPercent: 0 }) };
  return createMetrics({ knownBots: ['echo'], clock: new FakeClock(), load, processMetrics });
}

const QUIET = { knownBots: [], clock: new FakeClock(), load: CALM, processMetrics: false };

/** The lines of some samples. */
async function lines(workers: WorkersMetrics, ...names: readonly string[]): Promise<readonly string[]> {
  return (await workers.text()).split('\n').filter((line) => names.some((name) => line.startsWith(name)));
}

describe('the metrics of several processes', () => {
  it('are added up: what was counted, what is open, and each bucket of a duration', async () => {
    const workers = new WorkersMetrics(() => ({ ready: 2, starting: 1 }), SELF);
    for (const worker of [1, 2]) {
      const metrics = metricsOf();
      metrics.sessions.sessionStarted(CALL);
      metrics.sessions.replyStarted(CALL, 't', 40, 0);
      workers.read(worker, await metrics.reading());
    }
    expect(
      await lines(
        workers,
        'parley_sessions_started',
        'parley_sessions_open',
        'parley_reply_latency_seconds_bucket{le="0.05"',
        'parley_reply_latency_seconds_count',
      ),
    ).toEqual([
      'parley_sessions_started_total{bot="echo"} 2',
      'parley_sessions_open{bot="echo"} 2',
      'parley_reply_latency_seconds_bucket{le="0.05",bot="echo"} 2',
      'parley_reply_latency_seconds_count{bot="echo"} 2',
    ]);
  });

  it('show every process, whether one is ready, and why one is not', async () => {
    const workers = new WorkersMetrics(() => ({ ready: 1, starting: 0 }), selfOf('primary'));
    for (const [worker, current] of [READY, STARTING].entries()) {
      const metrics = createMetrics({ ...QUIET, self: selfOf(`worker ${String(worker)}`, current) });
      workers.read(worker, await metrics.reading());
    }
    const found = await lines(workers, 'parley_build_info', 'parley_ready', 'parley_not_ready');
    expect(found.filter((line) => line.startsWith('parley_build_info')).map((line) => /server="(?<name>[^"]*)"/u.exec(line)?.[1])).toEqual([
      ...['primary', 'worker 0', 'worker 1'],
    ]);
    expect(found[0]).toContain(`version="1.2.3",node="${process.versions.node}"`);
    expect(found.slice(3)).toEqual(['parley_ready 1', 'parley_not_ready{reason="starting"} 1', 'parley_not_ready{reason="drained"} 0']);
  });

  it('show the worst of them where a sum would mean nothing', async () => {
    const workers = new WorkersMetrics(() => ({ ready: 2, starting: 1 }), SELF);
    for (const [worker, isGood] of [true, false].entries()) {
      const metrics = metricsOf(isGood ? 10 : 250);
      metrics.voice.circuitChanged('recognizer', isGood ? 'closed' : 'open');
      metrics.admin.watch(
        () => [watchedSource({ expiresAtMs: isGood ? 60_000 : 5000, isAlarming: !isGood })],
        () => 0,
      );
      metrics.admin.loginChecked(isGood);
      metrics.admin.storeWritten(isGood);
      if (isGood) metrics.admin.registered('authorized', 'kept');
      workers.read(worker, await metrics.reading());
    }
    const names = [
      'parley_event_loop',
      'parley_data_source_token',
      'parley_integration',
      'parley_admin_store',
      'parley_webhook_registered',
    ];
    expect(await lines(workers, ...names, 'parley_data_sources', 'parley_speech_circuit_state{service="recognizer"')).toEqual([
      'parley_event_loop_delay_seconds 0.25',
      'parley_speech_circuit_state{service="recognizer",state="closed"} 1',
      'parley_speech_circuit_state{service="recognizer",state="open"} 1',
      'parley_speech_circuit_state{service="recognizer",state="half_open"} 0',
      'parley_data_sources{transport="grpc",served="yes"} 1',
      'parley_data_sources{transport="grpc",served="no"} 0',
      'parley_data_sources{transport="websocket",served="yes"} 0',
      'parley_data_sources{transport="websocket",served="no"} 0',
      'parley_data_source_token_expiry_seconds{transport="grpc"} 5',
      'parley_data_sources_alarming{transport="grpc"} 1',
      'parley_data_sources_alarming{transport="websocket"} 0',
      'parley_integration_login 0',
      'parley_admin_store_writable 0',
      'parley_webhook_registered{event="authorized"} 1',
      'parley_webhook_registered{event="deauthorized"} 0',
    ]);
  });

  it('do not fall when a process ends, one after the other, and forget what was open in it', async () => {
    const workers = new WorkersMetrics(() => ({ ready: 2, starting: 1 }), SELF);
    for (const worker of [1, 2, 3]) {
      const metrics = metricsOf();
      for (let call = 0; call < worker; call += 1) metrics.sessions.sessionStarted(CALL);
      workers.read(worker, await metrics.reading());
    }
    workers.ended(1, true);
    workers.ended(3, true);
    workers.ended(7, true);
    expect(await lines(workers, 'parley_sessions_started', 'parley_sessions_open')).toEqual([
      'parley_sessions_started_total{bot="echo"} 6',
      'parley_sessions_open{bot="echo"} 2',
    ]);
    workers.ended(2, true);
    expect(await lines(workers, 'parley_sessions_started')).toEqual(['parley_sessions_started_total{bot="echo"} 6']);
  });

  it('say how many of them there are, and how many ended although nobody had asked them to', async () => {
    const workers = new WorkersMetrics(() => ({ ready: 2, starting: 1 }), SELF);
    workers.ended(1, true);
    workers.ended(2, false);
    expect(await lines(workers, 'parley_workers')).toEqual([
      'parley_workers{state="ready"} 2',
      'parley_workers{state="starting"} 1',
      'parley_workers_ended_total 1',
    ]);
  });

  it('have every metric of a single process', async () => {
    const workers = new WorkersMetrics(() => ({ ready: 2, starting: 1 }), SELF);
    const metrics = metricsOf(0, true);
    workers.read(1, await metrics.reading());
    const names = (text: string): readonly string[] => [...text.matchAll(/^# TYPE \S+ \S+$/gmu)].map(([line]) => line);
    const own = ['# TYPE parley_workers gauge', '# TYPE parley_workers_ended_total counter'];
    expect([...names(await workers.text())].sort()).toEqual([...names(await metrics.text()), ...own].sort());
  });
});
