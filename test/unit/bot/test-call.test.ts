// `TestCall` with a clock that stands still: what is heard when, who comes in where, and what runs out meanwhile, as on a server.
import { describe, expect, it } from 'vitest';
import { assistant, scripted, tool, z } from '../../../src/ai/index.ts';
import { bot, go, keep, listen, say, type Bot, type BotDefinition, type LiveContext } from '../../../src/bot/index.ts';
import { TestCall } from '../../../src/bot/testing.ts';
import { DEFAULT_LISTEN } from '../../support/defaults.ts';

interface State {
  readonly step: number;
}

const base: BotDefinition<State> = {
  ...{ id: 'shop', name: 'Shop', version: 1 },
  session_start: () => go({ step: 0 }, say('Welcome to the shop.').listen()),
  otherwise: (state) => go(state, say('Pardon?').listen()),
};

/** 10 ms a character. */
function fake(subject: Bot): Promise<TestCall> {
  return new TestCall(subject, {}, { clock: 'fake', msPerCharacter: 10 }).start();
}

describe('a caller who comes in', () => {
  /** Key 1 books: a checkpoint, words, a long wait that its signal ends or not, and words again. */
  const booking = (isDeaf: boolean, notes: string[] = []) =>
    bot<State>({
      ...base,
      async *dtmf_input({ step }, _event, { signal }) {
        yield keep({ step: step + 1 });
        yield say('One moment please.');
        await new Promise<void>((resolve) => {
          if (!isDeaf)
            signal.addEventListener('abort', () => {
              resolve();
            });
        });
        return go({ step: step + 10 }, say('Booked.').listen());
      },
      speech_input: (state, { heard }) => {
        notes.push(heard.text);
        return go(state, say(`Step ${String(state.step)}.`).listen());
      },
      barge_in: (_state, { by, heard }) => {
        notes.push(`${by} ${heard.text} ${String(heard.ms)}`);
        return undefined;
      },
    });

  it('at a word stops a handler, which has kept or returned what counts', async () => {
    const notes: string[] = [];
    const call = await fake(booking(true, notes));
    await call.press('1', { interruptAt: 'One moment' });
    expect(call.state).toEqual({ step: 1 });
    (await call.speak('and now?')).hears('Step 1.');
    expect(notes).toEqual(['speech One moment 100', 'One moment']);
    expect(call.said).toEqual([
      { text: 'Welcome to the shop.', atMs: 0, heard: 'Welcome to the shop.' },
      { text: 'One moment please.', atMs: 200, heard: 'One moment' },
      // 300 ms were left to the handler.
      { text: 'Step 1.', atMs: 600, heard: '' },
    ]);
    const quick = await fake(booking(false));
    await quick.press('1', { interruptAt: 0, by: 'keys' });
    expect([quick.state, quick.kept]).toEqual([{ step: 10 }, [{ step: 1 }]]);
  });

  it('comes in also without a fake clock, and at a time', async () => {
    const notes: string[] = [];
    const call = await new TestCall(booking(true, notes)).start();
    await call.press('1', { interruptAt: 65 * 5, by: 'keys' });
    await call.speak('hello');
    expect(notes).toEqual(['keys One moment 325', 'One moment']);
  });

  it('ignores what a handler does that was left', async () => {
    let goOn: () => void = () => undefined;
    const ended: string[] = [];
    const slow = bot<State>({
      ...base,
      async *dtmf_input(state) {
        try {
          yield say('One moment please.');
          await new Promise<void>((resolve) => (goOn = resolve));
          yield keep({ step: 7 });
          ended.push('went on');
        } finally {
          ended.push('finally');
        }
        return go(state, say('Done.').listen());
      },
    });
    const call = await fake(slow);
    await call.press('1', { interruptAt: 'moment' });
    goOn();
    await call.silence();
    expect([call.state, ended]).toEqual([{ step: 0 }, ['finally']]);
  });

  it('fails where the words are never heard, or cannot be interrupted', async () => {
    const call = await fake(bot<State>({ ...base, dtmf_input: (state) => go(state, say('Fixed words.', { bargeIn: false }).listen()) }));
    await expect(call.speak('x', { interruptAt: 'Hello' })).rejects.toThrow('never hears Hello but "Pardon?"');
    await expect(call.press('1', { interruptAt: 'Fixed' })).rejects.toThrow('cannot be interrupted');
    const ending = await fake(bot<State>({ ...base, otherwise: (state) => go(state, say('Goodbye now.').end()) }));
    await expect(ending.speak('x', { interruptAt: 'Goodbye' })).rejects.toThrow('cannot be interrupted');
    ending.ended();
  });

  it('has by default heard what the clock says', async () => {
    const call = await fake(bot<State>({ ...base, speech_input: (state, { heard }) => go(state, say(`${heard.text}!`).listen()) }));
    await call.advance(75);
    await call.interrupt();
    (await call.speak('x')).hears('Welcome!');
  });
});

