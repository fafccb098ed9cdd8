import { describe, expect, it } from 'vitest';
import { bot, go, say, type Answer } from '../../../src/bot/index.ts';
import { AppError } from '../../../src/base/errors.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { DefectiveVoice, FakeVoice, snapshotOf, TEST_SETTINGS, testEngine } from '../../support/engine.ts';
import { MemoryCall } from '../../support/memory-transport.ts';

const { apology, transfer: transferPrompt } = TEST_SETTINGS.lines;

/** Runs a plain-JavaScript misdeed on key 6 and works otherwise. */
function badBot(misdeed: () => unknown) {
  return bot<{ readonly turns: number }>({
    id: 'bad',
    name: 'Bad',
    version: 1,
    session_start: () => go({ turns: 0 }, say('Welcome.').listen()),
    // The cast plays a module written in JavaScript, which no compiler has checked.
    dtmf_input: (state, { digits }) =>
      digits === '6' ? (misdeed() as Answer<typeof state>) : go({ turns: state.turns + 1 }, say('Fine.').listen()),
    otherwise: (state) => go(state, say('What?').listen()),
  });
}

const NONSENSE: readonly (readonly [string, () => unknown])[] = [
  [
    'throws',
    () => {
      throw new Error('caller said 4711');
    },
  ],
  [
    'throws something that is no error',
    () => {
      throw 'x' as unknown as Error;
    },
  ],
  ['rejects', () => Promise.reject(new Error('no'))],
  ['returns nothing', () => undefined],
  ['returns null', () => null],
  ['forgets the next step', () => ({ state: {}, reply: { prompts: [] } })],
  ['invents a next step', () => ({ state: {}, reply: { prompts: [], next: { kind: 'dance' } } })],
  ['says an empty text', () => go({ turns: 1 }, say('  ').listen())],
  ['says a megabyte', () => go({ turns: 1 }, say('x'.repeat(1_000_000)).listen())],
  [
    'says a thousand prompts',
    () => ({
      state: {},
      reply: { prompts: Array.from({ length: 1000 }, () => ({ kind: 'text', text: 'x', bargeIn: true })), next: { kind: 'listen' } },
    }),
  ],
  ['asks for a negative time', () => go({ turns: 1 }, say('x').listen({ noInputMs: -1 }))],
  [
    'returns a state with a cycle',
    () => {
      const state: Record<string, unknown> = {};
      state['self'] = state;
      return { state, reply: say('x').listen() };
    },
  ],
  ['returns a BigInt in its state', () => ({ state: { n: 1n }, reply: say('x').listen() })],
  [
    'yields nonsense',
    function* () {
      yield 42;
      return go({ turns: 1 }, say('x').listen());
    },
  ],
  [
    'yields no prompt',
    function* () {
      yield { prompts: [] };
      return go({ turns: 1 }, say('x').listen());
    },
  ],
];

