import { describe, expect, it } from 'vitest';
import { TestCall } from '../../../src/bot/testing.ts';
import { bot, go, keep, listen, say, type Answer, type BotDefinition } from '../../../src/bot/index.ts';
import { isBot } from '../../../src/bot/bot.ts';

interface State {
  readonly n: number;
}

const definition: BotDefinition<State> = {
  id: 'counter',
  name: 'Counter',
  version: 1,
  session_start: ({ parameters }) => go({ n: typeof parameters['from'] === 'number' ? parameters['from'] : 0 }, say('Go.').listen()),
  dtmf_input: async function* (state, { digits }) {
    yield say('One moment.');
    await Promise.resolve();
    return go({ n: state.n + Number(digits) }, say(`Now ${String(state.n + Number(digits))}.`).listen());
  },
  session_end: (state) => ({ n: -state.n }),
  otherwise: (state) => go(state, say('Keys only.').listen()),
};

describe('bot', () => {
  it.each([
    [{ id: 'Has Spaces' }, /bot id/],
    [{ id: '' }, /bot id/],
    [{ id: '-x' }, /bot id/],
    [{ name: '  ' }, /name/],
    [{ version: 0 }, /version/],
    [{ version: 1.5 }, /version/],
    [{ speech: { startMs: 5 } }, /startMs/],
  ])('refuses %j', (change, message) => {
    expect(() => bot<State>({ ...definition, ...change })).toThrow(message);
  });

  it('knows its own kind, and nothing else', () => {
    expect(isBot(bot<State>(definition))).toBe(true);
    for (const other of [null, undefined, {}, definition, 'bot', () => undefined]) expect(isBot(other)).toBe(false);
  });

  it('names only the notes it has handlers for', () => {
    expect([...bot<State>(definition).notes]).toEqual(['session_end']);
  });

  // The compiler is the test here: each line must be an error, or `npm run types` fails.
  it('does not compile with a state that cannot travel, or a reply without a next step', () => {
    const rest = { id: 'x', name: 'x', version: 1 };
    const never = (): void => {
      // @ts-expect-error a Map does not survive JSON
      bot<{ m: Map<string, string> }>({ ...rest, session_start: () => go({ m: new Map() }, listen()), otherwise: (s) => go(s, listen()) });
      // @ts-expect-error a function does not survive JSON
      bot<{ f: () => void }>({ ...rest, session_start: () => go({ f: () => undefined }, listen()), otherwise: (s) => go(s, listen()) });
      // @ts-expect-error a Date comes back as text
      bot<{ at: Date }>({ ...rest, session_start: () => go({ at: new Date() }, listen()), otherwise: (s) => go(s, listen()) });
      // @ts-expect-error a saying alone is no reply
      bot<{ n: number }>({ ...rest, session_start: () => go({ n: 1 }, say('x')), otherwise: (s) => go(s, listen()) });
      // @ts-expect-error without `otherwise` an event could end in silence
      bot<{ n: number }>({ ...rest, session_start: () => go({ n: 1 }, listen()) });
    };
    expect(never).toBeTypeOf('function');
  });
});

