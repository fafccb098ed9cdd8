// What the console shows of several servers, of which each answers for itself.
import { describe, expect, it } from 'vitest';
import { Answering } from '../../../../src/app/console/answering.ts';
import { consoleSource } from '../../../../src/app/console/console-source.ts';
import { answerIn, questionIn, sentText } from '../../../../src/app/console/questions.ts';
import type { CallView } from '../../../../src/dialog/call-view.ts';
import { CallTimelines } from '../../../../src/telemetry/call-timeline.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import { OrganizationReport } from '../../../../src/telemetry/organization-report.ts';
import { Traffic } from '../../../../src/telemetry/traffic.ts';
import { CALM, callFacts, notifyAll } from '../../../support/call-events.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { shownServer } from '../../../support/shown-server.ts';
import { watchedSource } from '../../../support/watched-source.ts';

const GONE = { id: 'gone', address: '10.0.0.9:1', certificate: '', version: 1, isDraining: true };

/** A server with one call, which knows some others. */
function server(id: string, clock: FakeClock, others: readonly Answering[] = [], wellAtMs = 0) {
  const metrics = createMetrics({ knownBots: ['echo'], clock, load: CALM, processMetrics: false, maxSessions: 10 });
  const calls = new CallTimelines({ clock, maxCalls: 5 });
  const traffic = new Traffic(clock);
  const organizations = new OrganizationReport(clock, { openCalls: new Map(), limitsOf: () => ({ maxSessions: 9, maxNewPerSecond: 0 }) });
  const asked: string[] = [];
  const startedAtMs = clock.nowMs();
  for (const observer of [metrics.sessions, calls, traffic, organizations])
    notifyAll(observer, callFacts({ conversationId: `conv-${id}`, startedAtMs: clock.nowMs() }));
  metrics.admin.watch(
    () => [watchedSource({ wellAtMs, error: wellAtMs === 0 ? 'platform_unavailable' : undefined })],
    () => clock.nowMs(),
  );
  const answering = new Answering({
    ...{ metrics, calls, refused: metrics.refused, traffic, organizations, clock },
    server: () => shownServer({ id, startedAtMs }),
    askOthers: async (question) => {
      asked.push(question);
      return { answers: await Promise.all(others.map((other) => other.answerText(question))), silent: others.length === 0 ? [] : [GONE] };
    },
  });
  return { answering, asked, calls };
}

function two() {
  const clock = new FakeClock();
  const other = server('two', clock, [], 7000);
  clock.advance(10);
  const one = server('one', clock, [other.answering]);
  const source = consoleSource({ ask: (question) => one.answering.everywhere(question), clock });
  return { clock, one, other, source };
}

