import { describe, expect, it, onTestFinished } from 'vitest';
import { loadSettings } from '../../../../src/app/config/load-settings.ts';
import type { Settings } from '../../../../src/app/config/settings.ts';
import type { Question, ToWorker } from '../../../../src/app/workers/messages.ts';
import { startPrimary, type Primary } from '../../../../src/app/workers/primary.ts';
import { systemClock, type Clock } from '../../../../src/base/clock.ts';
import { createLogger } from '../../../../src/base/log.ts';
import { packageRoot } from '../../../../src/base/package-root.ts';
import { CallTimelines } from '../../../../src/telemetry/call-timeline.ts';
import { createMetrics, type Metrics } from '../../../../src/telemetry/metrics.ts';
import { CALM, callFacts, tellAll } from '../../../support/call-events.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { FakeWorkers, type FakeWorker } from '../../../support/fake-workers.ts';
import { until } from '../../../support/until.ts';

const SHARED = ['--store.kind=redis', `--store.keys=["${'0'.repeat(64)}"]`];

function settingsWith(...flags: readonly string[]): Settings {
  const argv = ['--auth.enabled=false', '--grpc.host=127.0.0.1', '--tls.mode=off', '--ops.port=0', ...flags];
  return loadSettings({ argv, env: {}, cwd: packageRoot() }).settings;
}

function start(
  workers: FakeWorkers,
  settings: Settings,
  signal = new AbortController().signal,
  clock: Clock = systemClock,
): Promise<Primary> {
  const log = createLogger({ level: 'silent' });
  return startPrimary({
    ...{ settings, workers: 2, startWorker: workers.start, clock, log, signal },
    onHopeless: () => undefined,
  });
}

/** What a worker would answer from these. */
function answering(worker: FakeWorker, metrics: Metrics, calls: CallTimelines): void {
  const answer = async (id: number, question: Question): Promise<void> => {
    if (question.kind === 'metrics') worker.says({ kind: 'answer', id, answer: { kind: 'metrics', reading: await metrics.reading() } });
    else if (question.kind === 'calls')
      worker.says({ kind: 'answer', id, answer: { kind: 'calls', calls: calls.recent(), refused: metrics.refused.most } });
    else worker.says({ kind: 'answer', id, answer: { kind: 'call', call: calls.find(question.conversationId) } });
  };
  const heard = worker.heard;
  heard.push = (...messages) => {
    for (const message of messages) if (message.kind === 'ask') void answer(message.id, message.question);
    return 0;
  };
}

/** Two workers that take calls and have each seen a call; the first one's has moved to the second one. */
async function running(): Promise<{ readonly workers: FakeWorkers; readonly get: (path: string) => Promise<Response> }> {
  const workers = new FakeWorkers();
  const starting = start(workers, settingsWith(...SHARED));
  await until('two workers start', () => workers.all.length === 2);
  for (const worker of workers.all) {
    const metrics = createMetrics({ knownBots: ['echo'], clock: systemClock, load: CALM, processMetrics: false });
    const calls = new CallTimelines({ clock: systemClock, maxCalls: 5 });
    const call = callFacts({ startedAtMs: systemClock.nowMs() });
    metrics.sessions.sessionStarted(call);
    calls.sessionStarted(call);
    if (worker.id === 1) calls.sessionEnded(call, 'moved');
    tellAll(calls, callFacts({ conversationId: `only ${String(worker.id)}` }));
    answering(worker, metrics, calls);
    worker.isReady();
  }
  const primary = await starting;
  onTestFinished(async () => {
    const closed = primary.close();
    for (const worker of workers.all) worker.ends();
    await closed;
  });
  expect(primary.ready).toMatchObject({ address: '127.0.0.1:8086', workers: 2 });
  return { workers, get: (path) => fetch(`http://127.0.0.1:${String(primary.ready.opsPort)}${path}`) };
}

