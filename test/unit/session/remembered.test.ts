// How long calls are kept: those that are over, those whose caller vanished, those that nobody uses and those without end.
import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../src/bot/index.ts';
import { LINE_SILENCE, SENTENCE } from '../../support/caller-audio.ts';
import { snapshotOf, TEST_SETTINGS, testEngine } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { MemoryCall } from '../../support/memory-transport.ts';

let told: () => void = () => undefined;

const plain = bot<null>({
  id: 'plain',
  name: 'Plain',
  version: 1,
  session_start: (_event, { call }) => go(null, say(`Welcome, ${call.conversationId}.`).listen()),
  otherwise: () => go(null, say('Yes?').listen()),
});

const slowToEnd = bot<null>({
  id: 'slow',
  name: 'Slow',
  version: 1,
  session_start: () => go(null, say('Welcome.').listen()),
  otherwise: () => go(null, say('Yes?').listen()),
  session_end: () =>
    new Promise((resolve) => {
      told = () => {
        resolve(undefined);
      };
    }),
});

describe('a call that is over', () => {
  it('G-7C is remembered for a minute from its end, so that a late stream gets no prompts', async () => {
    const { sessions, clock } = await testEngine([plain], { settings: { sweepMs: 10_000 } });
    const call = new MemoryCall(sessions);
    await call.start();
    await clock.advanceAsync(20_000);
    await call.hangUp();
    await clock.advanceAsync(59_999);
    expect((await call.press('1')).isSuperseded).toBe(true);
    await clock.advanceAsync(1);
    expect((await call.press('1')).texts).toEqual(['Welcome, call-1.']);
  });

  it('gives way to a new one when as many are remembered as may run, the oldest first and never one that runs', async () => {
    const { sessions } = await testEngine([plain], { settings: { maxSessions: 2 } });
    const calls = ['0', '1', '2', '3', '4'].map((conversationId) => new MemoryCall(sessions, { conversationId }));
    const [running, ...others] = calls;
    const kept = async (): Promise<readonly string[]> => {
      await flushMicrotasks();
      const snapshots = await Promise.all(['0', '1', '2', '3', '4'].map((id) => snapshotOf({ sessions }, id)));
      return snapshots.flatMap((snapshot) => (snapshot === undefined ? [] : [snapshot.call.conversationId]));
    };
    await running?.start();
    for (const call of others.slice(0, 3)) {
      await call.start();
      await call.hangUp();
    }
    expect(await kept()).toEqual(['0', '1', '2', '3']);
    await others[3]?.start();
    expect(await kept()).toEqual(['0', '2', '3', '4']);
    expect((await running?.press('1'))?.texts).toEqual(['Yes?']);
  });

  it('G-7C does not listen to a stream that comes late', async () => {
    const { sessions, clock, listeners } = await testEngine([plain]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(5000);
    await call.hangUp();
    const { sink } = await call.open(LINE_SILENCE, SENTENCE);
    expect([sink.kinds, listeners.size]).toEqual([[], 0]);
  });

  it('frees its audio listener with its last stream', async () => {
    const { sessions, clock, listeners } = await testEngine([plain]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(5000);
    await call.open(LINE_SILENCE, SENTENCE);
    expect(listeners.size).toBe(1);
    await call.hangUp();
    expect(listeners.size).toBe(0);
  });

  it('has nothing pending for a caller who hung up while the bot was looking for a farewell', async () => {
    let answer: () => void = () => undefined;
    const thinking = bot<null>({
      id: 'thinking',
      name: 'Thinking',
      version: 1,
      session_start: () => go(null, say('Hi.').listen()),
      otherwise: async () => {
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
        return go(null, say('Bye.').end());
      },
    });
    const { sessions } = await testEngine([thinking]);
    const call = new MemoryCall(sessions);
    await call.start();
    await call.open({ kind: 'no_input' });
    await flushMicrotasks();
    const session = await sessions.find({ organizationId: 'org', conversationId: 'call-1' });
    answer();
    await call.hangUp();
    await flushMicrotasks();
    expect([session?.isEnded, session?.hasPendingEnd]).toEqual([true, false]);
  });
});

describe('a call that nobody uses', () => {
  it('frees its audio listener at once, not only when its bot was notified', async () => {
    const { sessions, clock, listeners } = await testEngine([slowToEnd]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(5000);
    await call.turn(LINE_SILENCE);
    expect(listeners.size).toBe(1);
    await clock.advanceAsync(5000 + TEST_SETTINGS.idleTimeoutMs);
    clock.advance(TEST_SETTINGS.sweepMs);
    await flushMicrotasks();
    expect([sessions.size, listeners.size]).toEqual([0, 0]);
    told();
  });

  it('G-93 is counted from the last thing that arrived', async () => {
    const { sessions, clock } = await testEngine([plain]);
    const call = new MemoryCall(sessions);
    await call.start();
    await clock.advanceAsync(400_000);
    await call.press('1');
    await clock.advanceAsync(TEST_SETTINGS.idleTimeoutMs - 1000);
    expect(sessions.size).toBe(1);
  });
});

describe('a caller who vanished', () => {
  it('may come back for half a minute from the moment the stream was lost', async () => {
    const { sessions, clock } = await testEngine([plain], { settings: { sweepMs: 10_000 } });
    const call = new MemoryCall(sessions);
    await call.start();
    await clock.advanceAsync(40_000);
    const lost = await call.open(LINE_SILENCE);
    lost.turn.abort('hang_up');
    await clock.advanceAsync(30_000);
    expect(sessions.size).toBe(1);
    await clock.advanceAsync(10_000);
    expect(sessions.size).toBe(0);
  });

  it('is one whose last stream was lost: another one that completed well counts', async () => {
    const { sessions, clock } = await testEngine([plain]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(5000);
    const lost = await call.open(LINE_SILENCE);
    const other = await call.open(LINE_SILENCE);
    lost.turn.abort('hang_up');
    other.turn.halfClose();
    await clock.advanceAsync(120_000);
    expect(sessions.size).toBe(1);
  });
});

describe('a call that lasts too long', () => {
  it('G-93 is one that lasts longer than allowed from its own start', async () => {
    const { sessions, clock, seen } = await testEngine([plain], { settings: { maxDurationMs: 120_000 } });
    await clock.advanceAsync(60_000);
    const call = new MemoryCall(sessions);
    await call.start();
    const { sink } = await call.open(LINE_SILENCE);
    await clock.advanceAsync(120_000);
    expect([sink.end, seen.filter((line) => line.startsWith('session_ended'))]).toEqual(['open', []]);
    await clock.advanceAsync(60_000);
    expect(sink.next).toMatchObject({ kind: 'transfer', metadata: { reason: 'too_long' } });
  });

  it('is named in the log when a stream of its breaks as it is completed', async () => {
    const { sessions, clock, log } = await testEngine([plain], { settings: { maxDurationMs: 90_000 } });
    const call = new MemoryCall(sessions);
    await call.start();
    const older = await call.open(LINE_SILENCE);
    older.sink.complete = () => {
      throw new Error('broken wire');
    };
    await call.open(LINE_SILENCE);
    await clock.advanceAsync(120_000);
    expect(log.lines[0]).toMatchObject({ level: 'error', conversationId: 'call-1', err: { message: 'broken wire' } });
  });
});
