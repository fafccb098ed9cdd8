import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../src/bot/index.ts';
import { callId } from '../../../src/dialog/call.ts';
import { snapshotOf, TEST_SETTINGS, testEngine } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { MemoryCall } from '../../support/memory-transport.ts';

const { transfer: transferPrompt, apology } = TEST_SETTINGS.lines;
const KEY = { organizationId: 'org', conversationId: 'call-1' };
const OPENING = { ...KEY, agentId: '', vendorConfig: '', parameters: {} };
const FRAME = { kind: 'audio', audio: new Uint8Array(160).fill(0xff) } as const;

const plain = bot<{ readonly pin: string }>({
  id: 'plain',
  name: 'Plain',
  version: 1,
  session_start: () => go({ pin: '' }, say('Welcome.').listen()),
  dtmf_input: (_state, { digits }) => (digits === '9' ? go({ pin: '4711' }, say('Bye.').end()) : go({ pin: digits }, say('Yes?').listen())),
  otherwise: (state) => go(state, say('What?').listen()),
});

describe('the end of a call', () => {
  it('hands a caller over who is still there when the server stops, and completes the older turn', async () => {
    const { sessions, clock, seen } = await testEngine([plain]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(5000);
    const older = await call.open(FRAME);
    const newer = await call.open(FRAME);
    const closing = sessions.close(1000);
    await clock.advanceAsync(1100);
    expect(await closing).toEqual({ turns: 2, calls: 0 });
    expect([older.sink.kinds, older.sink.end]).toEqual([[], 'complete']);
    expect(newer.sink.texts).toEqual([transferPrompt]);
    expect(newer.sink.next).toMatchObject({ kind: 'transfer', metadata: { reason: 'shutdown' } });
    expect(newer.sink.end).toBe('complete');
    expect(seen.filter((event) => event.startsWith('session_ended'))).toEqual(['session_ended shutdown']);
    expect(clock.pendingTimers).toBe(0);
    await expect(new MemoryCall(sessions, { conversationId: 'late' }).press('1')).rejects.toMatchObject({ code: 'shutting_down' });
  });

  it('G-93 hands a caller over whose session lasts too long, at once on an open turn', async () => {
    const { sessions, clock, seen } = await testEngine([plain], { settings: { maxDurationMs: 90_000 } });
    const call = new MemoryCall(sessions);
    await call.start();
    const { sink } = await call.open(FRAME);
    await clock.advanceAsync(120_000);
    expect(sink.texts).toEqual([transferPrompt]);
    expect(sink.next).toMatchObject({ kind: 'transfer', metadata: { reason: 'too_long' } });
    expect(seen).toContain('session_ended too_long');
    expect((await call.press('1')).isSuperseded).toBe(true);
  });

  it('G-93 hands a caller over whose session lasted too long on the next turn, and starts over only when the flow does (G-28)', async () => {
    const { sessions, clock } = await testEngine([plain], { settings: { maxDurationMs: 90_000 } });
    const call = new MemoryCall(sessions);
    await call.start();
    await clock.advanceAsync(120_000);
    expect((await call.press('1')).texts).toEqual([transferPrompt]);
    expect((await call.press('1')).isSuperseded).toBe(true);
    expect((await call.start()).texts).toEqual(['Welcome.']);
  });

  it('lets a late turn wait for the end of the swept session and then starts anew', async () => {
    let tell: () => void = () => undefined;
    const slow = bot<null>({
      id: 'slow',
      name: 'Slow',
      version: 1,
      session_start: () => go(null, say('Welcome.').listen()),
      otherwise: () => go(null, say('Yes?').listen()),
      session_end: () =>
        new Promise((resolve) => {
          tell = () => {
            resolve(undefined);
          };
        }),
    });
    const { sessions, clock, seen } = await testEngine([slow]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(TEST_SETTINGS.idleTimeoutMs + TEST_SETTINGS.sweepMs);
    await flushMicrotasks();
    const late = call.press('1');
    await flushMicrotasks();
    tell();
    expect((await late).texts).toEqual(['Welcome.']);
    expect(seen.filter((event) => event.startsWith('bot_failed'))).toEqual([]);
  });

  it('G-74 always finds a place for a hang-up, and makes no session for one', async () => {
    const { sessions, seen } = await testEngine([plain]);
    const call = new MemoryCall(sessions);
    for (let turn = 0; turn < 8; turn += 1) await call.open(FRAME);
    const session = await sessions.find(OPENING);
    expect(session).toBeDefined();
    expect(() =>
      session?.beginTurn({ write: () => true, onceDrained: () => undefined, complete: () => undefined, fail: () => undefined }, true),
    ).not.toThrow();
    expect(await sessions.find({ organizationId: 'org', conversationId: 'never seen' })).toBeUndefined();
    expect(seen.filter((event) => event === 'session_started')).toHaveLength(1);
  });

  it('forgets a caller who vanished and does not come back, and keeps one who does', async () => {
    const { sessions, clock } = await testEngine([plain]);
    const [gone, back] = ['gone', 'back'].map((conversationId) => new MemoryCall(sessions, { conversationId }));
    for (const call of [gone, back]) {
      await call?.start();
      const open = await call?.open(FRAME);
      open?.turn.abort('hang_up');
    }
    clock.advance(20_000);
    await back?.press('1');
    await clock.advanceAsync(50_000);
    expect(sessions.size).toBe(1);
    expect((await back?.press('1'))?.texts).toEqual(['Yes?']);
  });

  it('keeps a caller who is back on a stream on which nothing has come yet', async () => {
    const { sessions, clock } = await testEngine([plain]);
    const call = new MemoryCall(sessions);
    await call.start();
    const lost = await call.open(FRAME);
    lost.turn.abort('hang_up');
    const { sink } = await call.open();
    await clock.advanceAsync(100_000);
    expect(sink.end).toBe('open');
    expect(sessions.size).toBe(1);
  });

  it('does not refuse a hang-up that comes while its call is being refused', async () => {
    const { sessions } = await testEngine([plain], { settings: { maxSessions: 0 } });
    const refused = new MemoryCall(sessions).start();
    const found = sessions.find(KEY);
    await expect(refused).rejects.toMatchObject({ code: 'overloaded' });
    expect(await found).toBeUndefined();
  });

  it("forgets the bot's state as soon as the call is over", async () => {
    const { sessions } = await testEngine([plain]);
    const call = new MemoryCall(sessions);
    await call.start();
    await call.press('9');
    await flushMicrotasks();
    expect(await snapshotOf({ sessions })).toMatchObject({ ended: true, state: null });
  });

  it('G-55 makes every prompt of a terminal reply uncuttable, also those said before it and those built without the helpers', async () => {
    const talker = bot<null>({
      id: 'talker',
      name: 'Talker',
      version: 1,
      session_start: () => go(null, say('Hi.').listen()),
      dtmf_input: function* () {
        yield say('Thank you.');
        return go(null, say('Bye.').end());
      },
      otherwise: () => ({
        state: null,
        reply: { prompts: [{ kind: 'text', text: 'Bye.', bargeIn: true }], next: { kind: 'end', outcome: 'x' } },
      }),
    });
    const wav = await testEngine([talker], { settings: { mode: 'wav' } });
    const first = new MemoryCall(wav.sessions);
    await first.start();
    expect((await first.press('1')).outputs).toMatchObject([{ kind: 'final', prompts: [{ bargeIn: false }, { bargeIn: false }] }]);
    const chunk = await testEngine([talker]);
    const second = new MemoryCall(chunk.sessions);
    await second.start();
    expect((await second.turn({ kind: 'no_input' })).outputs[0]).toMatchObject({ prompt: { bargeIn: false } });
  });

  it('does not wait for a client to read the last message', async () => {
    const { sessions, clock } = await testEngine([plain], { settings: { mode: 'wav' } });
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(5000);
    const { turn, sink } = await call.open();
    sink.isFull = true;
    turn.push({ kind: 'dtmf', digits: '9' });
    await sink.ended();
    expect(sink.end).toBe('complete');
  });
});

describe('time', () => {
  it('bounds notifying handlers, so that a reply is never late because of them', async () => {
    const chatty = bot<null>({
      id: 'chatty',
      name: 'Chatty',
      version: 1,
      session_start: () => go(null, say('Hi.').listen()),
      otherwise: () => go(null, say('Yes?').listen()),
      turn_started: () => new Promise(() => undefined),
      turn_ended: () => new Promise(() => undefined),
    });
    const { sessions, clock } = await testEngine([chatty]);
    const call = new MemoryCall(sessions);
    const start = await call.open({ kind: 'session_start', name: '', parameters: {} });
    await clock.advanceAsync(500);
    await start.sink.ended();
    const next = await call.open({ kind: 'no_input' });
    await clock.advanceAsync(1000);
    await next.sink.ended();
    expect(next.sink.texts).toEqual(['Yes?']);
  });

  it("does not count the client's time to read as the bot's time to think", async () => {
    const reader = bot<null>({
      id: 'reader',
      name: 'Reader',
      version: 1,
      session_start: function* () {
        for (const line of ['One.', 'Two.', 'Three.']) yield say(line);
        return go(null, say('Four.').listen());
      },
      otherwise: () => go(null, say('Yes?').listen()),
    });
    const { sessions, clock, seen } = await testEngine([reader]);
    const { turn, sink } = await new MemoryCall(sessions).open();
    sink.isFull = true;
    turn.push({ kind: 'session_start', name: '', parameters: {} });
    for (let line = 0; line < 4; line += 1) {
      await clock.advanceAsync(4000);
      sink.isFull = true;
      sink.drain();
      sink.isFull = line < 3;
    }
    await sink.ended();
    expect(sink.texts).toEqual(['One.', 'Two.', 'Three.', 'Four.']);
    expect(seen.some((event) => event.startsWith('bot_failed'))).toBe(false);
  });

  it('G-91 takes a client that does not read what a bot says early for what it is', async () => {
    const talker = bot<null>({
      id: 'talker',
      name: 'Talker',
      version: 1,
      session_start: function* () {
        yield say('One.');
        return go(null, say('Two.').listen());
      },
      otherwise: () => go(null, say('Yes?').listen()),
    });
    const { sessions, clock, seen } = await testEngine([talker]);
    const { turn, sink } = await new MemoryCall(sessions).open();
    sink.isFull = true;
    turn.push({ kind: 'session_start', name: '', parameters: {} });
    await clock.advanceAsync(TEST_SETTINGS.slowReaderMs);
    await sink.ended();
    expect(sink.end).toMatchObject({ code: 'slow_reader' });
    expect(sink.texts).not.toContain(apology);
    expect(seen.some((event) => event.startsWith('bot_failed'))).toBe(false);
  });
});

describe('callId', () => {
  it('tells calls apart whose ids hold the same characters', () => {
    expect(callId({ organizationId: 'a', conversationId: 'b/c' })).not.toBe(callId({ organizationId: 'a/b', conversationId: 'c' }));
  });
});
