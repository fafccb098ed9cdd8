import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import { bot, go, say } from '../../../src/bot/index.ts';
import { ADMISSION_REFUSALS, refusedCall } from '../../../src/session/admission.ts';
import { FakeVoice, testEngine, TEST_SETTINGS } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { LeftSnapshots } from '../../support/homes.ts';
import { MemoryCall, MemorySink } from '../../support/memory-transport.ts';

const KEY = { organizationId: 'org', conversationId: 'call-1' };

const plain = (id: string, { version = 1, ended = [] }: { version?: number; ended?: string[] } = {}) =>
  bot<null>({
    id,
    name: id,
    version,
    session_start: () => go(null, say(`Welcome to ${id}.`).listen()),
    otherwise: () => go(null, say('Yes?').listen()),
    session_end: (_state, { by }) => {
      ended.push(`${id} ${by}`);
    },
  });

describe('sessions', () => {
  it('G-07 answers a call without an agent with the first bot, and a named one with its own', async () => {
    const { sessions } = await testEngine([plain('b'), plain('a')]);
    expect((await new MemoryCall(sessions).start()).texts).toEqual(['Welcome to a.']);
    expect((await new MemoryCall(sessions, { conversationId: '2', agentId: 'b' }).start()).texts).toEqual(['Welcome to b.']);
  });

  it('lets prompts travel as a wire must have them, and else as the operator wants them', async () => {
    const { sessions } = await testEngine([plain('a')], { settings: { mode: 'wav' } });
    expect((await new MemoryCall(sessions).start()).kinds).toEqual(['final']);
    expect((await new MemoryCall(sessions, { conversationId: '2', mode: 'chunk' }).start()).kinds).toEqual(['prompt', 'final']);
    const mute = await testEngine([plain('a')], { voice: new FakeVoice(false) });
    expect((await new MemoryCall(mute.sessions, { mode: 'chunk' }).start()).outputs).toMatchObject([{ kind: 'final', mode: 'wav' }]);
  });

  it('has a call from its beginning until it is over and its bot was notified', async () => {
    const { sessions } = await testEngine([plain('a')]);
    const call = new MemoryCall(sessions);
    const has = [sessions.has(KEY)];
    await call.start();
    expect([KEY.conversationId, 'another'].map((id) => sessions.knows(id))).toEqual([true, false]);
    has.push(sessions.has({ organizationId: 'org', conversationId: 'another' }));
    sessions.lose(KEY);
    has.push(sessions.has(KEY));
    await flushMicrotasks();
    expect([...has, sessions.has(KEY)]).toEqual([false, false, true, false]);
  });

  it('refuses an agent that nobody has', async () => {
    const { sessions } = await testEngine([plain('a')]);
    await expect(new MemoryCall(sessions, { agentId: 'z' }).start()).rejects.toMatchObject({ code: 'agent_unknown' });
    expect(sessions.size).toBe(0);
  });

  it('G-17 refuses another agent for a running conversation, and takes an empty one', async () => {
    const { sessions } = await testEngine([plain('a'), plain('b')]);
    await new MemoryCall(sessions, { agentId: 'a' }).start();
    await expect(new MemoryCall(sessions, { agentId: 'b' }).press('1')).rejects.toMatchObject({ code: 'agent_conflict' });
    expect((await new MemoryCall(sessions, { agentId: '' }).press('1')).texts).toEqual(['Yes?']);
  });

  it('makes one session of two streams that open at once', async () => {
    const { sessions } = await testEngine([plain('a')]);
    const call = new MemoryCall(sessions);
    const [first, second] = await Promise.all([call.start(), call.press('1')]);
    expect(sessions.size).toBe(1);
    expect([first.texts, second.texts]).toEqual([['Welcome to a.'], ['Yes?']]);
  });

  it('takes no more sessions than allowed, and turns the next call away with a spoken line', async () => {
    const { sessions } = await testEngine([plain('a')], { settings: { maxSessions: 2 } });
    await Promise.all(['1', '2', '3'].map((conversationId) => new MemoryCall(sessions, { conversationId }).start().catch(() => undefined)));
    expect(sessions.size).toBe(2);
    await expect(new MemoryCall(sessions, { conversationId: '4' }).start()).rejects.toMatchObject({ code: 'overloaded' });
    const sink = new MemorySink();
    sessions.transferRefused(sink, refusedCall('total'), KEY);
    expect(sink.texts).toEqual([TEST_SETTINGS.lines.transfer]);
    expect(sink.next).toMatchObject({ kind: 'transfer', metadata: { reason: 'total' } });
    expect(sink.end).toBe('complete');
  });

  it.each(ADMISSION_REFUSALS)('names the reason of the refusal to the flow: %s', async (reason) => {
    const { sessions } = await testEngine([plain('a')]);
    const sink = new MemorySink();
    sessions.transferRefused(sink, refusedCall(reason), KEY);
    expect(sink.next).toMatchObject({ kind: 'transfer', metadata: { reason } });
  });

  it('counts a call that it transfers because its home is unknown, and names that reason to the flow', async () => {
    const { sessions, seen } = await testEngine([plain('a')]);
    const sink = new MemorySink();
    sessions.transferRefused(sink, new AppError('store_unavailable', 'nobody knows'), KEY);
    expect(seen).toEqual(['call_refused store']);
    expect(sink.next).toMatchObject({ kind: 'transfer', metadata: { reason: 'store' } });
  });

  it('gives the place of a call back to its own organization, whatever a bot does with what it knows of the call', async () => {
    const meddling = bot<null>({
      id: 'meddling',
      name: 'Meddling',
      version: 1,
      session_start: () => go(null, say('Hi.').listen()),
      otherwise: (_state, _event, { call }) => {
        Reflect.set(call, 'organizationId', 'another');
        return go(null, say('Bye.').end());
      },
    });
    const { sessions } = await testEngine([meddling], { limits: { perOrganization: { maxSessions: 1, maxNewPerSecond: 0 } } });
    for (const conversationId of ['1', '2', '3']) {
      const call = new MemoryCall(sessions, { conversationId });
      expect((await call.start()).texts).toEqual(['Hi.']);
      await call.press('1');
    }
  });

  it('gives the place of a call that is over to the next one', async () => {
    const { sessions } = await testEngine([plain('a')], { settings: { maxSessions: 1 } });
    for (let call = 0; call < 10; call += 1) {
      const placed = new MemoryCall(sessions, { conversationId: String(call) });
      expect((await placed.start()).texts).toEqual(['Welcome to a.']);
      await placed.hangUp();
    }
  });

  it('G-93 ends a session in which nothing arrives, notifies the bot, and lets no other process go on with it', async () => {
    const ended: string[] = [];
    const left = new LeftSnapshots();
    const { sessions, clock, seen } = await testEngine([plain('a', { ended })], { snapshots: left });
    await new MemoryCall(sessions).start();
    await clock.advanceAsync(TEST_SETTINGS.idleTimeoutMs);
    expect(sessions.size).toBe(1);
    await clock.advanceAsync(TEST_SETTINGS.sweepMs);
    expect(sessions.size).toBe(0);
    expect([left.asked.at(-1), left.newest()]).toEqual(['forget call-1', undefined]);
    expect(ended).toEqual(['a idle']);
    expect(seen).toContain('session_ended idle');
  });

  it('G-93 ends the stream of an idle session with a deadline', async () => {
    const { sessions, clock } = await testEngine([plain('a')]);
    const call = new MemoryCall(sessions);
    await call.start();
    const { sink } = await call.open({ kind: 'audio', audio: new Uint8Array(160).fill(0xff) });
    await clock.advanceAsync(TEST_SETTINGS.idleTimeoutMs + TEST_SETTINGS.sweepMs);
    expect(sink.end).toMatchObject({ code: 'turn_timeout' });
    expect(sessions.openTurns).toBe(0);
  });

  it('G-93 ends a session that lasts too long, although the caller goes on', async () => {
    const { sessions, clock } = await testEngine([plain('a')], { settings: { maxDurationMs: 300_000 } });
    const call = new MemoryCall(sessions);
    await call.start();
    for (let minute = 0; minute < 6; minute += 1) {
      await clock.advanceAsync(60_000);
      if (sessions.size === 1) await call.press('1');
    }
    expect(sessions.size).toBe(0);
  });

  it('G-75 refuses no hang-up of a call whose bot has left the catalogue, and forgets the call', async () => {
    const left = new LeftSnapshots();
    const first = await testEngine([plain('a')], { snapshots: left });
    await new MemoryCall(first.sessions).start();
    const second = await testEngine([plain('b')], { snapshots: left });
    expect(await second.sessions.find(KEY, left.restored())).toBeUndefined();
    expect([left.newest(), second.sessions.size]).toEqual([undefined, 0]);
    expect(second.log.lines).toMatchObject([{ level: 'warn', conversationId: 'call-1' }]);
  });

  it('G-75 makes nothing of the hang-up of a call that nobody knows', async () => {
    const { sessions, log } = await testEngine([plain('a')]);
    expect(await sessions.find(KEY)).toBeUndefined();
    expect([log.lines, sessions.size]).toEqual([[], 0]);
  });

  it('refuses new calls while it drains, and goes on with running ones', async () => {
    const { sessions } = await testEngine([plain('a')]);
    const running = new MemoryCall(sessions);
    await running.start();
    sessions.drain();
    await expect(new MemoryCall(sessions, { conversationId: 'new' }).start()).rejects.toMatchObject({ code: 'shutting_down' });
    expect((await running.press('1')).texts).toEqual(['Yes?']);
  });

  it('closes after open turns are done, and leaves no timer', async () => {
    const ended: string[] = [];
    const { sessions, clock } = await testEngine([plain('a', { ended })]);
    const call = new MemoryCall(sessions);
    await call.start();
    const { turn, sink } = await call.open({ kind: 'audio', audio: new Uint8Array(160).fill(0xff) });
    const closing = sessions.close(5000);
    await clock.advanceAsync(1000);
    expect(sink.end).toBe('open');
    turn.halfClose();
    // The caller may be back on the next stream a moment later.
    await clock.advanceAsync(3100);
    expect(await closing).toEqual({ turns: 0, calls: 1 });
    expect(ended).toEqual(['a shutdown']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('cuts what is still open when its time is up, and says how many', async () => {
    const { sessions, clock } = await testEngine([plain('a')]);
    const call = new MemoryCall(sessions);
    await call.start();
    await call.open({ kind: 'audio', audio: new Uint8Array(160).fill(0xff) });
    const closing = sessions.close(5000);
    await clock.advanceAsync(6000);
    expect(await closing).toEqual({ turns: 1, calls: 0 });
    expect(sessions.openTurns).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });
});
