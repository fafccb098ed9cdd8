import { describe, expect, it } from 'vitest';
import { Answering } from '../../../../src/app/console/answering.ts';
import type { Command } from '../../../../src/app/control/commands.ts';
import type { Question } from '../../../../src/app/console/questions.ts';
import { isSent, type FromWorker, type ToWorker } from '../../../../src/app/workers/messages.ts';
import { attendPrimary } from '../../../../src/app/workers/primary-link.ts';
import { createLogger } from '../../../../src/base/log.ts';
import { CallTimelines } from '../../../../src/telemetry/call-timeline.ts';
import { RefusedOrganizations } from '../../../../src/telemetry/refused-organizations.ts';
import { Traffic } from '../../../../src/telemetry/traffic.ts';
import { callFacts } from '../../../support/call-events.ts';
import { FakeClock, flushMicrotasks } from '../../../support/fake-clock.ts';
import { shownServer } from '../../../support/shown-server.ts';
import { READY, REPORT, WELL } from '../../../support/fake-workers.ts';

interface World {
  readonly clock: FakeClock;
  readonly said: FromWorker[];
  readonly tell: (message: ToWorker) => void;
  readonly lose: () => void;
  readonly close: () => Promise<void>;
  /** What was done to the server. */
  readonly done: string[];
  /** Its closing is over. */
  readonly closed: () => void;
}

function attend(reading: () => Promise<[]> = () => Promise.resolve([])): World {
  const clock = new FakeClock();
  const said: FromWorker[] = [];
  const done: string[] = [];
  let tell: (message: ToWorker) => void = () => undefined;
  let lose: () => void = () => undefined;
  let closed: () => void = () => undefined;
  const link = {
    send: (message: FromWorker) => {
      said.push(message);
      return Promise.resolve();
    },
    onMessage: (listener: typeof tell) => {
      tell = listener;
    },
    onLost: (listener: typeof lose) => {
      lose = listener;
    },
  };
  const calls = new CallTimelines({ clock, maxCalls: 3 });
  calls.sessionStarted(callFacts({ startedAtMs: clock.nowMs() }));
  const answering = new Answering({
    ...{ calls, refused: new RefusedOrganizations(clock), traffic: new Traffic(clock), organizations: { organizations: [] }, clock },
    metrics: { reading, admin: { dataSources: () => [] } },
    server: () => shownServer(),
    askOthers: () => Promise.resolve({ answers: [], silent: [] }),
  });
  const readiness = {
    get current() {
      return done.includes('close') ? { ready: false, reasons: ['draining'] } : WELL;
    },
  };
  const app = {
    ...{ ready: READY, shown: { readiness, answer: (question: Question) => answering.answer(question) } },
    stopListening: () => {
      done.push('stop listening');
    },
    close: () => {
      done.push('close');
      return new Promise<void>((resolve) => (closed = resolve));
    },
  };
  const control = {
    run: (command: Command) => {
      done.push(command.kind);
      return Promise.resolve({ ...REPORT, process: command.kind });
    },
  };
  const close = attendPrimary(app, { link, control, clock, log: createLogger({ level: 'silent' }) });
  return {
    ...{ clock, said, close, done },
    tell: (message) => {
      tell(message);
    },
    lose: () => {
      lose();
    },
    closed: () => {
      closed();
    },
  };
}

describe('a worker', () => {
  it('says once a second how it is, until it has finished', async () => {
    const { clock, said, close, closed } = attend();
    const well = { kind: 'state', ready: READY, readiness: WELL };
    expect(said).toEqual([well]);
    await clock.advanceAsync(1000);
    const closing = close();
    await clock.advanceAsync(1000);
    expect(said.slice(1)).toEqual([well, { ...well, readiness: { ready: false, reasons: ['draining'] } }]);
    closed();
    await closing;
    expect(clock.pendingTimers).toBe(0);
  });

  it('answers what it is asked, with nothing when it cannot', async () => {
    const { said, tell } = attend(() => Promise.reject(new Error('broken')));
    tell({ kind: 'ask', id: 1, question: 'calls' });
    tell({ kind: 'ask', id: 2, question: { conversationId: 'conv' } });
    tell({ kind: 'ask', id: 3, question: { conversationId: 'another' } });
    tell({ kind: 'ask', id: 4, question: 'metrics' });
    await flushMicrotasks();
    expect(said.slice(1)).toMatchObject([
      { id: 1, answer: { calls: [{ conversationId: 'conv', factCount: 1 }] } },
      { id: 2, answer: { call: { conversationId: 'conv', facts: [{ event: 'session_started' }] } } },
      { id: 3, answer: { call: undefined } },
      { id: 4, answer: {} },
    ]);
  });

  it('carries out what it is commanded, and says how it is before it answers', async () => {
    const { said, tell, done } = attend();
    tell({ kind: 'command', id: 5, command: { kind: 'drain' } });
    await flushMicrotasks();
    expect(done).toEqual(['drain']);
    expect(said.slice(1)).toMatchObject([{ kind: 'state' }, { kind: 'answer', id: 5, answer: { controlled: { process: 'drain' } } }]);
  });

  it('takes no more connections while it closes alone: the others take them', async () => {
    const { clock, close, done } = attend();
    void close();
    expect(done).toEqual(['close']);
    await clock.advanceAsync(1000);
    expect(done).toEqual(['close', 'stop listening']);
  });

  it.each([
    [
      'all of them are stopped',
      ({ tell }: World) => {
        tell({ kind: 'all_stop' });
      },
    ],
    [
      'the process that started it is gone',
      ({ lose }: World) => {
        lose();
      },
    ],
  ])('goes on taking connections while it closes because %s: whoever stands before it has not noticed yet', async (_, happens) => {
    const world = attend();
    void world.close();
    happens(world);
    await world.clock.advanceAsync(10_000);
    expect(world.done).toEqual(['close']);
  });

  it('closes at once when nothing is open, and keeps its sockets until then', async () => {
    const { clock, close, closed, done } = attend();
    const closing = close();
    closed();
    await closing;
    expect([done, clock.pendingTimers]).toEqual([['close'], 0]);
  });

  it('hears only what is meant for it', () => {
    expect(isSent({ parley: { kind: 'all_stop' } })).toBe(true);
    for (const foreign of [null, 'parley', 7, undefined, { type: 'prom-client:getMetricsReq' }]) expect(isSent(foreign)).toBe(false);
  });
});