describe('a server of several processes', () => {
  it.each([
    ['whose store is its own memory', [], /store\.kind memory .* set store\.kind to redis, or leave --workers out$/u],
    [
      'that takes calls over WebSocket on the operations port',
      [...SHARED, '--websocket.enabled=true', '--websocket.listen=ops'],
      /does not go with websocket\.listen ops.* set websocket\.listen to own$/u,
    ],
  ])('is refused before anything is opened, for one %s', async (_, flags, message) => {
    const workers = new FakeWorkers();
    const refused = start(workers, settingsWith(...flags));
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.toMatchObject({ code: 'config_invalid' });
    expect(workers.all).toEqual([]);
  });

  it('adds up what its workers count, and keeps what those counted that have ended', async () => {
    const { workers, get } = await running();
    const started = async (): Promise<string | undefined> =>
      (await (await get('/metrics')).text()).split('\n').find((line) => line.startsWith('parley_sessions_started_total{bot="echo"}'));
    expect(await started()).toBe('parley_sessions_started_total{bot="echo"} 2');
    workers.get(2).ends();
    const text = await (await get('/metrics')).text();
    expect(text).toContain('parley_sessions_started_total{bot="echo"} 2\n');
    expect(text).toContain('parley_sessions_open{bot="echo"} 1\n');
    expect(text).toContain('parley_workers_ended_total 1\n');
    expect(text).toContain('parley_workers{state="ready"} 1\n');
    // Of this process.
    expect(text).toMatch(/^process_start_time_seconds \d+$/mu);
  });

  it('forgets what was open in a worker that ends while another one is still asked, and counts nothing of it twice', async () => {
    const { workers, get } = await running();
    const late = workers.get(2).heard;
    const questions: ToWorker[] = [];
    const answer = late.push.bind(late);
    late.push = (...messages) => questions.push(...messages);
    const asked = get('/metrics');
    await until('the second one is asked', () => questions.length === 1);
    workers.get(1).ends();
    answer(...questions);
    await asked;
    late.push = answer;
    const text = await (await get('/metrics')).text();
    expect(text).toContain('parley_sessions_open{bot="echo"} 1\n');
    expect(text).toContain('parley_sessions_started_total{bot="echo"} 1\n');
  });

  it('lists the calls of all workers, each once, and tells the whole story of one that moved', async () => {
    const { get } = await running();
    const { calls } = (await (await get('/calls')).json()) as { readonly calls: readonly { readonly conversationId: string }[] };
    expect(calls.map(({ conversationId }) => conversationId).sort()).toEqual(['conv', 'only 1', 'only 2']);
    const call: unknown = await (await get('/calls/conv')).json();
    expect(call).toMatchObject({
      facts: [{ event: 'session_started' }, { event: 'session_ended', end: 'moved' }, { event: 'session_started' }],
    });
    expect(call).not.toHaveProperty('end');
    expect((await get('/calls/unknown')).status).toBe(404);
  });

  it('is ready while one of its workers is', async () => {
    const { workers, get } = await running();
    expect((await get('/health/ready')).status).toBe(200);
    for (const worker of workers.all) {
      const readiness = { ready: false, reasons: [`reason ${String(worker.id)}`] };
      worker.says({ kind: 'state', state: { readiness, openSessions: 0, openTurns: 0 } });
      if (worker.id === 1) expect((await get('/health/ready')).status).toBe(200);
    }
    const refused = await get('/health/ready');
    expect([refused.status, await refused.json()]).toEqual([503, { ready: false, reasons: ['reason 1', 'reason 2'] }]);
    expect((await get('/health/live')).status).toBe(200);
  });

  it('lets its workers finish for as long as their stop may take, the time for load balancers to notice included', async () => {
    const workers = new FakeWorkers();
    const clock = new FakeClock();
    const settings = settingsWith(...SHARED, '--shutdown.notice_ms=60000', '--shutdown.grace_ms=20000');
    const starting = start(workers, settings, undefined, clock);
    await until('two workers start', () => workers.all.length === 2);
    for (const worker of workers.all) worker.isReady();
    const primary = await starting;
    const closed = primary.close();
    await clock.advanceAsync(60_000 + 20_000 + 7000);
    expect(workers.all.map(({ told }) => told)).toEqual([['stop'], ['stop']]);
    await clock.advanceAsync(1000);
    expect(workers.all.map(({ told }) => told)).toEqual([
      ['stop', 'kill'],
      ['stop', 'kill'],
    ]);
    for (const worker of workers.all) worker.ends();
    await closed;
  });

  it('lets go of everything when its start is given up', async () => {
    const workers = new FakeWorkers();
    const abort = new AbortController();
    const starting = start(workers, settingsWith(...SHARED), abort.signal);
    await until('two workers start', () => workers.all.length === 2);
    abort.abort();
    await until('the workers are told', () => workers.all.every(({ told }) => told.includes('stop')));
    for (const worker of workers.all) worker.ends({ code: 0, signal: null });
    await expect(starting).rejects.toMatchObject({ code: 'shutting_down' });
  });
});
