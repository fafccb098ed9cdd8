import { describe, expect, it } from 'vitest';
import { attendPrimary } from '../../../../src/app/workers/attendance.ts';
import { fromWorker, toWorker, type FromWorker, type ToWorker } from '../../../../src/app/workers/messages.ts';
import type { PrimaryLink } from '../../../../src/app/workers/worker-process.ts';
import { createLogger } from '../../../../src/base/log.ts';
import { RefusedOrganizations } from '../../../../src/telemetry/refused-organizations.ts';
import { CallTimelines } from '../../../../src/telemetry/call-timeline.ts';
import { callFacts } from '../../../support/call-events.ts';
import { FakeClock, flushMicrotasks } from '../../../support/fake-clock.ts';
import { READY } from '../../../support/fake-workers.ts';

function attend(reading: () => Promise<[]> = () => Promise.resolve([])): {
  readonly clock: FakeClock;
  readonly said: FromWorker[];
  readonly ask: (message: ToWorker) => void;
  readonly state: { isReady: boolean; isReading: boolean };
  readonly finish: () => void;
  /** How often it was told to take no more connections. */
  readonly asides: () => number;
} {
  const clock = new FakeClock();
  const said: FromWorker[] = [];
  const state = { isReady: true, isReading: true };
  let ask: (message: ToWorker) => void = () => undefined;
  const link: PrimaryLink = {
    id: 1,
    send: (message) => {
      said.push(message);
      return state.isReading ? Promise.resolve() : new Promise(() => undefined);
    },
    onMessage: (listener) => {
      ask = listener;
    },
    onLost: () => undefined,
    leave: () => undefined,
  };
  const calls = new CallTimelines({ clock, maxCalls: 3 });
  calls.sessionStarted(callFacts({ startedAtMs: clock.nowMs() }));
  const readiness = {
    get current() {
      return { ready: state.isReady, reasons: state.isReady ? [] : ['draining'] };
    },
  };
  let asides = 0;
  const app = {
    ...{
      ready: READY,
      shown: { readiness, metrics: { reading }, calls, refused: new RefusedOrganizations(clock) },
      openSessions: () => 2,
      openTurns: () => 1,
    },
    stopListening: () => {
      asides += 1;
    },
  };
  const finish = attendPrimary(app, { link, clock, log: createLogger({ level: 'silent' }) });
  return {
    clock,
    said,
    ask: (message) => {
      ask(message);
    },
    state,
    finish,
    asides: () => asides,
  };
}

describe('a worker', () => {
  it('says that it is ready, and then once a second how it is, until it has finished', async () => {
    const { clock, said, state, finish } = attend();
    const well = { readiness: { ready: true, reasons: [] }, openSessions: 2, openTurns: 1 };
    expect(said).toEqual([{ kind: 'ready', ready: READY, state: well }]);
    await clock.advanceAsync(1000);
    state.isReady = false;
    await clock.advanceAsync(1000);
    expect(said.slice(1)).toEqual([
      { kind: 'state', state: well },
      { kind: 'state', state: { ...well, readiness: { ready: false, reasons: ['draining'] } } },
    ]);
    finish();
    expect(clock.pendingTimers).toBe(0);
  });

  it('says nothing more while the other process does not read', async () => {
    const { clock, said, state } = attend();
    await clock.advanceAsync(1000);
    state.isReading = false;
    await clock.advanceAsync(10_000);
    expect(said.map(({ kind }) => kind)).toEqual(['ready', 'state', 'state']);
  });

  it('answers what it is asked, and says so when it cannot', async () => {
    const { said, ask } = attend(() => Promise.reject(new Error('broken')));
    ask({ kind: 'ask', id: 1, question: { kind: 'calls' } });
    ask({ kind: 'ask', id: 2, question: { kind: 'call', conversationId: 'conv' } });
    ask({ kind: 'ask', id: 3, question: { kind: 'call', conversationId: 'another' } });
    ask({ kind: 'ask', id: 4, question: { kind: 'metrics' } });
    await flushMicrotasks();
    expect(said.slice(1)).toMatchObject([
      { id: 1, answer: { kind: 'calls', calls: [{ conversationId: 'conv', factCount: 1 }] } },
      { id: 2, answer: { kind: 'call', call: { conversationId: 'conv', facts: [{ event: 'session_started' }] } } },
      { id: 3, answer: { kind: 'call', call: undefined } },
      { id: 4, answer: undefined },
    ]);
  });

  it('takes no more connections when it is told to leave them to others, and answers nothing to that', () => {
    const { ask, asides, said } = attend();
    ask({ kind: 'step_aside' });
    expect([asides(), said.length]).toEqual([1, 1]);
  });

  it('hears only what is meant for it', () => {
    const message: ToWorker = { kind: 'ask', id: 1, question: { kind: 'calls' } };
    expect(toWorker({ parley: message })).toEqual(message);
    for (const foreign of [null, 'parley', 7, undefined, { type: 'prom-client:getMetricsReq' }])
      expect([toWorker(foreign), fromWorker(foreign)]).toEqual([undefined, undefined]);
  });
});
