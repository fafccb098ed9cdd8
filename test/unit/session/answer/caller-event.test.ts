// What a bot gets of its caller: how calls start, who pressed or said digits, and what is said of words that nobody knows.
import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../../src/bot/index.ts';
import type { BotDefinition, ReplyingEvent } from '../../../../src/bot/bot.ts';
import type { BotEar } from '../../../../src/bot/live.ts';
import { NOTHING_SAID } from '../../../../src/dialog/heard.ts';
import { startEvent } from '../../../../src/session/answer/caller-event.ts';
import type { Recognizer } from '../../../../src/session/ports.ts';
import { WHOLE_SENTENCE } from '../../../support/caller-audio.ts';
import { testEngine, type LogLine } from '../../../support/engine.ts';
import { MemoryCall } from '../../../support/memory-transport.ts';

/** A call whose bot keeps every event. */
async function watched(
  recognizer?: Recognizer,
  more: Partial<Pick<BotDefinition<null>, 'recognition' | 'endpointing' | 'audio_input'>> = {},
) {
  const events: ReplyingEvent[] = [];
  const watch = (event: ReplyingEvent) => {
    events.push(event);
    return go(null, say('Next?').listen({ digits: 4 }));
  };
  const watching = bot<null>({
    id: 'watching',
    name: 'Watching',
    version: 1,
    session_start: (event) => watch(event),
    otherwise: (_, event) => watch(event),
    ...more,
  });
  const engine = await testEngine([watching], recognizer === undefined ? {} : { recognizer });
  return { ...engine, call: new MemoryCall(engine.sessions), events };
}

describe('the start of a call', () => {
  it('G-24 brings the name and the data that the flow sends along', async () => {
    const { call, events } = await watched();
    await call.turn({ kind: 'session_start', name: 'vip', parameters: { level: 3 } });
    expect(events).toEqual([{ type: 'session_start', name: 'vip', parameters: { level: 3 } }]);
  });

  it('is one without a name for a call that nobody has answered, with what the call began with', async () => {
    const { call, events } = await watched();
    await call.press('1');
    expect(events).toEqual([{ type: 'session_start', name: '', parameters: {} }]);
    const input = { act: { kind: 'custom_event', name: 'vip', parameters: { level: 3 } }, completeAtMs: 0, heard: NOTHING_SAID } as const;
    expect(startEvent(input, { parameters: { name: 'Ann' } })).toEqual({ type: 'session_start', name: '', parameters: { name: 'Ann' } });
  });
});

describe('digits', () => {
  it('come with how they were entered', async () => {
    const { call, clock, events } = await watched({ recognize: () => Promise.resolve('one two') });
    await call.start();
    await call.press('42');
    clock.advance(5000);
    await call.turn(...WHOLE_SENTENCE);
    expect(events.slice(1)).toMatchObject([
      { type: 'dtmf_input', by: 'keys', digits: '42' },
      { type: 'dtmf_input', by: 'speech', digits: '12' },
    ]);
  });
});

describe('what was understood of an utterance', () => {
  const words = { recognize: () => Promise.resolve('two pizzas') };
  const nothing = { recognize: () => Promise.resolve(' ') };
  const failing = { recognize: () => Promise.reject(new Error('down')) };

  it.each([
    ['words', 'there are some', words, {}],
    ['nothing', 'the recognizer found none', nothing, {}],
    ['failed', 'the recognizer failed', failing, {}],
    ['not_asked', 'there is no recognizer', undefined, {}],
    ['not_asked', 'the bot wants no words', words, { recognition: 'none' }],
  ] as const)('is reported as %s when %s', async (understood, _when, recognizer, more) => {
    const { call, clock, events } = await watched(recognizer, more);
    await call.start();
    clock.advance(5000);
    await call.turn(...WHOLE_SENTENCE);
    expect(events.at(-1)).toMatchObject({ type: 'speech_input', understood, text: understood === 'words' ? 'two pizzas' : undefined });
  });

  it.each([
    ['no recognizer is asked for a bot that finds the end of speech itself', {}, 'not_asked', 0],
    ['unless the bot says that it wants words', { recognition: 'engine' }, 'words', 1],
  ] as const)('%s', async (_what, more, understood, times) => {
    let asked = 0;
    const recognizer = {
      recognize: () => {
        asked += 1;
        return Promise.resolve('two pizzas');
      },
    };
    let ear: BotEar | undefined;
    const own = {
      endpointing: 'bot',
      audio_input: (_pcm: Int16Array, _call: unknown, given: BotEar) => void (ear = given),
      ...more,
    } as const;
    const { call, clock, events } = await watched(recognizer, own);
    await call.start();
    clock.advance(5000);
    const { turn, sink } = await call.open(...WHOLE_SENTENCE);
    ear?.speechStarted();
    turn.push({ kind: 'audio', audio: new Uint8Array(1600).fill(0xff) });
    ear?.speechEnded();
    await sink.ended();
    expect([events.at(-1), asked]).toMatchObject([{ type: 'speech_input', understood }, times]);
  });
});

describe('an utterance without text', () => {
  it('is nothing to complain of where no recognizer was asked for', async () => {
    const { call, clock, events, log } = await watched();
    await call.start();
    clock.advance(5000);
    await call.turn(...WHOLE_SENTENCE);
    expect([events.at(-1), log.lines]).toMatchObject([{ type: 'speech_input', text: undefined }, []]);
  });

  it('is logged as a failure of the recognizer, whatever that throws', async () => {
    const { call, clock, events, log } = await watched({ recognize: () => Promise.reject(new Error('segmentation fault')) });
    await call.start();
    clock.advance(5000);
    await call.turn(...WHOLE_SENTENCE);
    expect([events.at(-1)?.type, log.lines.map(({ level, ...fields }) => [level, fields['code']])]).toEqual([
      'speech_input',
      [['warn', 'recognition_failed']],
    ]);
  });
});

describe('words in the log', () => {
  async function logged(
    logsWords: boolean,
    sensitive: boolean,
  ): Promise<{ readonly lines: readonly LogLine[]; readonly told: readonly string[] }> {
    const asking = bot<null>({
      id: 'asking',
      name: 'Asking',
      version: 1,
      session_start: () => go(null, say('Yes?').listen({ sensitive })),
      otherwise: () => go(null, say('Fine.').listen()),
    });
    const recognizer = { recognize: () => Promise.resolve('two pizzas') };
    const told: string[] = [];
    const observer = { wordsUnderstood: (_call: unknown, _turnId: string, words: string) => told.push(words) };
    const { sessions, clock, log } = await testEngine([asking], { recognizer, observer, settings: { logsWords } });
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(5000);
    await call.turn(...WHOLE_SENTENCE);
    return { lines: log.lines, told };
  }

  const line = { level: 'info', event: 'utterance_understood', understood: 'words', conversationId: 'call-1', turnId: 'call-1#2' };

  it('are written only where the operator asks for them', async () => {
    expect((await logged(false, false)).lines).toEqual([]);
    expect((await logged(true, false)).lines).toMatchObject([{ ...line, words: 'two pizzas' }]);
  });

  it('G-83 are left away where the question was sensitive', async () => {
    const { lines, told } = await logged(true, true);
    const [only, ...more] = lines;
    expect([only, only?.['words'], more]).toMatchObject([line, undefined, []]);
    expect(told).toEqual([]);
  });

  it('are for observers, whatever is logged', async () => {
    expect((await logged(false, false)).told).toEqual(['two pizzas']);
  });
});