describe('the answer a caller always gets', () => {
  it.each(NONSENSE)('apologizes and listens again when a bot %s, and transfers on the second failure in a row', async (_name, misdeed) => {
    const { sessions, seen } = await testEngine([badBot(misdeed)]);
    const call = new MemoryCall(sessions);
    await call.start();
    const first = await call.press('6');
    expect(first.texts.at(-1)).toBe(apology);
    expect(first.next?.kind).toBe('listen');
    expect(seen).toContain('bot_failed bot_failed');
    const second = await call.press('6');
    expect(second.texts.at(-1)).toBe(transferPrompt);
    expect(second.next).toMatchObject({ kind: 'transfer', metadata: { reason: 'failed' } });
    // A test of the bot must be able to tell these from what the bot says.
    expect([first, second].map(({ outputs }) => outputs.at(-1))).toMatchObject([{ isApology: true }, { isApology: true }]);
    expect(seen).toContain('session_ended failed');
  });

  it('counts failures in a row only, and keeps the state of before the failure', async () => {
    const { sessions } = await testEngine([badBot(() => undefined)]);
    const call = new MemoryCall(sessions);
    await call.start();
    await call.press('6');
    const fine = await call.press('1');
    expect([fine.texts, fine.outputs.at(-1)]).toEqual([
      ['Fine.'],
      expect.not.objectContaining({ isApology: expect.anything() as unknown }),
    ]);
    expect((await call.press('6')).texts).toEqual([apology]);
    expect((await snapshotOf({ sessions }))?.state).toEqual({ turns: 1 });
  });

  it('cuts a bot that never answers at its deadline and leaves no timer behind', async () => {
    const { sessions, clock, seen } = await testEngine([badBot(() => new Promise(() => undefined))]);
    const call = new MemoryCall(sessions);
    await call.start();
    const idleTimers = clock.pendingTimers;
    const { sink } = await call.open({ kind: 'dtmf', digits: '6' });
    await clock.advanceAsync(TEST_SETTINGS.turnDeadlineMs - 1);
    expect(sink.end).toBe('open');
    await clock.advanceAsync(1);
    await sink.ended();
    expect(sink.texts).toEqual([apology]);
    expect(seen).toContain('bot_failed bot_timeout');
    expect(clock.pendingTimers).toBe(idleTimers);
  });

  it('apologizes for a failing welcome and asks the bot for its welcome again on the next turn', async () => {
    let starts = 0;
    const shaky = bot<null>({
      id: 'shaky',
      name: 'Shaky',
      version: 1,
      session_start: () => {
        starts += 1;
        if (starts === 1) throw new Error('not yet');
        return go(null, say('Welcome at last.').listen());
      },
      otherwise: () => go(null, say('Fine.').listen()),
    });
    const { sessions } = await testEngine([shaky]);
    const call = new MemoryCall(sessions);
    expect((await call.start()).texts).toEqual([apology]);
    expect((await call.press('1')).texts).toEqual(['Welcome at last.']);
    expect((await call.press('1')).texts).toEqual(['Fine.']);
  });

  it('transfers the caller when something else than the bot fails', async () => {
    const voice = new DefectiveVoice();
    const { sessions, seen, log } = await testEngine([badBot(() => undefined)], { voice });
    const call = new MemoryCall(sessions);
    await call.start();
    voice.defectiveText = 'Fine.';
    const sink = await call.press('1');
    expect([sink.texts, sink.next]).toMatchObject([[transferPrompt], { kind: 'transfer', metadata: { reason: 'failed' } }]);
    expect(seen).toContain('session_ended failed');
    expect(log.lines).toMatchObject([{ level: 'error', conversationId: 'call-1' }]);
  });

  it('takes a state that outgrows its snapshot for a failure of the bot', async () => {
    const { sessions, seen } = await testEngine([badBot(() => go({ turns: 1, hoard: 'x'.repeat(100_000) }, say('Kept it all.').listen()))]);
    const call = new MemoryCall(sessions);
    await call.start();
    expect((await call.press('6')).texts).toEqual([apology]);
    expect((await call.press('6')).next?.kind).toBe('transfer');
    expect(seen.filter((event) => event === 'bot_failed bot_failed')).toHaveLength(2);
  });

  it('passes the utterance on without text when the recognizer fails', async () => {
    const { sessions, log } = await testEngine([badBot(() => undefined)], {
      recognizer: { recognize: () => Promise.reject(new AppError('recognition_failed', 'no such program')) },
    });
    const call = new MemoryCall(sessions);
    await call.start();
    const { turn, sink } = await call.open({ kind: 'audio', audio: new Uint8Array(0) });
    turn.heard('speech_started');
    turn.heard('speech_ended');
    await sink.ended();
    expect(sink.texts).toEqual(['What?']);
    expect(log.lines.some((line) => line['code'] === 'recognition_failed')).toBe(true);
  });

  it('counts the latency of a reply from its input, the wait behind earlier inputs included', async () => {
    let finish: () => void = () => undefined;
    const slow = badBot(
      () =>
        new Promise((resolve) => {
          finish = () => {
            resolve(go({ turns: 1 }, say('Done.').listen()));
          };
        }),
    );
    const { sessions, clock, seen } = await testEngine([slow]);
    const call = new MemoryCall(sessions);
    await call.start();
    await clock.advanceAsync(1000);
    const first = await call.open({ kind: 'dtmf', digits: '6' });
    await clock.advanceAsync(300);
    const second = await call.open({ kind: 'custom_event', name: 'e', parameters: {} });
    await clock.advanceAsync(200);
    finish();
    await Promise.all([first.sink.ended(), second.sink.ended()]);
    expect(seen.filter((event) => event.startsWith('reply_started'))).toEqual([
      'reply_started 0',
      'reply_started 500',
      'reply_started 200',
    ]);
  });

  it('complains of nothing when the caller hangs up while the recognizer works', async () => {
    let isStopped = false;
    const { sessions, log } = await testEngine([badBot(() => undefined)], {
      recognizer: {
        recognize: (_, signal) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              isStopped = true;
              reject(new AppError('recognition_failed', 'was stopped'));
            });
          }),
      },
    });
    const call = new MemoryCall(sessions);
    await call.start();
    const { turn, sink } = await call.open({ kind: 'audio', audio: new Uint8Array(0) });
    turn.heard('speech_started');
    turn.heard('speech_ended');
    await flushMicrotasks();
    await call.hangUp();
    await flushMicrotasks();
    expect([isStopped, sink.end, log.lines]).toEqual([true, 'complete', []]);
  });

  it('never puts the message of a foreign error into a log line', async () => {
    const { sessions, log } = await testEngine([
      badBot(() => {
        throw new Error('caller said 4711');
      }),
    ]);
    const call = new MemoryCall(sessions);
    await call.start();
    await call.press('6');
    expect(log.lines.map((line) => line.message).join()).not.toContain('4711');
  });

  it('G-91 ends a turn whose client does not read, and keeps the call', async () => {
    const { sessions, clock, seen } = await testEngine([badBot(() => undefined)]);
    const call = new MemoryCall(sessions);
    await call.start();
    const { turn, sink } = await call.open();
    sink.isFull = true;
    turn.push({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(TEST_SETTINGS.slowReaderMs);
    await sink.ended();
    expect(sink.end).toMatchObject({ code: 'slow_reader' });
    expect(seen).toContain('turn_ended failed');
    expect((await call.press('1')).texts).toEqual(['Fine.']);
  });

  it('goes on as soon as a slow client reads again', async () => {
    const { sessions, clock } = await testEngine([badBot(() => undefined)]);
    const call = new MemoryCall(sessions);
    await call.start();
    const { turn, sink } = await call.open();
    sink.isFull = true;
    turn.push({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(1000);
    sink.drain();
    await sink.ended();
    expect(sink.kinds).toEqual(['prompt', 'final']);
  });

  it('speaks text-only prompts in WAV mode when there is no synthesizer', async () => {
    const { sessions } = await testEngine([badBot(() => undefined)], { voice: new FakeVoice(false) });
    const sink = await new MemoryCall(sessions).start();
    expect(sink.outputs).toMatchObject([{ kind: 'final', mode: 'wav', prompts: [{ audio: undefined, text: 'Welcome.' }] }]);
  });
});
