// Calls whose turns come to different processes: each engine here is one, and all share a place for their calls.
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import { bot, go, say } from '../../../src/bot/index.ts';
import { LINE_SILENCE, SENTENCE } from '../../support/caller-audio.ts';
import { FakeClock, flushMicrotasks } from '../../support/fake-clock.ts';
import { testEngine, TEST_SETTINGS, type TestEngine } from '../../support/engine.ts';
import { MemoryCall } from '../../support/memory-transport.ts';
import { stuckBot } from '../../support/stuck-bot.ts';
import { SharedPlace, TEST_LEASE_MS } from '../../support/shared-store.ts';
import { after, begun, gateOf, two } from '../../support/two-engines.ts';

describe('a call whose turns come to different processes', () => {
  it('goes on where it was, whichever process has the next turn', async () => {
    const { a, b } = await two();
    await new MemoryCall(a.sessions).start();
    const texts = [];
    for (const { sessions } of [b, a, b, b, a]) texts.push(...(await new MemoryCall(sessions).press('1')).texts);
    expect(texts).toEqual(['Input 1.', 'Input 2.', 'Input 3.', 'Input 4.', 'Input 5.']);
    expect(b.seen[0]).toBe('session_continued');
  });

  it('waits while the other process answers, so that each input finds the state of the one before', async () => {
    const all = await two();
    const { a, b, place, clock } = all;
    await begun(all);
    const gate = gateOf();
    place.before = (operation, owner) => (operation === 'commit' && owner === 'a' ? gate.opened : undefined);
    const first = new MemoryCall(a.sessions).press('1');
    await flushMicrotasks();
    const second = new MemoryCall(b.sessions).press('1');
    await clock.advanceAsync(100);
    gate.open();
    await flushMicrotasks();
    // Nobody wants the first answer any more, and the state that came of it counts all the same.
    expect([(await first).texts, (await after(clock, 100, second)).texts]).toEqual([[], ['Input 2.']]);
  });

  it('tells the bot what was heard of a prompt that another process has said, and that it was cut', async () => {
    const all = await two();
    const { a, b, clock, asked, notes } = all;
    await begun(all);
    await new MemoryCall(a.sessions).press('9');
    await clock.advanceAsync(500);
    const call = new MemoryCall(b.sessions);
    await call.turn({ kind: 'dtmf_start' });
    await call.press('1');
    expect(notes).toEqual(['barge_in keys 500']);
    expect(asked.at(-1)).toMatchObject({ digits: '1', heard: { complete: false, ms: 500 } });
  });

  it('G-51 takes nothing for input that is said over a prompt of another process that cannot be cut', async () => {
    const firm = bot<null>({
      id: 'firm',
      name: 'Firm',
      version: 1,
      session_start: () => go(null, say('Welcome.').listen()),
      otherwise: () => go(null, say('x'.repeat(2000), { bargeIn: false }).listen()),
    });
    const all = await two({}, [1, 1], firm);
    const { a, b, clock } = all;
    await begun(all);
    // Both have a session of the call already.
    const before = await new MemoryCall(b.sessions).open();
    before.turn.abort('hang_up');
    await new MemoryCall(a.sessions).press('1');
    await flushMicrotasks();
    const { sink, turn } = await new MemoryCall(b.sessions).open(LINE_SILENCE, SENTENCE);
    expect(sink.kinds).toEqual([]);
    await clock.advanceAsync(20_000);
    turn.push(SENTENCE);
    expect(sink.kinds).toEqual(['input_started']);
  });

  it('tells the bot so also on a stream that had opened before that prompt', async () => {
    const all = await two();
    const { a, b, place, clock, asked, notes } = all;
    await begun(all);
    const { turn, sink } = await new MemoryCall(b.sessions).open();
    await new MemoryCall(a.sessions).press('9');
    await clock.advanceAsync(500);
    turn.push({ kind: 'dtmf', digits: '1' });
    await after(clock, 100, sink.ended());
    expect([notes, b.seen.filter((line) => line === 'barge_in')]).toEqual([['barge_in keys 500'], ['barge_in']]);
    expect(asked.at(-1)).toMatchObject({ digits: '1', heard: { complete: false, ms: 500 } });
    expect(place.of({ organizationId: 'org', conversationId: 'call-1' }).record?.state).toEqual({ count: 2, notes: ['barge_in'] });
  });

  it('stops a mouth in the process that is speaking when the caller acts in another one', async () => {
    const clock = new FakeClock();
    const place = new SharedPlace(clock);
    const slow = bot<{ readonly n: number }>({
      id: 'slow',
      name: 'Slow',
      version: 1,
      session_start: () => go({ n: 0 }, say('Welcome.').listen()),
      dtmf_input: async function* (state, { digits }, { signal }) {
        if (digits === '1') {
          yield say('A long story begins.');
          await new Promise<void>((resolve) => {
            signal.addEventListener('abort', () => {
              resolve();
            });
          });
        }
        return go({ n: state.n + 1 }, say(`Input ${String(state.n + 1)}.`).listen());
      },
      otherwise: (state) => go(state, say('What?').listen()),
    });
    const engine = (owner: string): Promise<TestEngine> =>
      testEngine([slow], { clock, store: place.storeOf(owner), interruptions: place.interruptionsOf(owner) });
    const [a, b] = [await engine('a'), await engine('b')];
    await new MemoryCall(a.sessions).start();
    const story = new MemoryCall(a.sessions).press('1');
    await flushMicrotasks();
    const call = new MemoryCall(b.sessions);
    await call.turn({ kind: 'dtmf_start' });
    const next = call.press('2');
    const cut = await after(clock, 50, story);
    expect([cut.texts, cut.end]).toEqual([['A long story begins.'], 'complete']);
    expect((await after(clock, 50, next)).texts).toEqual(['Input 2.']);
  });

  it('says the reply of a process that died before it was handed over, and takes no input for an answer to it', async () => {
    const all = await two();
    const { a, b, place, clock, asked } = all;
    await begun(all);
    place.dying.add('a');
    // Killed between its commit and its first word: it is never released either.
    void new MemoryCall(a.sessions).press('1');
    await flushMicrotasks();
    const repeated = await after(clock, TEST_LEASE_MS + 50, new MemoryCall(b.sessions).press('1'));
    expect([repeated.texts, repeated.next?.kind, asked.length]).toEqual([['Input 1.'], 'listen', 1]);
    expect(b.seen).toContain('reply_repeated');
    expect((await new MemoryCall(b.sessions).press('1')).texts).toEqual(['Input 2.']);
  });

  it('says the last words of a process that died before it had said them, and ends the call', async () => {
    const all = await two();
    const { a, b, place, clock } = all;
    await begun(all);
    place.dying.add('a');
    void new MemoryCall(a.sessions).press('8');
    await flushMicrotasks();
    const repeated = await after(clock, TEST_LEASE_MS + 50, new MemoryCall(b.sessions).press('1'));
    expect([repeated.texts, repeated.next?.kind]).toEqual([['Goodbye.'], 'end']);
    expect(b.seen).toContain('session_ended bot_end');
  });

  it('answers again in another process what a process that died had not answered', async () => {
    const all = await two();
    const { a, b, place, clock, asked } = all;
    await begun(all);
    place.before = (operation, owner) => (owner === 'a' && operation === 'commit' ? place.kill('a') : undefined);
    void new MemoryCall(a.sessions).press('1');
    await flushMicrotasks();
    const again = new MemoryCall(b.sessions).press('1');
    expect((await after(clock, TEST_LEASE_MS + 50, again)).texts).toEqual(['Input 1.']);
    expect(asked).toHaveLength(2);
  });

  it.each([
    ['a reply', '1'],
    ['last words', '8'],
  ])('repeats the reply of the process that was faster, instead of %s of its own, and goes on', async (_what, digits) => {
    const all = await two();
    const { a, b, place, clock } = all;
    await begun(all);
    const gate = gateOf();
    place.before = (operation, owner) => (operation === 'commit' && owner === 'a' ? gate.opened : undefined);
    const before = await new MemoryCall(b.sessions).open();
    const loser = new MemoryCall(a.sessions).press(digits);
    await flushMicrotasks();
    // It stands still for longer than its lease, while the same input is answered on an older stream of the call.
    place.of({ organizationId: 'org', conversationId: 'call-1' }).untilMs = 0;
    before.turn.push({ kind: 'dtmf', digits: '2' });
    await before.sink.ended();
    gate.open();
    expect([before.sink.texts, (await after(clock, 50, loser)).texts]).toEqual([['Input 1.'], ['Input 1.']]);
    expect(a.seen).toContain('reply_repeated');
    const goesOn = [await new MemoryCall(a.sessions).press('1'), await new MemoryCall(b.sessions).press('1')];
    expect(goesOn.map(({ texts }) => texts)).toEqual([['Input 2.'], ['Input 3.']]);
  });

  it('is not ended for its bot where its turns no longer come, and is once where they came last', async () => {
    const all = await two();
    const { a, b, clock, notes } = all;
    await begun(all);
    await new MemoryCall(b.sessions).press('1');
    await clock.advanceAsync(60_000);
    expect([a.sessions.size, b.sessions.size]).toEqual([0, 1]);
    expect(a.seen.at(-1)).toBe('session_ended moved');
    await clock.advanceAsync(TEST_SETTINGS.idleTimeoutMs + TEST_SETTINGS.sweepMs);
    expect([a.sessions.size, b.sessions.size, notes]).toEqual([0, 0, ['session_end idle']]);
  });

  it('has no place in a process that waits for its next turn once it has ended in another one', async () => {
    const all = await two();
    const { a, b, clock } = all;
    await begun(all);
    const waiting = await new MemoryCall(a.sessions).open();
    await new MemoryCall(b.sessions).press('8');
    // The platform closes the stream that it had opened ahead: the last one of the call.
    waiting.turn.halfClose();
    await clock.advanceAsync(20_000);
    expect([a.sessions.size, b.sessions.size]).toEqual([0, 0]);
  });

  it('gives no prompts after its end, whichever process is asked', async () => {
    const all = await two();
    const { a, b, clock } = all;
    await begun(all);
    expect((await new MemoryCall(b.sessions).press('8')).texts).toEqual(['Goodbye.']);
    expect((await after(clock, 100, new MemoryCall(a.sessions).press('1'))).texts).toEqual([]);
  });

  it('leaves no timer behind in any process', async () => {
    const all = await two();
    const { a, b, clock } = all;
    await begun(all);
    await new MemoryCall(b.sessions).press('1');
    const closing = Promise.all([a.sessions.close(0), b.sessions.close(0)]);
    await after(clock, 5000, closing);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('the place that all share, when it is away', () => {
  const away = new AppError('store_unavailable', 'away');

  it('turns new calls away and says why', async () => {
    const { a, place } = await two();
    place.before = () => Promise.reject(away);
    await expect(new MemoryCall(a.sessions).start()).rejects.toMatchObject({ code: 'store_unavailable', details: { reason: 'store' } });
    expect(a.seen).toEqual(['call_refused store']);
  });

  it('is waited for by a turn that is being answered', async () => {
    const all = await two();
    const { a, place, clock } = all;
    await begun(all);
    place.before = () => Promise.reject(away);
    const turn = new MemoryCall(a.sessions).press('1');
    await clock.advanceAsync(1000);
    place.before = () => undefined;
    expect((await after(clock, 200, turn)).texts).toEqual(['Input 1.']);
  });

  it('costs a caller no more than some seconds, who then is handed over', async () => {
    const all = await two();
    const { a, place, clock } = all;
    await begun(all);
    place.before = () => Promise.reject(away);
    const turn = await after(clock, 5000, new MemoryCall(a.sessions).press('1'));
    expect([turn.texts, turn.next?.kind]).toEqual([[TEST_SETTINGS.handover], 'transfer']);
  });

  it('takes no last words from a caller', async () => {
    const all = await two();
    const { a, place, clock } = all;
    await begun(all);
    place.before = (operation) => (operation === 'commit' ? Promise.reject(away) : undefined);
    const turn = await after(clock, 5000, new MemoryCall(a.sessions).press('8'));
    expect([turn.texts, turn.next?.kind]).toEqual([['Goodbye.'], 'end']);
  });
});

describe('a process that stops while others can go on', () => {
  it('completes the turns of silent callers without a word, and their calls go on elsewhere', async () => {
    const all = await two();
    const { a, b, clock } = all;
    await begun(all);
    const { sink } = await new MemoryCall(a.sessions).open();
    const closing = a.sessions.close(2000);
    expect(await after(clock, 3000, closing)).toEqual({ turns: 0, calls: 0 });
    expect([sink.end, sink.outputs]).toEqual(['complete', []]);
    expect((await new MemoryCall(b.sessions).press('1')).texts).toEqual(['Input 1.']);
  });

  it('answers what comes until its last moments, new calls as well', async () => {
    const { a, clock } = await two();
    a.sessions.drain();
    const held = await new MemoryCall(a.sessions, { conversationId: 'held' }).open();
    const closing = a.sessions.close(10_000);
    await clock.advanceAsync(100);
    expect((await new MemoryCall(a.sessions, { conversationId: 'new' }).start()).texts).toEqual(['Welcome.']);
    held.turn.halfClose();
    expect(await after(clock, 1000, closing)).toEqual({ turns: 0, calls: 0 });
  });

  it('hands over, when its time is up, a caller whose input is still being answered, and counts the turn', async () => {
    const all = await two({ turnDeadlineMs: 60_000 }, [1, 1], stuckBot);
    const { a, clock } = all;
    await begun(all);
    const { sink } = await new MemoryCall(a.sessions).open({ kind: 'dtmf', digits: '1' });
    const closing = a.sessions.close(2000);
    await clock.advanceAsync(1990);
    expect(sink.kinds).toEqual([]);
    expect(await after(clock, 1010, closing)).toEqual({ turns: 1, calls: 0 });
    expect([sink.texts, sink.next]).toMatchObject([[TEST_SETTINGS.handover], { kind: 'transfer', metadata: { reason: 'shutdown' } }]);
  });

  it('goes on with calls of others until its last moments, and then with none, not even with one that it has just given up', async () => {
    const all = await two();
    const { a, b, clock } = all;
    await begun(all);
    // A silent caller keeps it until its time is up.
    await new MemoryCall(b.sessions, { conversationId: 'silent' }).open();
    const closing = b.sessions.close(4000);
    await clock.advanceAsync(100);
    expect((await new MemoryCall(b.sessions).press('1')).texts).toEqual(['Input 1.']);
    expect(b.seen).toContain('session_continued');
    await after(clock, 4000, closing);
    expect(b.seen.filter((line) => line.startsWith('session_ended'))).toEqual(['session_ended moved', 'session_ended moved']);
    await expect(new MemoryCall(b.sessions).press('1')).rejects.toMatchObject({ code: 'shutting_down' });
    expect((await new MemoryCall(a.sessions).press('1')).texts).toEqual(['Input 2.']);
  });

  it('refuses an input that opens as its call moves away, rather than completing it without an answer', async () => {
    const all = await two();
    const { a, b, clock } = all;
    await begun(all);
    const pressed = new MemoryCall(a.sessions).press('1').then(
      ({ texts }) => texts,
      (error: unknown) => error,
    );
    const closing = a.sessions.close(2000);
    expect(await after(clock, 3000, pressed)).toMatchObject({ code: 'shutting_down' });
    await closing;
    expect((await new MemoryCall(b.sessions).press('1')).texts).toEqual(['Input 1.']);
  });

  it('stays with a call on which an input comes while its bot is still being told of the turn before', async () => {
    const gate = gateOf();
    const slow = bot<null>({
      id: 'slow',
      name: 'Slow',
      version: 1,
      session_start: () => go(null, say('Welcome.').listen()),
      turn_ended: async (_state, { reason }) => {
        if (reason === 'hang_up') await gate.opened;
      },
      otherwise: () => go(null, say('Yes.').listen()),
    });
    const all = await two({}, [1, 1], slow);
    const { a, clock } = all;
    await begun(all);
    (await new MemoryCall(a.sessions).open()).turn.abort('hang_up');
    const closing = a.sessions.close(4000);
    await clock.advanceAsync(100);
    const pressed = new MemoryCall(a.sessions).press('1');
    await flushMicrotasks();
    gate.open();
    expect((await after(clock, 500, pressed)).texts).toEqual(['Yes.']);
    expect(await after(clock, 4000, closing)).toEqual({ turns: 0, calls: 0 });
    expect(a.seen.at(-1)).toBe('session_ended moved');
  });

  it('hands over the caller of a call that cannot go on elsewhere', async () => {
    const { a, clock } = await two();
    const call = new MemoryCall(a.sessions, { isTied: true });
    await call.start();
    const { sink } = await call.open();
    await after(clock, 3000, a.sessions.close(2000));
    expect([sink.texts, sink.next?.kind]).toEqual([[TEST_SETTINGS.handover], 'transfer']);
  });

  it('still says what it is being asked in its last moments, and sends calls that are elsewhere by then to the others', async () => {
    const all = await two();
    const { a, b, place, clock } = all;
    await begun(all);
    const asking = new MemoryCall(a.sessions, { conversationId: 'asking' });
    await asking.start();
    const gate = gateOf();
    place.before = (operation, owner) => (operation === 'commit' && owner === 'a' ? gate.opened : undefined);
    const asked = asking.press('1');
    await flushMicrotasks();
    const closing = a.sessions.close(2000);
    // From half of it on callers are handed over.
    await clock.advanceAsync(1500);
    await expect(new MemoryCall(a.sessions).press('1')).rejects.toMatchObject({ code: 'shutting_down' });
    expect((await new MemoryCall(b.sessions).press('1')).texts).toEqual(['Input 1.']);
    gate.open();
    expect((await asked).texts).toEqual(['Input 1.']);
    expect(await after(clock, 1000, closing)).toEqual({ turns: 0, calls: 0 });
  });
});
