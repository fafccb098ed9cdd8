import { describe, expect, it, onTestFinished } from 'vitest';
import { loadSettings, type LoadedSettings } from '../../../../src/app/config/load-settings.ts';
import { ownProcess, type OwnProcess } from '../../../../src/app/control/own-process.ts';
import type { Answer, Question } from '../../../../src/app/console/questions.ts';
import type { ToWorker } from '../../../../src/app/workers/messages.ts';
import { startPrimary, type Primary } from '../../../../src/app/workers/primary.ts';
import { systemClock } from '../../../../src/base/clock.ts';
import { createLogger } from '../../../../src/base/log.ts';
import { packageRoot } from '../../../../src/base/package-root.ts';
import { CallTimelines } from '../../../../src/telemetry/call-timeline.ts';
import { createMetrics, type Metrics } from '../../../../src/telemetry/metrics.ts';
import { CALM, callFacts, notifyAll } from '../../../support/call-events.ts';
import { FakeWorkers, type FakeWorker } from '../../../support/fake-workers.ts';
import { until } from '../../../support/until.ts';

const SHARED = ['--store.kind=redis', `--store.keys=["${'0'.repeat(64)}"]`];

function loadedWith(...flags: readonly string[]): LoadedSettings {
  const argv = ['--auth.enabled=false', '--grpc.host=127.0.0.1', '--tls.mode=off', '--ops.port=0', ...flags];
  return loadSettings({ argv, env: {}, cwd: packageRoot() });
}

function ownPrimary(): OwnProcess {
  const loaded = loadedWith(...SHARED);
  return ownProcess('primary', loaded, () => loaded, { root: createLogger({ level: 'silent' }) });
}

function start(workers: FakeWorkers, signal = new AbortController().signal, own = ownPrimary()): Promise<Primary> {
  const options = { size: 2, startWorker: workers.start, clock: systemClock, own, onHopeless: () => undefined };
  return startPrimary(loadedWith(...SHARED).settings, options, signal);
}

/** What a worker would answer from these. */
function answering(worker: FakeWorker, metrics: Metrics, calls: CallTimelines): void {
  const answerTo = async (question: Question): Promise<Answer> => {
    if (question === 'metrics') return { metrics: await metrics.reading() };
    if (question === 'calls') return { calls: calls.recent(), refused: metrics.refused.most };
    if (typeof question === 'object' && 'conversationId' in question) return { call: calls.find(question.conversationId) };
    return {};
  };
  const heard = worker.heard;
  heard.push = (...messages) => {
    for (const message of messages)
      if (message.kind === 'ask')
        void answerTo(message.question).then((answer) => {
          worker.says({ kind: 'answer', id: message.id, answer });
        });
    return 0;
  };
}

/** Two workers that take calls and have each seen a call; the first one's has moved to the second one. */
async function running(): Promise<{ readonly workers: FakeWorkers; readonly get: (path: string) => Promise<Response> }> {
  const workers = new FakeWorkers();
  const starting = start(workers);
  await until('two workers start', () => workers.all.length === 2);
  for (const worker of workers.all) {
    const metrics = createMetrics({ knownBots: ['echo'], clock: systemClock, load: CALM, processMetrics: false });
    const calls = new CallTimelines({ clock: systemClock, maxCalls: 5 });
    const call = callFacts({ startedAtMs: systemClock.nowMs() });
    metrics.sessions.sessionStarted(call);
    calls.sessionStarted(call);
    if (worker.id === 1) calls.sessionEnded(call, 'moved');
    notifyAll(calls, callFacts({ conversationId: `only ${String(worker.id)}` }));
    answering(worker, metrics, calls);
    worker.isReady();
  }
  const primary = await starting;
  onTestFinished(async () => {
    const closed = primary.close();
    for (const worker of workers.all) await worker.ends();
    await closed;
  });
  expect(primary.ready).toMatchObject({ address: '127.0.0.1:8086', workers: 2 });
  return { workers, get: (path) => fetch(`http://127.0.0.1:${String(primary.ready.opsPort)}${path}`) };
}

describe('a server of several processes', () => {
  it('adds up what its workers count, and keeps what those counted that have ended', async () => {
    const { workers, get } = await running();
    const started = async (): Promise<string | undefined> =>
      (await (await get('/metrics')).text()).split('\n').find((line) => line.startsWith('parley_sessions_started_total{bot="echo"}'));
    expect(await started()).toBe('parley_sessions_started_total{bot="echo"} 2');
    await workers.get(2).ends();
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
    await workers.get(1).ends();
    answer(...questions);
    await asked;
    late.push = answer;
    const text = await (await get('/metrics')).text();
    expect(text).toContain('parley_sessions_open{bot="echo"} 1\n');
    expect(text).toContain('parley_sessions_started_total{bot="echo"} 2\n');
  });

  it('lists the calls of all workers, the latest first, and finds one where it lives now', async () => {
    const { get } = await running();
    const { calls } = (await (await get('/calls')).json()) as { readonly calls: readonly { readonly startedAtMs: number }[] };
    expect(calls.map((call) => call.startedAtMs)).toEqual(calls.map((call) => call.startedAtMs).sort((one, other) => other - one));
    expect(calls).toHaveLength(4);
    const call: unknown = await (await get('/calls/conv')).json();
    expect(call).toMatchObject({ facts: [{ event: 'session_started' }] });
    expect(call).not.toHaveProperty('end');
    expect((await get('/calls/only%202')).status).toBe(200);
    expect((await get('/calls/unknown')).status).toBe(404);
  });

  it('is ready while one of its workers is', async () => {
    const { workers, get } = await running();
    expect((await get('/health/ready')).status).toBe(200);
    for (const worker of workers.all) {
      const readiness = { ready: false, reasons: [`reason ${String(worker.id)}`] };
      worker.isReady(readiness);
      if (worker.id === 1) expect((await get('/health/ready')).status).toBe(200);
    }
    const refused = await get('/health/ready');
    expect([refused.status, await refused.json()]).toEqual([503, { ready: false, reasons: ['reason 1', 'reason 2'] }]);
    expect((await get('/health/live')).status).toBe(200);
  });

  it('answers operators while its workers start, and lets go of everything when its start is given up', async () => {
    const workers = new FakeWorkers();
    const abort = new AbortController();
    const own = ownPrimary();
    const starting = start(workers, abort.signal, own);
    starting.catch(() => undefined);
    await until('two workers start', () => workers.all.length === 2);
    expect(await own.control.everywhere({ kind: 'status' })).toMatchObject({ readiness: { ready: false, reasons: ['starting'] } });
    abort.abort();
    await until('the workers are told', () => workers.all.every(({ told }) => told.includes('SIGTERM')));
    for (const worker of workers.all) await worker.ends({ code: 0, signal: null });
    await expect(starting).rejects.toMatchObject({ code: 'shutting_down' });
  });
});