describe('time', () => {
  it('lets fillers, and what waits for a silence, be heard', async () => {
    let answer: () => void = () => undefined;
    const slow = bot<State>({
      ...base,
      filler: { afterMs: 1000, say: ['Hm.'] },
      async *dtmf_input(state, { digits }) {
        if (digits === '2') yield say('Looking.', { ifSilentMs: 800 });
        await new Promise<void>((resolve) => (answer = resolve));
        return go(state, say('Found.').listen());
      },
    });
    const call = await fake(slow);
    for (const digits of ['1', '2']) {
      const step = call.press(digits);
      await call.advance(2000);
      answer();
      (await step).hears('Found.');
    }
    expect(call.said.map(({ text, atMs }) => [text, atMs])).toEqual([
      ['Welcome to the shop.', 0],
      ['Hm.', 1200],
      ['Found.', 2200],
      // The second key comes when all of it is heard.
      ['Looking.', 3060],
      ['Found.', 4260],
    ]);
  });

  it('wakes a bot, and reports a silence', async () => {
    const events: string[] = [];
    let live: LiveContext<State> | undefined;
    const waking = bot<State, null>({
      ...{ id: 'waking', name: 'Waking', version: 1 },
      live: { open: (context) => ((live = context), null) },
      otherwise: (state) => go(state, say('Pardon?').listen()),
      session_start: () => go({ step: 0 }, say('Welcome.').listen({ wakeMs: 3000 })),
      woken: (state, { name, data, silentMs }) => {
        events.push(`${name} ${JSON.stringify(data)} ${String(silentMs)}`);
        return go(state, listen({ wakeMs: 3000 }));
      },
      no_input: (state, { count }) => {
        events.push(`no_input ${String(count)}`);
        return go(state, say('Still there?').listen());
      },
    });
    const call = await fake(waking);
    // 80 ms of welcome.
    await call.advance(3079);
    expect(events).toEqual([]);
    await call.advance(1);
    live?.wake('news', 5);
    await call.advance(3000);
    await call.move();
    live?.wake('lost');
    await call.advance(4000);
    expect(events).toEqual(['timer null 3000', 'news 5 6000', 'timer null 9000', 'no_input 1']);
    expect(call.said.at(-1)).toEqual({ text: 'Still there?', atMs: 10_080, heard: '' });
    await call.advance(21_000);
    expect(events.slice(4)).toEqual(['no_input 2', 'no_input 3']);
  });

  it('reports a silence when a server with nothing configured would', async () => {
    const call = await fake(bot<State>(base));
    // 200 ms of welcome.
    await call.advance(200 + DEFAULT_LISTEN.noInputMs - 1);
    expect(call.said).toHaveLength(1);
    await call.advance(1);
    expect(call.said).toHaveLength(2);
  });

  it('is that of the machine without a fake clock, where a silence is one step', async () => {
    const events: string[] = [];
    const waking = bot<State>({
      ...base,
      session_start: () => go({ step: 0 }, say('Welcome.').listen({ wakeMs: 6000 })),
      woken: (state, { silentMs }) => {
        events.push(`woken ${String(silentMs)}`);
        return go(state, listen({ wakeMs: 6000 }));
      },
    });
    const call = await new TestCall(waking).start();
    await call.silence();
    (await call.silence()).hears('Pardon?');
    expect(events).toEqual(['woken 6000']);
    await expect(call.advance(1)).rejects.toThrow('only a fake clock can be moved');
  });

  it('brings what a handler throws that nobody asked', async () => {
    const broken = bot<State>({
      ...base,
      otherwise: () => {
        throw new Error('boom');
      },
    });
    const call = await fake(broken);
    await expect(call.advance(11_000)).rejects.toMatchObject({ code: 'bot_failed' });
  });
});

describe('the tools of an assistant', () => {
  it('are known with what came of them, also when the caller comes in while one runs, or it takes too long', async () => {
    const booked: string[] = [];
    let end: (number: number) => void = () => undefined;
    const book = tool({
      description: 'Books',
      input: z.object({ slot: z.string() }),
      says: 'One moment please.',
      limitMs: 4000,
      run: ({ slot }) => {
        booked.push(slot);
        return new Promise<number>((resolve) => (end = resolve));
      },
    });
    const model = scripted({ use: 'book', input: { slot: 'Tuesday' } }, 'It is booked.', { use: 'book', input: { slot: 'Friday' } }, 'No.');
    const desk = assistant({ id: 'desk', name: 'Desk', model, instructions: 'You book.', greeting: 'Hello.', tools: { book } });
    const call = await fake(desk);
    await call.speak('Tuesday please', { interruptAt: 'One moment' });
    expect(call.used).toEqual([{ tool: 'book', input: { slot: 'Tuesday' } }]);
    end(7);
    (await call.speak('and now?')).hears('It is booked.');
    expect(call.used).toEqual([{ tool: 'book', input: { slot: 'Tuesday' }, output: 7 }]);
    expect(call.prompts.map((prompt) => prompt.kind === 'text' && prompt.cache)).toEqual([false]);
    const late = call.speak('Friday, too');
    await call.advance(5000);
    (await late).hears('No.');
    expect(call.used[1]).toEqual({ tool: 'book', input: { slot: 'Friday' }, output: expect.stringContaining('took too long') as unknown });
    expect(booked).toEqual(['Tuesday', 'Friday']);
  });
});
