// Replies that were decided on and never reached the caller, whole or in part, because the stream died or was not read: what the
// bot learns of them at the next input. And answers that were given up: then the reply before them counts.
import { describe, expect, it } from 'vitest';
import { bot, go, say, type Heard } from '../../../src/bot/index.ts';
import { snapshotOf, TEST_SETTINGS, testEngine } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { MemoryCall } from '../../support/memory-transport.ts';
import { gateOf, homes } from '../../support/homes.ts';

const NOTHING = { complete: false, ms: 0, text: '' };
const WELCOME = { complete: true, ms: 80, text: 'Welcome.' };
/** Longer than a handler may take when nobody waits for it. */
const GIVEN_UP_MS = 400;

/** `1` waits for the gate, `2` says something before it, `3` says three prompts, and `5` is never answered. */
function talking() {
  const asked: { readonly at: string; readonly heard: Heard }[] = [];
  const { opened, open } = gateOf();
  const made = bot<number>({
    id: 'talking',
    name: 'Talking',
    version: 1,
    session_start: () => go(0, say('Welcome.').listen()),
    async *dtmf_input(count, { digits, heard }) {
      asked.push({ at: digits, heard });
      if (digits === '2') yield say('First part.');
      if (digits === '1' || digits === '2') await opened;
      if (digits === '5') await new Promise(() => undefined);
      return go(count + 1, digits === '3' ? say('One.').say('Two.').say('Three.').listen() : say('The important part.').listen());
    },
    otherwise: async (count, { type, heard }) => {
      asked.push({ at: type, heard });
      await opened;
      return go(count + 1, say('By the way.').listen());
    },
  });
  return { made, asked, open };
}

/** A call whose welcome was heard. */
async function begun() {
  const { made, asked, open } = talking();
  const engine = await testEngine([made]);
  const call = new MemoryCall(engine.sessions);
  await call.start();
  await engine.clock.advanceAsync(5000);
  const state = async () => (await snapshotOf(engine))?.state;
  const opened = async (digits: string) => {
    const one = await call.open({ kind: 'dtmf', digits });
    await flushMicrotasks();
    return one;
  };
  return { ...engine, call, asked, open, state, opened };
}

describe('G-16 a stream that dies', () => {
  it('before the first word of a reply leaves nothing of it heard, although the bot goes on from it', async () => {
    const { call, clock, asked, open, opened, state } = await begun();
    (await opened('1')).turn.abort('hang_up');
    open();
    await clock.advanceAsync(1000);
    expect(await state()).toBe(1);
    await call.press('4');
    expect(asked).toMatchObject([
      { at: '1', heard: WELCOME },
      { at: '4', heard: NOTHING },
    ]);
  });

  it.each([
    ['its bot went on', true, 1],
    ['its bot was not waited for', false, 0],
  ] as const)('after the first words of a reply leaves it heard in part, also when %s', async (_how, isAnswered, kept) => {
    const { call, clock, asked, open, opened, state } = await begun();
    const { turn, sink } = await opened('2');
    expect(sink.texts).toEqual(['First part.']);
    turn.abort('hang_up');
    if (isAnswered) open();
    await clock.advanceAsync(3000);
    expect(await state()).toBe(kept);
    await call.press('4');
    expect(asked.at(-1)).toMatchObject({ at: '4', heard: { complete: false, ms: 110, text: 'First part.' } });
  });

  it('leaves nothing heard of its reply also for an input that was there before the reply', async () => {
    const { call, clock, asked, open, opened, state } = await begun();
    (await opened('1')).turn.abort('hang_up');
    const next = call.press('4');
    await flushMicrotasks();
    open();
    await clock.advanceAsync(1000);
    await next;
    expect([await state(), asked.at(-1)]).toMatchObject([2, { at: '4', heard: NOTHING }]);
  });

  it('leaves nothing heard for the next home either', async () => {
    const { made, asked, open } = talking();
    const { a, clock, next } = await homes({}, [1, 1], made);
    await new MemoryCall(a.sessions).start();
    await clock.advanceAsync(5000);
    const { turn } = await new MemoryCall(a.sessions).open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    turn.abort('hang_up');
    open();
    await clock.advanceAsync(1000);
    await next().press('4');
    expect(asked.at(-1)).toMatchObject({ at: '4', heard: { ...NOTHING, estimated: true } });
  });
});

describe('G-91 a client that does not read', () => {
  it('has not heard a reply of which the rest was never sent', async () => {
    const { call, clock, asked, opened } = await begun();
    const { sink, turn } = await call.open();
    sink.isFull = true;
    turn.push({ kind: 'dtmf', digits: '3' });
    await clock.advanceAsync(TEST_SETTINGS.slowReaderMs + 1000);
    expect([sink.texts, sink.end]).toMatchObject([['One.'], { code: 'slow_reader' }]);
    await opened('4');
    expect(asked.at(-1)).toMatchObject({ at: '4', heard: { complete: false, ms: 40, text: 'One.' } });
  });

  it('has not heard it for the next home either', async () => {
    const { made, asked } = talking();
    const { a, clock, next } = await homes({}, [1, 1], made);
    await new MemoryCall(a.sessions).start();
    await clock.advanceAsync(5000);
    const { sink, turn } = await new MemoryCall(a.sessions).open();
    sink.isFull = true;
    turn.push({ kind: 'dtmf', digits: '3' });
    await clock.advanceAsync(TEST_SETTINGS.slowReaderMs + 1000);
    await next().press('4');
    expect(asked.at(-1)).toMatchObject({ at: '4', heard: { complete: false, ms: 40, text: 'One.', estimated: true } });
  });
});

describe('an answer that the caller did not wait for', () => {
  it('takes nothing of the reply before it when it is given up', async () => {
    const { call, clock, asked, opened, state } = await begun();
    await opened('1');
    const next = call.press('4');
    await clock.advanceAsync(GIVEN_UP_MS);
    await next;
    expect(await state()).toBe(1);
    expect(asked).toMatchObject([
      { at: '1', heard: WELCOME },
      { at: '4', heard: WELCOME },
    ]);
  });

  it('was not heard when it was kept, also when the one after it was given up', async () => {
    const { call, clock, asked, open, opened, state } = await begun();
    (await opened('1')).turn.abort('hang_up');
    open();
    await clock.advanceAsync(1000);
    await opened('5');
    const next = call.press('4');
    await clock.advanceAsync(GIVEN_UP_MS);
    await next;
    expect([await state(), asked.at(-1)]).toMatchObject([2, { at: '4', heard: NOTHING }]);
  });

  it('was not heard at all when it was kept, although the reply before it was still being heard', async () => {
    const { call, clock, asked, open } = await begun();
    await call.press('4');
    await clock.advanceAsync(40);
    const event = await call.open({ kind: 'custom_event', name: 'x', parameters: {} });
    await clock.advanceAsync(20);
    const next = call.press('4');
    open();
    await clock.advanceAsync(100);
    await next;
    expect(event.sink.texts).toEqual([]);
    expect(asked.slice(-2)).toMatchObject([
      { at: 'custom_event', heard: { complete: false, ms: 40, text: 'The' } },
      { at: '4', heard: NOTHING },
    ]);
  });
});
