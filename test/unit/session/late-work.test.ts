// Work of a turn that ends too late or is not waited for: recognition, a handler, what a handler still says.
import { describe, expect, it } from 'vitest';
import { bot, go, say, type CallerEvent } from '../../../src/bot/index.ts';
import { WHOLE_SENTENCE } from '../../support/caller-audio.ts';
import { testEngine, TEST_SETTINGS } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { reasonOf } from '../../support/interruption.ts';
import { MemoryCall } from '../../support/memory-transport.ts';

const { turnDeadlineMs } = TEST_SETTINGS;
const { apology } = TEST_SETTINGS.lines;
/** Longer than a handler has that nobody waits for. */
const PAST_GRACE_MS = 400;

/** A call whose recognizer gives its texts when the test says so, and ignores its signal. */
async function recognizing(handle: (event: CallerEvent) => Promise<void> | void = () => undefined) {
  const asked: CallerEvent[] = [];
  const texts: ((text: string | undefined) => void)[] = [];
  const echo = bot<null>({
    id: 'echo',
    name: 'Echo',
    version: 1,
    session_start: () => go(null, say('Hi.').listen()),
    no_input: () => go(null, say('Bye.').end()),
    otherwise: async (_state, event) => {
      asked.push(event);
      await handle(event);
      return go(null, say('Yes?').listen());
    },
  });
  const engine = await testEngine([echo], {
    recognizer: { recognize: () => new Promise((resolve) => texts.push(resolve)) },
    settings: { keepsTranscript: true },
  });
  const call = new MemoryCall(engine.sessions);
  await call.start();
  engine.clock.advance(5000);
  const spoken = await call.open(...WHOLE_SENTENCE);
  await flushMicrotasks();
  const recognized = async (text: string): Promise<void> => {
    for (const give of texts.splice(0)) give(text);
    await flushMicrotasks();
  };
  return { ...engine, call, spoken, asked, recognized };
}

describe('recognition that takes longer than a turn may', () => {
  it('is apologized for, and the call goes on with its transcript', async () => {
    const { call, clock, spoken } = await recognizing();
    await clock.advanceAsync(turnDeadlineMs);
    expect(spoken.sink.texts).toEqual([apology]);
    expect(spoken.sink.next?.kind).toBe('listen');
    clock.advance(5000);
    expect((await call.turn({ kind: 'no_input' })).next).toMatchObject({
      kind: 'end',
      transcript: `bot: ${apology}\ncaller: [silence]\nbot: Bye.`,
    });
  });

  it('never reaches the bot, which has been notified of nothing', async () => {
    const { clock, spoken, asked, recognized } = await recognizing();
    await clock.advanceAsync(turnDeadlineMs);
    await recognized('a pizza');
    expect(spoken.sink.texts).toEqual([apology]);
    expect(asked).toEqual([]);
  });
});

describe('recognition of what the caller has acted over', () => {
  it('has all the time of its turn, not only the moment that a handler has', async () => {
    const { call, clock, asked, recognized } = await recognizing();
    await call.open({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(10 * PAST_GRACE_MS);
    await recognized('a pizza');
    expect(asked).toMatchObject([{ type: 'speech_input', text: 'a pizza' }, { type: 'dtmf_input' }]);
  });

  it('gives the handler that moment behind it, and then the next input has its turn', async () => {
    const { call, clock, spoken, asked, recognized } = await recognizing((event) =>
      event.type === 'speech_input' ? new Promise(() => undefined) : undefined,
    );
    const next = await call.open({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(PAST_GRACE_MS);
    await recognized('a pizza');
    expect(asked).toHaveLength(1);
    await clock.advanceAsync(PAST_GRACE_MS);
    expect(asked).toHaveLength(2);
    expect([spoken.sink.end, next.sink.end]).toEqual(['complete', 'complete']);
  });
});

describe('a handler that takes longer than a turn may', () => {
  it('gets an aborted signal when its time is up', async () => {
    const signals: AbortSignal[] = [];
    const hung = bot<null>({
      id: 'hung',
      name: 'Hung',
      version: 1,
      session_start: () => go(null, say('Hi.').listen()),
      otherwise: (_state, _event, { signal }) => {
        signals.push(signal);
        return new Promise(() => undefined);
      },
    });
    const { sessions, clock } = await testEngine([hung]);
    const call = new MemoryCall(sessions);
    await call.start();
    await call.open({ kind: 'no_input' });
    await clock.advanceAsync(turnDeadlineMs);
    expect(signals.map((signal) => [signal.aborted, reasonOf(signal)])).toEqual([[true, 'deadline']]);
  });

  it('is not heard any more, not even while its caller waits for the apology, and is ended', async () => {
    const reached: string[] = [];
    let goOn: () => void = () => undefined;
    const late = bot<null>({
      id: 'late',
      name: 'Late',
      version: 1,
      session_start: () => go(null, say('Hi.').listen()),
      async *dtmf_input() {
        try {
          await new Promise<void>((resolve) => {
            goOn = resolve;
          });
          yield say('Here I am.');
          reached.push('behind its prompt');
          return go(null, say('At last.').listen());
        } finally {
          reached.push('its end');
        }
      },
      otherwise: () => go(null, say('What?').listen()),
    });
    const { sessions, clock } = await testEngine([late]);
    const call = new MemoryCall(sessions);
    await call.start();
    const { turn, sink } = await call.open();
    sink.isFull = true;
    turn.push({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(turnDeadlineMs);
    goOn();
    await flushMicrotasks();
    sink.drain();
    await sink.ended();
    expect(sink.texts).toEqual([apology]);
    expect(reached).toEqual(['its end']);
  });
});

describe('the time that a bot has for an answer', () => {
  /** Answers at once, but hangs on key 1, `saying` something first, until its signal aborts if it obeys. */
  async function hanging(saying: boolean, isObedient: boolean) {
    const bot1 = bot<null>({
      id: 'hanging',
      name: 'Hanging',
      version: 1,
      session_start: () => go(null, say('Hi.').listen()),
      async *dtmf_input(_state, { digits }, { signal }) {
        if (digits !== '1') return go(null, say('Fine.').listen());
        if (saying) yield say('One moment.');
        await new Promise<void>((resolve) => {
          if (isObedient)
            signal.addEventListener('abort', () => {
              resolve();
            });
        });
        return go(null, say('Late.').listen());
      },
      otherwise: () => go(null, say('What?').listen()),
    });
    const engine = await testEngine([bot1]);
    const call = new MemoryCall(engine.sessions);
    await call.start();
    await engine.clock.advanceAsync(5000);
    return { ...engine, call };
  }

  it('is the whole of it again after every answer, however long the call', async () => {
    const { call, clock } = await hanging(false, false);
    await call.press('2');
    await clock.advanceAsync(10 * turnDeadlineMs);
    const { sink } = await call.open({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(turnDeadlineMs - 1);
    expect(sink.end).toBe('open');
    await clock.advanceAsync(1);
    expect(sink.texts).toEqual([apology]);
  });

  it.each([
    ['says that it is busy and does not stop', true, false],
    ['gives an answer that nobody hears when it is stopped', false, true],
  ] as const)('ends for an active caller, too, when the bot %s', async (_how, saying, isObedient) => {
    const { call, clock } = await hanging(saying, isObedient);
    const texts: (string | undefined)[] = [];
    for (let presses = 0; presses < 10; presses += 1) {
      const { turn, sink } = await call.open({ kind: 'dtmf', digits: '1' });
      turn.halfClose();
      await clock.advanceAsync(2000);
      texts.push(...sink.texts);
    }
    expect(texts).toContain(apology);
  });
});
