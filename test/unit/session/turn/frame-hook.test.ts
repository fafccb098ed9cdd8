import { describe, expect, it } from 'vitest';
import { bot, go, say, type BotEar } from '../../../../src/bot/index.ts';
import { testEngine } from '../../../support/engine.ts';
import { MemoryCall } from '../../../support/memory-transport.ts';
import { LINE_SILENCE, SENTENCE, WHOLE_SENTENCE } from '../../../support/caller-audio.ts';

/** A bot that hears for itself; the test plays its model through `ears`. */
async function modelCall(endpointing: 'bot' | 'engine' = 'bot') {
  const ears = new Set<BotEar>();
  const model = bot<null>({
    id: 'model',
    name: 'Model',
    version: 1,
    endpointing,
    audio_input: (_pcm, _call, ear) => {
      ears.add(ear);
    },
    session_start: () => go(null, say('Hello, I am a model and I talk for long.').listen()),
    speech_input: (_, { utterance }) => go(null, say(`Heard ${String(utterance.durationMs)}.`).listen()),
    otherwise: () => go(null, say('What?').listen()),
  });
  const engine = await testEngine([model]);
  const call = new MemoryCall(engine.sessions);
  await call.start();
  const ear = (): BotEar => {
    const [only, ...others] = ears;
    if (only === undefined || others.length > 0) throw new Error('a session has one ear');
    return only;
  };
  return { ...engine, call, ear };
}

describe('a bot that finds start and end of speech itself', () => {
  it('reports both, and gets the utterance with what was said before the start', async () => {
    const { call, clock, ear } = await modelCall();
    clock.advance(5000);
    const { turn, sink } = await call.open(LINE_SILENCE);
    expect(sink.kinds).toEqual([]);
    ear().speechStarted();
    expect(sink.kinds).toEqual(['input_started']);
    turn.push(LINE_SILENCE);
    ear().speechEnded();
    await sink.ended();
    expect(sink.kinds).toEqual(['input_started', 'input_ended', 'prompt', 'final']);
    expect(sink.texts[0]).toMatch(/^Heard (?:1[0-9]|[5-9])\d\d\.$/);
  });

  it('is the only one who does: a sentence alone starts nothing', async () => {
    const { call, clock } = await modelCall();
    clock.advance(5000);
    const { turn, sink } = await call.open(LINE_SILENCE, SENTENCE, LINE_SILENCE, LINE_SILENCE);
    expect(sink.kinds).toEqual([]);
    turn.abort('hang_up');
  });

  it('cuts a prompt by reporting speech', async () => {
    const { call, clock, ear, seen } = await modelCall();
    clock.advance(100);
    const { turn } = await call.open(LINE_SILENCE);
    ear().speechStarted();
    expect(seen).toContain('barge_in');
    turn.abort('hang_up');
  });

  it('changes nothing by reports that do not fit, also when the session is over', async () => {
    const { call, clock, ear } = await modelCall();
    clock.advance(5000);
    const { turn, sink } = await call.open(LINE_SILENCE);
    ear().speechEnded();
    ear().speechStarted();
    ear().speechStarted();
    expect(sink.kinds).toEqual(['input_started']);
    turn.halfClose();
    await sink.ended();
    await call.hangUp();
    ear().speechStarted();
    ear().speechEnded();
  });

  it('is refused without audio_input, because it could hear nothing', () => {
    expect(() =>
      bot<null>({
        id: 'deaf',
        name: 'Deaf',
        version: 1,
        endpointing: 'bot',
        session_start: () => go(null, say('Hi.').listen()),
        otherwise: () => go(null, say('What?').listen()),
      }),
    ).toThrow(/needs audio_input/);
  });
});

describe('a bot that only listens in', () => {
  it('reports nothing', async () => {
    const { call, clock, ear } = await modelCall('engine');
    clock.advance(5000);
    const { turn, sink } = await call.open(LINE_SILENCE);
    ear().speechStarted();
    expect(sink.kinds).toEqual([]);
    turn.abort('hang_up');
  });

  it('cannot end what the caller says either', async () => {
    const { call, clock, ear } = await modelCall('engine');
    clock.advance(5000);
    const { turn, sink } = await call.open(LINE_SILENCE, SENTENCE);
    ear().speechEnded();
    expect(sink.kinds).toEqual(['input_started']);
    turn.abort('hang_up');
  });
});

describe('a bot whose audio_input throws', () => {
  it.each<[string, () => unknown]>([
    [
      'at once',
      () => {
        throw new TypeError('no model');
      },
    ],
    // What an async one does; nothing of it may be left to the process.
    ['later', () => Promise.reject(new Error('the model is gone'))],
  ])('%s is reported once a call, not fifty times a second, and goes on answering', async (_when, audio_input) => {
    const deaf = bot<null>({
      id: 'deaf',
      name: 'Deaf',
      version: 1,
      audio_input,
      session_start: () => go(null, say('Hello.').listen()),
      otherwise: () => go(null, say('What?').listen()),
    });
    const { sessions, clock, seen } = await testEngine([deaf]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(5000);
    expect((await call.turn(...WHOLE_SENTENCE)).texts).toEqual(['What?']);
    expect(seen.filter((event) => event.startsWith('bot_failed'))).toEqual(['bot_failed bot_failed']);
  });
});

describe('a bot without audio_input', () => {
  it('is given no frame, and is not reported for it', async () => {
    const plain = bot<null>({
      id: 'plain',
      name: 'Plain',
      version: 1,
      session_start: () => go(null, say('Hello.').listen()),
      otherwise: () => go(null, say('What?').listen()),
    });
    const { sessions, clock, seen } = await testEngine([plain]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(5000);
    expect((await call.turn(...WHOLE_SENTENCE)).texts).toEqual(['What?']);
    expect(seen.filter((event) => event.startsWith('bot_failed'))).toEqual([]);
  });
});