describe('the console', () => {
  it('shows all servers with their sum, and names the one that does not answer', async () => {
    const overview = await two().source.overview();
    expect(overview.servers.map(({ id }) => id)).toEqual(['two', 'one']);
    expect(overview.silent).toEqual([{ id: 'gone', address: '10.0.0.9:1', isDraining: true }]);
    expect(overview.traffic).toMatchObject([{ started: 2, ended: 2, refused: 2, turns: 2, failed: 2, count: 2 }]);
    expect(overview.traffic[0]).not.toHaveProperty('latency');
    expect(overview.latency).toMatchObject({ count: 2 });
    expect(overview.refused).toMatchObject([{ organizationId: 'org', reason: 'total', calls: 2 }]);
    expect(overview.services.map(({ name }) => name)).toContain('recognizer');
    // Both manage it; the one that checked last knows most.
    expect(overview.dataSources).toEqual([
      {
        ...{ organizationId: 'org', transport: 'grpc', dataSourceId: 'id', isServed: true, isAlarming: false },
        ...{ expiresAtMs: 100_000, renewedAtMs: 40_000, checkedAtMs: 7000 },
      },
    ]);
  });

  it('asks the servers once a second, however many pages are open', async () => {
    const { source, one, clock } = two();
    await Promise.all([source.overview(), source.overview(), source.overview()]);
    expect(one.asked).toHaveLength(1);
    clock.advance(1000);
    await source.overview();
    expect(one.asked).toHaveLength(2);
  });

  it('adds up the calls of each organization', async () => {
    const { organizations, silent } = await two().source.organizations();
    expect(organizations).toMatchObject([{ organizationId: 'org', begun: 2, maxCalls: 9, ends: { failed: 2 }, refused: { total: 2 } }]);
    expect(silent).toMatchObject([{ id: 'gone' }]);
  });

  it('finds calls of all servers, the latest first', async () => {
    const { source } = two();
    const { calls, silent } = await source.search({ organizationId: 'org' });
    expect(calls.map(({ conversationId, server: at, end }) => [conversationId, at, end])).toEqual([
      ['conv-one', 'one', 'failed'],
      ['conv-two', 'two', 'failed'],
    ]);
    expect(silent).toHaveLength(1);
    expect((await source.search({ end: 'open' })).calls).toEqual([]);
  });

  it('opens a recorded call with what was said for the role listen alone, and its sound', async () => {
    const { one, clock } = two();
    const view: CallView = {
      ...{ form: 1, turns: [], events: [], sound: {} },
      call: { conversationId: 'conv-one', organizationId: 'org', agentId: 'recorded', startedAtMs: 0, durationMs: 1 },
    };
    const asked: string[] = [];
    const organizations: (string | undefined)[] = [];
    const recorded = {
      find: (id: string, known?: { readonly organizationId: string }) => {
        asked.push(id);
        organizations.push(known?.organizationId);
        return Promise.resolve(id === 'none' ? undefined : { view, caller: Uint8Array.of(1), bot: Uint8Array.of(2) });
      },
    };
    const source = consoleSource({ ask: (question) => one.answering.everywhere(question), recorded, clock });
    expect(await source.call('conv-one', 'view')).toMatchObject({ call: { agentId: 'echo' } });
    expect(asked).toEqual([]);
    // Its end is perhaps not written yet.
    expect(await source.call('conv-one', 'listen')).toBe(view);
    clock.advance(10_000);
    expect(await source.call('conv-one', 'listen')).toMatchObject({
      call: { agentId: 'recorded', end: 'failed' },
      events: [{ atMs: 1, event: 'recording_cut' }],
    });
    // Too long ago for the timelines.
    expect(await source.call('old', 'listen')).toBe(view);
    expect(await source.sound('conv-one', 'bot')).toEqual(Buffer.of(2));
    expect(await source.sound('none', 'bot')).toBeUndefined();
    // Another organization's call may have the same id.
    expect(organizations).toEqual(['org', 'org', undefined, 'org', undefined]);
    one.calls.sessionStarted(callFacts({ conversationId: 'now' }));
    expect(await source.call('now', 'listen')).toMatchObject({ call: { agentId: 'echo' } });
    expect(asked).not.toContain('now');
  });

  it('opens a call wherever it is kept, and after a move where it ended', async () => {
    const { source, one, other } = two();
    expect(await source.call('conv-two', 'view')).toMatchObject({ call: { conversationId: 'conv-two' } });
    expect(await source.call('conv-none', 'view')).toBeUndefined();
    const moved = callFacts({ conversationId: 'moved' });
    one.calls.sessionStarted(moved);
    one.calls.sessionEnded(moved, 'moved');
    other.calls.sessionStarted(callFacts({ conversationId: 'moved' }), true);
    expect(await source.call('moved', 'view')).not.toHaveProperty('call.end');
  });
});

describe('a question between servers', () => {
  it('is understood by those of the same form alone', async () => {
    expect(questionIn(sentText('report'))).toBe('report');
    expect(answerIn(sentText({ found: [] }))).toEqual({ found: [] });
    for (const other of ['', 'null', '{}', '{"form":2,"content":"report"}', '"report"']) {
      expect([questionIn(other), answerIn(other)]).toEqual([undefined, undefined]);
      await expect(two().one.answering.answerText(other)).rejects.toThrow('another version');
    }
  });
});
