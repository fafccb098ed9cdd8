// What a bot is told of its caller: how calls start, who pressed or said digits, and what is said of words that nobody knows.
import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../src/bot/index.ts';
import type { ReplyingEvent } from '../../../src/bot/bot.ts';
import { NOTHING_SAID } from '../../../src/dialog/heard.ts';
import { startEvent } from '../../../src/session/caller-event.ts';
import type { Recognizer } from '../../../src/session/ports.ts';
import { WHOLE_SENTENCE } from '../../support/caller-audio.ts';
import { testEngine } from '../../support/engine.ts';
import { MemoryCall } from '../../support/memory-transport.ts';

/** A call whose bot keeps every event that it is told of. */
async function watched(recognizer?: Recognizer) {
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
