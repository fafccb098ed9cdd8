// A home that gives its calls up: because its process stops, or because they live in another process by now.
import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../../src/bot/index.ts';
import { LINE_SILENCE } from '../../../support/caller-audio.ts';
import { TEST_SETTINGS } from '../../../support/engine.ts';
import { flushMicrotasks } from '../../../support/fake-clock.ts';
import { after, begun, gateOf, homes, type Homes } from '../../../support/homes.ts';
import { MemoryCall, MemorySink } from '../../../support/memory-transport.ts';
import { stuckBot } from '../../../support/stuck-bot.ts';

const KEY = { organizationId: 'org', conversationId: 'call-1' };
const OPENING = { ...KEY, agentId: '', vendorConfig: '', parameters: {} };

/** A turn that was forwarded, at the first home. */
async function forwardedTurn({ a }: Homes) {
  const sink = Object.assign(new MemorySink(), {
    isGivenBack: false,
    forwardedId: 'turn-1',
    giveBack: () => {
      if (sink.outputs.length > 0) return false;
      sink.isGivenBack = true;
      return true;
    },
  });
  const turn = (await a.sessions.acquire(OPENING)).beginTurn(sink);
  return { sink, turn };
}

describe('a process that stops while others can go on with its calls', () => {
  it('releases the calls between two turns at once, and their bots are notified of no end', async () => {
    const all = await homes();
    const { a, clock, left, notes } = all;
    await begun(all);
    expect(await after(clock, 100, a.sessions.close(10_000))).toEqual({ turns: 0, calls: 0 });
    expect([left.asked.at(-1), a.seen.at(-1), notes, a.sessions.size]).toEqual(['release call-1', 'session_ended moved', [], 0]);
    expect(clock.pendingTimers).toBe(1);
  });

  it('keeps the calls while nobody could read what it leaves, and releases them as soon as somebody can', async () => {
    const all = await homes();
    const { a, clock, left } = all;
    await begun(all);
    left.canMove = false;
    const closing = a.sessions.close(30_000);
    await clock.advanceAsync(1000);
    expect((await new MemoryCall(a.sessions).press('1')).texts).toEqual(['Input 1.']);
    expect(left.asked).not.toContain('release call-1');
    left.canMove = true;
    expect(await after(clock, 100, closing)).toEqual({ turns: 0, calls: 0 });
    expect(left.asked.at(-1)).toBe('release call-1');
  });

  it('answers what it is being asked, and lets the call go then', async () => {
    const { opened, open } = gateOf();
    const slow = bot<null>({
      id: 'slow',
      name: 'Slow',
      version: 1,
      session_start: () => go(null, say('Welcome.').listen()),
      otherwise: async () => {
        await opened;
        return go(null, say('Yes.').listen());
      },
    });
    const all = await homes({}, [1, 1], slow);
    const { a, clock, left } = all;
    await begun(all);
    const asked = new MemoryCall(a.sessions).press('1');
    await flushMicrotasks();
    const closing = a.sessions.close(10_000);
    await clock.advanceAsync(3000);
    expect(left.asked).toEqual(['save call-1']);
    open();
    expect((await after(clock, 500, asked)).texts).toEqual(['Yes.']);
    expect([await closing, left.asked.at(-1)]).toEqual([{ turns: 0, calls: 0 }, 'release call-1']);
  });

  it('G-13 lets silent callers wait on their streams, completes these without a word when its time is up, and their calls go on', async () => {
    const all = await homes();
    const { a, clock, next } = all;
    await begun(all);
    const { sink } = await new MemoryCall(a.sessions).open(LINE_SILENCE);
    const closing = a.sessions.close(4000);
    await clock.advanceAsync(1900);
    expect(sink.end).toBe('open');
    expect(await after(clock, 3000, closing)).toEqual({ turns: 0, calls: 0 });
    expect([sink.end, sink.outputs]).toEqual(['complete', []]);
    expect((await next().press('1')).texts).toEqual(['Input 1.']);
  });

  it('G-13 gives silent streams that were forwarded back at once, and they go on at the next home', async () => {
    const all = await homes();
    const { a, clock, left } = all;
    await begun(all);
    const { sink, turn } = await forwardedTurn(all);
    turn.push(LINE_SILENCE);
    expect(await after(clock, 100, a.sessions.close(10_000))).toEqual({ turns: 0, calls: 0 });
    // Neither completed nor failed: that would end it for the platform.
    expect([sink.isGivenBack, sink.end, sink.outputs, left.asked.at(-1)]).toEqual([true, 'open', [], 'release call-1']);
  });

  it('G-13 gives none back while the call is kept by another stream, which cannot move: it would have two homes', async () => {
    const all = await homes();
    const { a, clock, left } = all;
    await begun(all);
    const direct = await new MemoryCall(a.sessions).open(LINE_SILENCE);
    const { sink, turn } = await forwardedTurn(all);
    turn.push(LINE_SILENCE);
    const closing = a.sessions.close(10_000);
    await clock.advanceAsync(1000);
    expect([sink.isGivenBack, left.asked]).toEqual([false, ['save call-1']]);
    direct.turn.halfClose();
    expect(await after(clock, 100, closing)).toEqual({ turns: 0, calls: 0 });
    expect([sink.isGivenBack, sink.end, left.asked.at(-1)]).toEqual([true, 'open', 'release call-1']);
  });

  it('gives a forwarded stream back once its call is released, and not before', async () => {
    const all = await homes();
    const { a, clock, left } = all;
    await begun(all);
    const { opened, open } = gateOf();
    left.released = opened;
    const [silent, acting] = [await forwardedTurn(all), await forwardedTurn(all)];
    const closing = a.sessions.close(10_000);
    await clock.advanceAsync(100);
    expect([silent.sink.isGivenBack, left.asked.at(-1)]).toEqual([false, 'release call-1']);
    // The caller acts at this very moment: it is answered at the next home.
    acting.turn.push({ kind: 'dtmf', digits: '1' });
    expect([acting.sink.isGivenBack, acting.sink.outputs]).toEqual([true, []]);
    open();
    await after(clock, 100, closing);
    expect([silent.sink.isGivenBack, silent.sink.end]).toEqual([true, 'open']);
  });

  it('gives no forwarded stream back on which its caller is being answered', async () => {
    const all = await homes();
    const { a, clock } = all;
    await begun(all);
    const { sink, turn } = await forwardedTurn(all);
    turn.push({ kind: 'dtmf', digits: '1' });
    const closing = a.sessions.close(10_000);
    await clock.advanceAsync(500);
    expect([sink.isGivenBack, sink.end, sink.texts, await closing]).toEqual([false, 'complete', ['Input 1.'], { turns: 0, calls: 0 }]);
  });

  it('answers what comes until its last moments, new calls as well', async () => {
    const { a, clock } = await homes();
    a.sessions.drain();
    const held = await new MemoryCall(a.sessions, { conversationId: 'held' }).open();
    const closing = a.sessions.close(10_000);
    await clock.advanceAsync(100);
    expect((await new MemoryCall(a.sessions, { conversationId: 'new' }).start()).texts).toEqual(['Welcome.']);
    held.turn.halfClose();
    expect(await after(clock, 1000, closing)).toEqual({ turns: 0, calls: 0 });
    await expect(new MemoryCall(a.sessions, { conversationId: 'late' }).start()).rejects.toMatchObject({ code: 'shutting_down' });
  });

  it('transfers, when its time is up, a caller whose input is still being answered, and counts the turn', async () => {
    const all = await homes({ turnDeadlineMs: 60_000 }, [1, 1], stuckBot);
    const { a, clock } = all;
    await begun(all);
    const { sink } = await new MemoryCall(a.sessions).open({ kind: 'dtmf', digits: '1' });
    const closing = a.sessions.close(2000);
    await clock.advanceAsync(1990);
    expect(sink.kinds).toEqual([]);
    expect(await after(clock, 1010, closing)).toEqual({ turns: 1, calls: 0 });
    expect([sink.texts, sink.next]).toMatchObject([[TEST_SETTINGS.lines.transfer], { kind: 'transfer', metadata: { reason: 'shutdown' } }]);
  });

  it('transfers the caller of a call that lives and dies with its wire', async () => {
    const { a, clock, left } = await homes();
    const call = new MemoryCall(a.sessions, { isTied: true });
    await call.start();
    const { sink } = await call.open();
    await after(clock, 3000, a.sessions.close(2000));
    expect([sink.texts, sink.next?.kind]).toEqual([[TEST_SETTINGS.lines.transfer], 'transfer']);
    expect(left.asked).not.toContain('release call-1');
  });

  it.each([0, 1, 2, 3, 4, 5])('loses no input that comes %i ticks after it has begun to stop', async (ticks) => {
    const all = await homes();
    const { a, clock, left, next } = all;
    await begun(all);
    const closing = a.sessions.close(4000);
    for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
    // From its release on, a transport learns that the call lives at a peer.
    const isReleased = left.asked.includes('release call-1');
    const pressed = (isReleased ? next() : new MemoryCall(a.sessions)).press('1');
    expect((await after(clock, 5000, pressed)).texts).toEqual(['Input 1.']);
    await closing;
  });

  it('waits for a bot that is still being notified of the turn before, and stays with a call on which an input comes meanwhile', async () => {
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
    const all = await homes({}, [1, 1], slow);
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

  it('does not wait for a directory that does not answer', async () => {
    const all = await homes();
    const { a, clock, left } = all;
    await begun(all);
    left.released = new Promise(() => undefined);
    expect(await after(clock, 4000, a.sessions.close(2000))).toEqual({ turns: 0, calls: 0 });
  });
});

describe('a session whose call lives in another process by now', () => {
  it('ends without a word: its bot is notified of nothing, and nothing is saved of it', async () => {
    const all = await homes();
    const { a, left, notes } = all;
    await begun(all);
    const listening = await new MemoryCall(a.sessions).open(LINE_SILENCE);
    const saved = [...left.asked];
    a.sessions.lose(KEY);
    await flushMicrotasks();
    expect([listening.sink.end, listening.sink.outputs, notes, left.asked]).toEqual(['complete', [], [], saved]);
    expect([a.sessions.size, a.sessions.openTurns, a.listeners.size]).toEqual([0, 0, 0]);
    expect(a.seen).toContain('session_ended moved');
  });

  it('says no more of the reply that it is making, and stops its handler', async () => {
    let signal: AbortSignal | undefined;
    const { opened, open } = gateOf();
    const slow = bot<{ readonly n: number }>({
      id: 'slow',
      name: 'Slow',
      version: 1,
      session_start: () => go({ n: 0 }, say('Welcome.').listen()),
      async *dtmf_input({ n }, _event, context) {
        signal = context.signal;
        yield say('One moment.');
        await opened;
        return go({ n: n + 1 }, say('Done.').listen());
      },
      otherwise: (state) => go(state, say('Yes.').listen()),
    });
    const all = await homes({}, [1, 1], slow);
    const { a, clock, left } = all;
    await begun(all);
    const { sink } = await new MemoryCall(a.sessions).open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    a.sessions.lose(KEY);
    open();
    await clock.advanceAsync(1000);
    expect([sink.texts, sink.next?.kind, sink.end, signal?.aborted]).toEqual([['One moment.'], 'superseded', 'complete', true]);
    // Whoever has the call now has written what counts.
    expect([left.asked, left.newest()?.state]).toEqual([['save call-1'], { n: 0 }]);
  });

  it('is another one when the call comes back, which goes on with what is left of it elsewhere', async () => {
    const all = await homes();
    const { a, b, left, next } = all;
    await begun(all);
    await next().press('1');
    a.sessions.lose(KEY);
    b.sessions.lose(KEY);
    expect((await new MemoryCall(a.sessions, { restored: left.restored() }).press('1')).texts).toEqual(['Input 2.']);
    expect(a.seen.filter((line) => line.startsWith('session_'))).toEqual(['session_started', 'session_ended moved', 'session_continued']);
  });

  it('is nothing to a process that never had the call', async () => {
    const { a } = await homes();
    a.sessions.lose(KEY);
    expect([a.sessions.size, a.log.lines]).toEqual([0, []]);
  });
});