describe('TestCall', () => {
  it.each([
    ['words', 'hello', undefined],
    ['not_asked', undefined, undefined],
    ['nothing', undefined, { understood: 'nothing' }],
    ['failed', undefined, { understood: 'failed' }],
  ] as const)('plays a caller whose speech reaches the bot as: %s', async (understood, text, options) => {
    const listening = bot<null>({
      id: 'listening',
      name: 'Listening',
      version: 1,
      session_start: () => go(null, say('Hello.').listen()),
      speech_input: (_, event) => go(null, say(`${event.understood} ${String(event.text)}`).listen()),
      otherwise: () => go(null, say('?').listen()),
    });
    const call = await new TestCall(listening).start();
    expect((await call.speak(text, options)).heard).toBe(`${understood} ${String(text)}`);
    expect(() => call.speak('hello', { understood: 'failed' })).toThrow('a text goes with');
  });

  it('plays generators, parameters and frozen states', async () => {
    const call = await new TestCall(bot<State>(definition), { parameters: { from: 5 } }).start();
    (await call.press('2')).hears('One moment. Now 7.');
    expect(call.state).toEqual({ n: 7 });
    expect(Object.isFrozen(call.state)).toBe(true);
    await call.hangUp();
    expect(call.state).toEqual({ n: -7 });
    await expect(call.press('1')).rejects.toThrow('the call is over');
  });

  it('fails with what was heard instead', async () => {
    const call = await new TestCall(bot<State>(definition)).start();
    expect(() => call.hears('Stop.')).toThrow('hears "Go."');
    expect(() => call.transferred()).toThrow('should be transferred');
    expect(() => call.ended()).toThrow('should end');
  });

  it('refuses steps before the start and a second start', async () => {
    const call = new TestCall(bot<State>(definition));
    await expect(call.press('1')).rejects.toThrow('has not started');
    await call.start();
    await expect(call.start()).rejects.toThrow('started already');
  });

  it('shows a handler that throws as the engine would see it', async () => {
    const broken = bot<State>({
      ...definition,
      otherwise: () => {
        throw new Error('boom');
      },
    });
    const call = await new TestCall(broken).start();
    await expect(call.silence()).rejects.toMatchObject({ code: 'bot_failed', cause: { message: 'boom' } });
  });

  /** Key 1 waits for its signal, and then does `then`. */
  const waiting = (then: (signal: AbortSignal) => Promise<Answer<State>>): BotDefinition<State> => ({
    ...definition,
    dtmf_input: async function* (state, { digits }, { signal }) {
      if (digits !== '1') return go(state, say('Still here.').listen());
      yield say('One moment.');
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve);
      });
      yield say('Nobody hears this.');
      return then(signal);
    },
    barge_in: (state) => ({ n: state.n + 100 }),
  });

  it('aborts the signal of a handler that is interrupted, as the engine would, and what it throws then is no failure', async () => {
    const reasons: unknown[] = [];
    const asks = waiting(({ reason }) => {
      reasons.push(reason);
      return Promise.reject(reason as Error);
    });
    const call = await new TestCall(bot<State>(asks)).start();
    for (const _ of [1, 2]) {
      const step = call.press('1');
      await expect(call.press('2')).rejects.toThrow('still being answered');
      await call.interrupt();
      expect((await step).heard).toBe('One moment.');
    }
    expect(reasons).toMatchObject([
      { name: 'AbortError', cause: 'barge_in' },
      { name: 'AbortError', cause: 'barge_in' },
    ]);
    expect(call.state).toEqual({ n: 200 });
    (await call.press('2')).hears('Still here.');
  });

  it.each([
    [{ afterMs: 0, say: ['Hm.'] }, 'whole milliseconds'],
    [{ afterMs: 800.5, say: ['Hm.'] }, 'whole milliseconds'],
    [{ afterMs: 800, say: ['Hm.'], everyMs: -1 }, 'whole milliseconds'],
    [{ afterMs: 800, say: [] }, 'need words'],
    [{ afterMs: 800, say: [' '] }, 'need words'],
  ])('refuses the fillers %j', (filler, problem) => {
    const make = () =>
      bot<null>({
        ...{ id: 'filling', name: 'Filling', version: 1, filler },
        session_start: () => go(null, say('Hi.').listen()),
        otherwise: (state) => go(state, listen()),
      });
    expect(make).toThrow(problem);
  });

  it.each([
    ['session_start', { otherwise: () => go(null, listen()) }],
    ['otherwise', { session_start: () => go(null, listen()) }],
  ])('refuses a module without %s, which only the compiler would have refused', (_what, handlers) => {
    const definition = { id: 'half', name: 'Half', version: 1, ...handlers } as unknown as BotDefinition<null>;
    expect(() => bot<null>(definition)).toThrow('needs session_start and otherwise');
  });

  it('presses only what a telephone has', async () => {
    const plain = bot<null>({
      ...{ id: 'plain', name: 'Plain', version: 1 },
      session_start: () => go(null, say('Hi.').listen()),
      otherwise: (state) => go(state, say('Yes.').listen()),
    });
    const call = await new TestCall(plain).start();
    expect(() => call.press('x')).toThrow('cannot be pressed');
    expect(() => call.speakDigits('one')).toThrow('cannot be pressed');
    (await call.press('12A*#')).hears('Yes.');
  });

  it('reports with the next event which of its prompts were heard, and how far', async () => {
    const parts: unknown[] = [];
    const talker = bot<null>({
      id: 'talker',
      name: 'Talker',
      version: 1,
      session_start: () => go(null, say('One two.').say('Three four.').say('Five.').listen()),
      otherwise: (state, { heard }) => {
        parts.push(heard.parts.map(({ heard: words, complete }) => [words, complete]));
        return go(state, say('Six.').listen());
      },
    });
    const call = await new TestCall(talker).start();
    await call.interrupt('keys', { text: 'One two. Three' });
    await call.press('1');
    await call.press('1');
    expect(parts).toEqual([
      [
        ['One two.', true],
        ['Three', false],
        ['', false],
      ],
      [['Six.', true]],
    ]);
  });

  it('goes on from the last checkpoint of a handler that is interrupted or throws, and shows all checkpoints', async () => {
    const shop = bot<{ readonly step: number }>({
      id: 'shop',
      name: 'Shop',
      version: 1,
      session_start: () => go({ step: 0 }, say('Hello.').listen()),
      async *dtmf_input({ step }, { digits }, { signal }) {
        yield keep({ step: step + 1 });
        if (digits === '1')
          await new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              reject(new Error('stopped'));
            });
          });
        yield keep({ step: step + 2 });
        if (digits === '2') throw new Error('broken');
        return go({ step: step + 10 }, say('Done.').listen());
      },
      otherwise: (state) => go(state, say('What?').listen()),
    });
    const call = await new TestCall(shop).start();
    const pressed = call.press('1');
    await call.interrupt();
    await pressed;
    expect(call.state).toEqual({ step: 1 });
    await expect(call.press('2')).rejects.toThrow('threw');
    expect(call.state).toEqual({ step: 3 });
    await call.press('3');
    expect([call.state, call.kept]).toEqual([{ step: 13 }, [1, 2, 3, 4, 5].map((step) => ({ step }))]);
  });

  it('keeps what an interrupted handler answers all the same, and lets only a farewell be heard', async () => {
    const call = await new TestCall(bot<State>(waiting(() => Promise.resolve(go({ n: 7 }, say('Not heard.').listen()))))).start();
    const step = call.press('1');
    await call.interrupt('keys');
    expect([(await step).heard, call.state]).toEqual(['One moment.', { n: 107 }]);

    const ending = await new TestCall(bot<State>(waiting(() => Promise.resolve(go({ n: 7 }, say('Bye.').end('done')))))).start();
    const last = ending.press('1');
    await ending.interrupt();
    (await last).hears('One moment. Bye.').ended('done');
    expect(ending.state).toEqual({ n: 7 });
  });

  it('aborts the signal when the caller hangs up, and when the turn is over', async () => {
    const signals: AbortSignal[] = [];
    const asks = waiting((signal) => {
      signals.push(signal);
      return Promise.resolve(go({ n: 0 }, listen()));
    });
    const call = await new TestCall(
      bot<State>({ ...asks, otherwise: (state, _event, { signal }) => (signals.push(signal), go(state, listen())) }),
    ).start();
    await call.silence();
    const step = call.press('1');
    await call.hangUp();
    await step;
    expect(signals.map(({ reason }) => (reason as Error).cause)).toEqual(['deadline', 'hang_up']);
  });
});
