import { describe, expect, it } from 'vitest';
import { bot, go, say, type Heard } from '../../../src/bot/index.ts';
import { snapshotOf, testEngine } from '../../support/engine.ts';
import { MemoryCall } from '../../support/memory-transport.ts';
import { LINE_SILENCE, SENTENCE, WHOLE_SENTENCE } from '../../support/caller-audio.ts';

const QUESTION = 'Shall I go on with the next question?';
const ASKED_MS = QUESTION.length * 10;

interface State {
  readonly heard: readonly (Heard & { readonly at: string })[];
}

const curious = bot<State>({
  id: 'curious',
  name: 'Curious',
  version: 1,
  session_start: () => go({ heard: [] }, say(QUESTION).listen()),
  barge_in: (state, { heard }) => ({ heard: [...state.heard, { at: 'barge_in', ...heard }] }),
  otherwise: (state, event) => go({ heard: [...state.heard, { at: event.type, ...event.heard }] }, say(QUESTION).listen()),
});

async function started() {
  const engine = await testEngine([curious]);
  const call = new MemoryCall(engine.sessions);
  await call.start();
  const heard = async (): Promise<State['heard'] | undefined> =>
    // The snapshot of this bot holds its own state.
    ((await snapshotOf(engine))?.state as unknown as State | undefined)?.heard;
  return { ...engine, call, heard };
}

describe('what a bot learns of its last reply', () => {
  it('is that all of it was heard when the caller waited', async () => {
    const { call, clock, heard } = await started();
    clock.advance(ASKED_MS);
    await call.press('1');
    expect(await heard()).toMatchObject([{ at: 'dtmf_input', complete: true, ms: ASKED_MS, text: QUESTION }]);
  });

  it('G-64 is the part before the key that cut it, at the barge-in and at the input', async () => {
    const { call, clock, heard } = await started();
    clock.advance(100);
    await call.press('1');
    const cut = { complete: false, ms: 100, text: 'Shall I go' };
    expect(await heard()).toMatchObject([
      { at: 'barge_in', ...cut },
      { at: 'dtmf_input', ...cut },
    ]);
  });

  it('G-54 stays what it was at START_OF_DTMF while the digits are still being typed', async () => {
    const { call, clock, heard } = await started();
    clock.advance(100);
    await call.turn({ kind: 'dtmf_start' });
    clock.advance(4000);
    await call.press('1234');
    expect((await heard())?.map(({ at, ms }) => [at, ms])).toEqual([
      ['barge_in', 100],
      ['dtmf_input', 100],
    ]);
  });

  it('G-52 is what was heard when the caller began to speak, not when he was done', async () => {
    const { call, clock, heard } = await started();
    clock.advance(150);
    const { turn, sink } = await call.open(LINE_SILENCE);
    turn.push(SENTENCE);
    clock.advance(5000);
    turn.push(LINE_SILENCE);
    turn.push(LINE_SILENCE);
    await sink.ended();
    expect((await heard())?.map(({ at, complete, ms }) => [at, complete, ms])).toEqual([
      ['barge_in', false, 150],
      ['speech_input', false, 150],
    ]);
  });

  it('counts how often nothing came, and starts again after something', async () => {
    const counts: number[] = [];
    const counting = bot<null>({
      id: 'c',
      name: 'C',
      version: 1,
      session_start: () => go(null, say('Hi.').listen()),
      no_input: (_, { count }) => {
        counts.push(count);
        return go(null, say('Hello?').listen());
      },
      otherwise: () => go(null, say('Yes.').listen()),
    });
    const { sessions, clock } = await testEngine([counting]);
    const call = new MemoryCall(sessions);
    await call.start();
    for (const input of ['no_input', 'no_input', 'dtmf', 'no_input'] as const) {
      clock.advance(5000);
      await call.turn(input === 'dtmf' ? { kind: 'dtmf', digits: '1' } : { kind: 'no_input' });
    }
    expect(counts).toEqual([1, 2, 1]);
  });
});

describe('a reply that the caller did not wait for', () => {
  it('was not heard at all, and the one before it is not counted twice', async () => {
    const heard: Heard[] = [];
    const slow = bot<null>({
      id: 's',
      name: 'S',
      version: 1,
      session_start: () => go(null, say('Hi.').listen()),
      dtmf_input: async (_, event, { signal }) => {
        heard.push(event.heard);
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => {
            resolve();
          });
          if (event.digits === '2') resolve();
        });
        return go(null, say('Late.').listen());
      },
      otherwise: () => go(null, say('Yes.').listen()),
    });
    const { sessions, clock } = await testEngine([slow]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(5000);
    const first = await call.open({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(100);
    await call.press('2');
    await first.sink.ended();
    expect(heard).toMatchObject([
      { complete: true, ms: 30, text: 'Hi.' },
      { complete: false, ms: 0, text: '' },
    ]);
  });
});

describe('speech over a prompt', () => {
  it('cuts it only when it is longer than a cough', async () => {
    const { call, clock, sessions } = await started();
    clock.advance(50);
    const { turn, sink } = await call.open(LINE_SILENCE);
    // More speech than a start needs, and less than an interruption needs.
    if (SENTENCE.kind !== 'audio') throw new Error('the sentence is audio');
    turn.push({ kind: 'audio', audio: SENTENCE.audio.subarray(0, 8 * 500) });
    turn.push(LINE_SILENCE);
    expect(sink.kinds).toEqual([]);
    expect(sessions.openTurns).toBe(1);
    turn.abort('hang_up');
  });

  it('is an ordinary input when the prompt is over', async () => {
    const { call, clock } = await started();
    clock.advance(60_000);
    const sink = await call.turn(...WHOLE_SENTENCE);
    expect(sink.kinds).toEqual(['input_started', 'input_ended', 'prompt', 'final']);
  });
});
