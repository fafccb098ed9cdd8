// The work of a worker process: runs its share of the calls, and reports every second what callers heard and how well the worker kept its
// own pace.
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { every, systemClock, type CancelTimer } from '../../base/clock.ts';
import { DEFAULT_LIMITS } from '../caller/call-clock.ts';
import { loadProfile } from '../platform/profile.ts';
import { parseTarget } from '../lines/target.ts';
import { arrivalsOf, lengthOf, type Arrival, type ArrivalPlan } from './arrivals.ts';
import { ConnectionPool } from './connection-pool.ts';
import { Generator } from './generator.ts';
import { LateClock } from './late-clock.ts';
import { holdLoadCall } from './load-call.ts';
import { KnownSounds } from './prompt-watch.ts';
import { SocketPool } from './socket-pool.ts';
import type { PrepareOrder, RunOrder, WorkerOrder } from './worker-messages.ts';
import { fail, report } from './worker-report.ts';

const REPORT_MS = 1000;
/** Interval of checks whether all waits that count have ended, ms. */
const ANSWERED_CHECK_MS = 100;
/** Most calls of one worker: far more than a worker can run without being late. */
const MAX_LIVE = 5000;
/** Resolution at which the delay of the event loop is measured, ms. */
const LOOP_RESOLUTION_MS = 5;
const NS_PER_MS = 1e6;

const clock = new LateClock(systemClock);
let known = new KnownSounds();
let prepared: PrepareOrder | undefined;
let running: { readonly generator: Generator; readonly hangUp: AbortController } | undefined;

function* shareOf(plan: ArrivalPlan, worker: number, workers: number): globalThis.Generator<Arrival, undefined> {
  for (const arrival of arrivalsOf(plan)) if (arrival.number % workers === worker) yield arrival;
  return undefined;
}

/** Whether a caller waits now, and has done so since `beforeMs` or earlier, ms since the run began. */
type IsWaiting = (beforeMs: number) => boolean;

/** Reports once per second. @returns a function that reports once more and stops. */
function reportsOf(generator: Generator, zeroMs: number): CancelTimer {
  const loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  loop.enable();
  clock.takeLateness();
  let cpu = process.cpuUsage();
  let atMs = systemClock.monotonicMs();
  const second = (): void => {
    const { startLateness, ...happened } = generator.take();
    const used = process.cpuUsage(cpu);
    const nowMs = systemClock.monotonicMs();
    report({
      kind: 'second',
      fromMs: atMs - zeroMs,
      toMs: nowMs - zeroMs,
      ...happened,
      startLateness: startLateness.encoded,
      timerLateness: clock.takeLateness().encoded,
      cpu: (used.user + used.system) / 1000 / Math.max(1, nowMs - atMs),
      // The histogram records whole intervals, which are as long as the resolution when the loop is on time.
      loopDelayMaxMs: Math.max(0, loop.max / NS_PER_MS - LOOP_RESOLUTION_MS),
      residentBytes: process.memoryUsage.rss(),
    });
    cpu = process.cpuUsage();
    atMs = nowMs;
    loop.reset();
  };
  const cancel = every(systemClock, REPORT_MS, second);
  return () => {
    cancel();
    second();
    loop.disable();
  };
}

/** The connections for the calls of a run. Those that calls share are opened in advance. */
function poolOf(given: PrepareOrder, expectedCalls: number): ConnectionPool | SocketPool {
  const { token, serverName, certificateAuthority, callsPerConnection } = given;
  const access = {
    target: parseTarget(given.target),
    profile: loadProfile(given.profile),
    bearer: given.bearer,
    clock,
    connectLimitMs: DEFAULT_LIMITS.connectMs,
    ...(token === undefined ? {} : { token }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
  };
  if (access.target.transport === 'websocket') return new SocketPool(access);
  const pool = new ConnectionPool(access, callsPerConnection);
  pool.prepare(expectedCalls);
  return pool;
}

async function run(order: RunOrder, given: PrepareOrder): Promise<void> {
  const pool = poolOf(given, order.expectedCalls);
  const hangUp = new AbortController();
  // Every call listens to this signal, and Node warns of more than ten listeners.
  setMaxListeners(0, hangUp.signal);
  const zeroMs = systemClock.monotonicMs() + order.startAtMs - systemClock.nowMs();
  const held = new Set<IsWaiting>();
  const generator = new Generator({
    clock,
    zeroMs,
    arrivals: shareOf(order.arrivals, order.worker, order.workers),
    maxLive: MAX_LIVE,
    closing: () => pool.closing,
    hold: async (arrival, onWaited) => {
      const scenario = given.scenarios[arrival.scenario];
      if (scenario === undefined) throw new TypeError('an arrival names a scenario that is not there');
      const { organizationId, agentId, vendorConfig = '', allowPartial = false, noInputMs } = scenario;
      const line = pool.line({ conversationId: randomUUID(), organizationId, agentId, vendorConfig, allowPartial }, noInputMs);
      let isWaiting: IsWaiting = () => false;
      const onBegun = (begun: IsWaiting): void => {
        isWaiting = begun;
        held.add(begun);
      };
      try {
        return await holdLoadCall({ arrival, scenario, line, clock, zeroMs, known, signal: hangUp.signal, onWaited, onBegun });
      } finally {
        held.delete(isWaiting);
        line.close();
      }
    },
  });
  running = { generator, hangUp };
  const stopReports = reportsOf(generator, zeroMs);
  const lengthMs = lengthOf(order.arrivals.phases);
  const cancelWatch = every(systemClock, ANSWERED_CHECK_MS, () => {
    const isOver = systemClock.monotonicMs() - zeroMs > lengthMs;
    if (order.endsWhenAnswered && isOver && ![...held].some((isWaiting) => isWaiting(lengthMs))) hangUp.abort();
  });
  try {
    await generator.over;
  } finally {
    cancelWatch();
    stopReports();
    pool.close();
    running = undefined;
  }
  report({ kind: 'done' });
}

function obey(order: WorkerOrder): void {
  switch (order.kind) {
    case 'prepare':
      prepared = order;
      known = new KnownSounds(order.sounds);
      report({ kind: 'ready' });
      return;
    case 'run':
      if (prepared === undefined || running !== undefined) throw new TypeError('a run was ordered out of turn');
      run(order, prepared).catch(fail);
      return;
    case 'stop':
      running?.generator.stop();
      running?.hangUp.abort();
  }
}

process.on('message', (order: WorkerOrder) => {
  try {
    obey(order);
  } catch (error) {
    fail(error);
  }
});
