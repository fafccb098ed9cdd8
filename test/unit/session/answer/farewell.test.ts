// An end that was decided and whose stream broke before it was delivered: it is delivered once, here or at the next home.
import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../../src/bot/index.ts';
import { LINE_SILENCE } from '../../../support/caller-audio.ts';
import { TEST_SETTINGS } from '../../../support/engine.ts';
import { flushMicrotasks } from '../../../support/fake-clock.ts';
import { after, begun, homes, moved, type Homes } from '../../../support/homes.ts';
import { MemoryCall } from '../../../support/memory-transport.ts';

/** A call whose goodbye was cut by a stream that broke. */
async function brokenFarewell(): Promise<Homes> {
  const all = await homes({ maxFarewellMs: 30_000 });
  await begun(all);
  const { sink, turn } = await new MemoryCall(all.a.sessions).open({ kind: 'dtmf', digits: '7' });
  await all.clock.advanceAsync(500);
  expect(sink.kinds).toContain('prompt');
  turn.abort('hang_up');
  await all.clock.advanceAsync(500);
  return all;
}

describe('a farewell whose stream breaks', () => {
  it('G-77 is not said again at its home: its end is delivered on the next stream, whatever comes on it', async () => {
    const { a, clock, notes } = await brokenFarewell();
    const { sink } = await new MemoryCall(a.sessions).open(LINE_SILENCE);
    // What has reached the caller of it is heard to its end first (G-7A).
    await after(clock, 12_000, sink.ended());
    expect([sink.next?.kind, sink.texts, notes]).toEqual(['end', [], ['session_end bot_end']]);
    expect(a.seen).not.toContain('reply_repeated');
    expect((await new MemoryCall(a.sessions).press('1')).isSuperseded).toBe(true);
  });

  it('G-77 ends the call once when two streams wait for its end', async () => {
    const { a, clock, notes } = await brokenFarewell();
    const [first, second] = [await new MemoryCall(a.sessions).open(LINE_SILENCE), await new MemoryCall(a.sessions).open(LINE_SILENCE)];
    await clock.advanceAsync(60_000);
    expect([first.sink, second.sink].map(({ next }) => next?.kind)).toEqual(['end', undefined]);
    expect([second.sink.end, notes]).toEqual(['complete', ['session_end bot_end']]);
  });

  it('is reported to the bot when nobody comes back', async () => {
    const { a, clock, notes } = await brokenFarewell();
    await clock.advanceAsync(200_000);
    expect([notes, a.sessions.size]).toEqual([['session_end idle'], 0]);
  });

  it.each([
    ['with an input', { kind: 'dtmf', digits: '1' }],
    ['without an input', LINE_SILENCE],
  ] as const)('G-77 ends the call once where its home has died, on the next stream %s', async (_how, input) => {
    const { b, clock, next, notes, left } = await brokenFarewell();
    const call = next();
    const { sink } = await call.open(input);
    await after(clock, 30_000, sink.ended());
    expect([sink.next, notes]).toMatchObject([{ kind: 'end', metadata: { outcome: 'done' } }, ['session_end bot_end']]);
    // Its caller has not heard it to its end.
    expect(sink.texts).toHaveLength(1);
    expect(b.seen).toContain('reply_repeated');
    expect([b.seen.at(-1), left.newest()]).toEqual([expect.stringMatching(/ended/), undefined]);
    expect(b.seen).toContain('session_ended bot_end');
    expect((await call.press('1')).isSuperseded).toBe(true);
  });

  it('G-77 goes with the call when its home stops', async () => {
    const all = await brokenFarewell();
    await moved(all);
    const sink = await after(all.clock, 30_000, all.next().press('1'));
    expect([all.a.seen.at(-1), sink.next?.kind, all.notes]).toEqual(['session_ended moved', 'end', ['session_end bot_end']]);
  });

  it('G-75 of a caller who hangs up at the next home is reported to the bot once', async () => {
    const { b, next, notes } = await brokenFarewell();
    await next().hangUp();
    await flushMicrotasks();
    expect([notes, b.sessions.size]).toEqual([['session_end caller'], 0]);
  });

  it('has at the next home the reason that it had', async () => {
    const broken = bot<null>({
      id: 'broken',
      name: 'Broken',
      version: 1,
      session_start: () => go(null, say('Welcome.').listen()),
      otherwise: () => {
        throw new Error('no idea');
      },
    });
    const all = await homes({ maxFarewellMs: 30_000 }, [1, 1], broken);
    const { a, b, clock, next } = all;
    await begun(all);
    await after(clock, 5000, new MemoryCall(a.sessions).press('1'));
    const { sink, turn } = await new MemoryCall(a.sessions).open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    expect(sink.texts).toEqual([TEST_SETTINGS.lines.transfer]);
    turn.abort('hang_up');
    const again = await after(clock, 30_000, next().press('1'));
    expect([again.next, b.seen.filter((event) => event.startsWith('session_ended'))]).toMatchObject([
      { kind: 'transfer', metadata: { reason: 'failed' } },
      ['session_ended failed'],
    ]);
  });
});
