// The search for the capacity beside a worker that makes its calls up: at which rate calls arrive, and when they count.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../../../../src/base/clock.ts';
import { understand } from '../../../../../src/fake-platform/cli/load/load-options.ts';
import { measure } from '../../../../../src/fake-platform/cli/load/measure.ts';
import { lengthOf } from '../../../../../src/fake-platform/load/arrivals.ts';
import type { CallFacts } from '../../../../../src/fake-platform/load/call-facts.ts';
import { Histogram } from '../../../../../src/fake-platform/load/histogram.ts';
import type { WorkerOrder, WorkerReport } from '../../../../../src/fake-platform/load/worker-messages.ts';
import type { LoadWorker } from '../../../../../src/fake-platform/load/worker-process.ts';
import { startSmallServer, type SmallServer } from '../../../../support/small-server.ts';

let server: SmallServer;
beforeAll(async () => {
  server = await startSmallServer();
});
afterAll(() => {
  server.process.kill('SIGKILL');
});

type RunOrder = Extract<WorkerOrder, { kind: 'run' }>;

/** Is over at once and tells of one call, which took so long. */
class QuickWorker implements LoadWorker {
  readonly runs: RunOrder[] = [];
  readonly #callMs: (run: number) => number;
  readonly #outcome: (run: number) => CallFacts['outcome'];
  #say: (report: WorkerReport) => void = () => undefined;

  constructor(callMs: (run: number) => number, outcome: (run: number) => CallFacts['outcome']) {
    this.#callMs = callMs;
    this.#outcome = outcome;
  }

  send(order: WorkerOrder): void {
    if (order.kind === 'prepare') this.#say({ kind: 'ready' });
    if (order.kind !== 'run') return;
    const run = this.runs.push(order);
    const toMs = lengthOf(order.arrivals.phases);
    const lateness = Histogram.coarse().encoded;
    const call: CallFacts = {
      ...{ scenario: 0, dueMs: toMs - 1, durationMs: this.#callMs(run), outcome: this.#outcome(run), replies: 1, isHeard: true },
      ...{ turnsRepeated: 0, turnsReopened: 0, turnsLost: 0 },
      ...{ gapsMs: [], failures: [], breaches: [], sound: { compared: 0, wrong: 0, short: 0, unknown: 1 } },
    };
    this.#say({
      ...{ kind: 'second', fromMs: 0, toMs, live: 1, started: 1, missed: 0, cpu: 0.1, loopDelayMaxMs: 0 },
      ...{ waits: [], calls: [call], startLateness: lateness, timerLateness: lateness, residentBytes: 1 },
    });
    this.#say({ kind: 'done' });
  }

  listen(onReport: (report: WorkerReport) => void): void {
    this.#say = onReport;
  }

  kill(): void {
    this.#say = () => undefined;
  }
}

const FLAGS = {
  org: 'o-1',
  profile: 'fake',
  mix: 'listen',
  workers: 1,
  callsPerConnection: 100,
  repeatsLostTurns: false,
  silenceAfter: 5000,
  seed: 1,
  maxCalls: '40',
};

async function searchWith(worker: QuickWorker, findCapacity = 'failed < 1%') {
  const flags = { ...FLAGS, findCapacity, ramp: '0s', duration: '1s' };
  const wish = await understand(server.target, flags);
  const nothing = (): undefined => undefined;
  const surroundings = {
    ...{ clock: systemClock, isColoured: false, print: nothing, complain: nothing, setExitCode: nothing },
    openVoice: () =>
      Promise.resolve({
        speak: () => Promise.resolve(new Uint8Array(0)),
        changeRate: (samples: Int16Array) => samples,
        close: () => Promise.resolve(),
      }),
    ...{ onInterrupt: () => nothing, startWorker: () => worker, touchFile: () => Promise.resolve(), writeFile: () => Promise.resolve() },
  };
  const measured = await measure(wish, surroundings, { say: nothing, progress: nothing }, new AbortController().signal);
  if (measured.kind !== 'capacity') throw new TypeError(`not a search: ${JSON.stringify(measured)}`);
  return measured;
}

function perSecond({ arrivals }: RunOrder): number {
  return arrivals.phases.at(-1)?.toPerSecond ?? 0;
}

it('lets as many arrive as calls of the length that was measured need, and counts once the longest are over', async () => {
  const worker = new QuickWorker(
    () => 4000,
    () => 'hung_up',
  );
  const { capacity } = await searchWith(worker);
  expect(capacity).toMatchObject({ calls: 40, limit: 'maximum' });
  const [, second, third] = worker.runs;
  if (second === undefined || third === undefined) throw new TypeError('too few tries');
  expect([perSecond(second), perSecond(third)]).toEqual([20 / 4, 40 / 4]);
  expect(lengthOf(second.arrivals.phases)).toBe(4000 + 1000);
  expect(second.endsWhenAnswered).toBe(true);
});

it('finds no room at a server that turns callers away, although no condition speaks of them', async () => {
  const worker = new QuickWorker(
    () => 4000,
    () => 'failed',
  );
  const { capacity } = await searchWith(worker, 'unheard <= 0');
  expect(capacity).toMatchObject({ calls: 0, limit: 'server' });
});

it('learns nothing about the length of calls from a server that cannot keep up', async () => {
  const worker = new QuickWorker(
    (run) => (run === 1 ? 4000 : 100_000),
    (run) => (run === 1 ? 'hung_up' : 'failed'),
  );
  await searchWith(worker);
  const rates = worker.runs.slice(1).map((order) => (order.arrivals.phases.at(-1)?.durationMs === 5000 ? 'known' : perSecond(order)));
  expect(rates.length).toBeGreaterThan(1);
  expect(new Set(rates)).toEqual(new Set(['known']));
});
