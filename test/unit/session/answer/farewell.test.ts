// An end that was decided and whose stream broke before it was told: it is told once, whichever servers its caller comes back to.
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../../src/base/errors.ts';
import { bot, go, say } from '../../../../src/bot/index.ts';
import { LINE_SILENCE } from '../../../support/caller-audio.ts';
import { TEST_SETTINGS } from '../../../support/engine.ts';
import { flushMicrotasks } from '../../../support/fake-clock.ts';
import { MemoryCall } from '../../../support/memory-transport.ts';
import { after, begun, gateOf, two, type Two } from '../../../support/homes.ts';

const KEY = { organizationId: 'org', conversationId: 'call-1' };
const away = new AppError('store_unavailable', 'away');

/** Two servers, and a call whose goodbye was cut by a stream that broke. */
async function brokenGoodbye(): Promise<Two> {
  const all = await two({ maxFarewellMs: 30_000 });
  await begun(all);
  const { sink, turn } = await new MemoryCall(all.a.sessions).open({ kind: 'dtmf', digits: '7' });
  await all.clock.advanceAsync(500);
  expect(sink.kinds).toContain('prompt');
  turn.abort('hang_up');
  await all.clock.advanceAsync(500);
  return all;
}

describe('last words whose stream breaks between servers', () => {
  it('are said again for the reason that they had', async () => {
    const broken = bot<null>({
      id: 'broken',
      name: 'Broken',
      version: 1,
      session_start: () => go(null, say('Welcome.').listen()),
      otherwise: () => {
        throw new Error('no idea');
      },
    });
    const all = await two({ maxFarewellMs: 30_000 }, [1, 1], broken);
    const { a, b, clock } = all;
    await begun(all);
    await after(clock, 5000, new MemoryCall(a.sessions).press('1'));
    const { sink, turn } = await new MemoryCall(a.sessions).open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    expect(sink.texts).toEqual([TEST_SETTINGS.handover]);
    turn.abort('hang_up');
    await clock.advanceAsync(500);
    const next = await after(clock, 30_000, new MemoryCall(b.sessions).press('1'));
    expect([next.next?.kind, b.seen.filter((event) => event.startsWith('session_ended'))]).toEqual(['transfer', ['session_ended failed']]);
  });

  it('G-77 are said by whichever server has the next turn when their stream breaks, and the call ends once', async () => {
    const { a, b, clock, notes } = await brokenGoodbye();
    const next = await after(clock, 30_000, new MemoryCall(b.sessions).press('1'));
    expect([next.next?.kind, next.texts.length, notes]).toEqual(['end', 1, ['session_end bot_end']]);
    const late = await new MemoryCall(a.sessions).open(LINE_SILENCE);
    const later = await after(clock, 12_000, new MemoryCall(a.sessions).press('1'));
    late.turn.halfClose();
    expect([late.sink.outputs, later.isSuperseded, notes]).toEqual([[], true, ['session_end bot_end']]);
  });

  it('G-77 are not said again on the server that has said them', async () => {
    const { a, clock, place, notes } = await brokenGoodbye();
    // What has reached the caller of them is heard to its end first (G-7A).
    const next = await after(clock, 12_000, new MemoryCall(a.sessions).press('1'));
    expect([next.next?.kind, next.texts, notes]).toEqual(['end', [], ['session_end bot_end']]);
    await clock.advanceAsync(1000);
    expect(place.of(KEY).record).toMatchObject({ ended: true, closed: true });
  });

  it('G-7C are over for the other servers, too, once their end was told on a stream without an input', async () => {
    const { a, b, clock, notes } = await brokenGoodbye();
    const { sink } = await new MemoryCall(a.sessions).open(LINE_SILENCE);
    await after(clock, 12_000, sink.ended());
    expect([sink.next?.kind, notes]).toEqual(['end', ['session_end bot_end']]);
    expect((await after(clock, 1000, new MemoryCall(b.sessions).press('1'))).isSuperseded).toBe(true);
  });

  it('G-77 are told once when streams of both servers wait for their end', async () => {
    const { a, b, clock, notes } = await brokenGoodbye();
    const waiting = new MemoryCall(b.sessions).press('1');
    await clock.advanceAsync(500);
    const { sink } = await new MemoryCall(a.sessions).open(LINE_SILENCE);
    await clock.advanceAsync(60_000);
    const told = await waiting;
    expect([told.next?.kind, sink.end, sink.outputs, notes]).toEqual(['end', 'complete', [], ['session_end bot_end']]);
  });

  it('G-77 are told once, also on a stream that had opened before another server told it', async () => {
    const { a, b, clock, notes } = await brokenGoodbye();
    const { sink, turn } = await new MemoryCall(a.sessions).open();
    expect((await after(clock, 30_000, new MemoryCall(b.sessions).press('1'))).next?.kind).toBe('end');
    turn.push(LINE_SILENCE);
    await clock.advanceAsync(1000);
    expect([sink.end, sink.outputs, notes]).toEqual(['complete', [], ['session_end bot_end']]);
  });

  it('G-77 are told by the server that has begun them when it had given up the call meanwhile', async () => {
    const { a, b, clock, notes } = await brokenGoodbye();
    (await new MemoryCall(b.sessions).open()).turn.abort('hang_up');
    await clock.advanceAsync(20_000);
    expect(a.sessions.size).toBe(0);
    const next = await after(clock, 30_000, new MemoryCall(a.sessions).press('1'));
    expect([next.next?.kind, next.texts.length, notes]).toEqual(['end', 1, ['session_end bot_end']]);
  });

  it('G-77 wait for an input on a server that does not owe them: another one may still be saying them', async () => {
    const { b, clock, notes } = await brokenGoodbye();
    const { sink, turn } = await new MemoryCall(b.sessions).open(LINE_SILENCE);
    await clock.advanceAsync(12_000);
    expect([sink.end, sink.outputs]).toEqual(['open', []]);
    turn.push({ kind: 'no_input' });
    await after(clock, 30_000, sink.ended());
    expect([sink.next?.kind, sink.texts.length, notes]).toEqual(['end', 1, ['session_end bot_end']]);
  });

  it('G-77 go before a hand-over of the server that is to say them', async () => {
    const { b, clock, place, notes } = await brokenGoodbye();
    const gate = gateOf();
    const { sink, turn } = await new MemoryCall(b.sessions).open();
    place.before = (operation, owner) => (operation === 'claim' && owner === 'b' ? gate.opened : undefined);
    turn.push({ kind: 'dtmf', digits: '1' });
    const closing = b.sessions.close(2000);
    await clock.advanceAsync(2000);
    gate.open();
    await after(clock, 1000, closing);
    expect([sink.next?.kind, sink.texts.length, notes]).toEqual(['end', 1, ['session_end bot_end']]);
  });

  it('G-77 are left to the next stream when the one on which they were to be said has gone', async () => {
    const { b, clock, place, notes } = await brokenGoodbye();
    const gate = gateOf();
    const { turn } = await new MemoryCall(b.sessions).open();
    place.before = (operation, owner) => (operation === 'claim' && owner === 'b' ? gate.opened : undefined);
    turn.push({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    turn.abort('hang_up');
    gate.open();
    await clock.advanceAsync(1000);
    expect(b.seen.filter((event) => event.startsWith('reply_repeated'))).toEqual([]);
    const next = await after(clock, 30_000, new MemoryCall(b.sessions).press('1'));
    expect([next.next?.kind, next.texts.length, notes]).toEqual(['end', 1, ['session_end bot_end']]);
  });

  it('G-77 are told rather than a hand-over of ours when the store is away', async () => {
    const { a, clock, place } = await brokenGoodbye();
    place.before = () => Promise.reject(away);
    const next = await after(clock, 20_000, new MemoryCall(a.sessions).press('1'));
    expect([next.next?.kind, next.texts]).toEqual(['end', []]);
  });

  it('G-77 are told on the next stream also when the store is away', async () => {
    const { a, clock, place } = await brokenGoodbye();
    place.before = () => Promise.reject(away);
    const { sink } = await new MemoryCall(a.sessions).open(LINE_SILENCE);
    await after(clock, 20_000, sink.ended());
    expect(sink.next?.kind).toBe('end');
  });

  it('G-77 stay with the server that has begun them, which tells the bot of the end when nobody comes back', async () => {
    const { a, clock, notes } = await brokenGoodbye();
    await clock.advanceAsync(200_000);
    expect([notes, a.sessions.size]).toEqual([['session_end idle'], 0]);
  });

  it('G-77 are told to the bot by the server on which the caller was last, also when nothing was said there', async () => {
    const { a, b, clock, notes } = await brokenGoodbye();
    (await new MemoryCall(b.sessions).open()).turn.abort('hang_up');
    await clock.advanceAsync(200_000);
    expect([notes, a.sessions.size, b.sessions.size]).toEqual([['session_end idle'], 0, 0]);
  });
});
