import { describe, expect, it } from 'vitest';
import { bot, go, play, say } from '../../../../src/bot/index.ts';
import { transcriptText, withBotLine, withStep, type TranscriptLine } from '../../../../src/session/answer/transcript.ts';
import { NOTHING_SAID } from '../../../../src/dialog/heard.ts';
import { snapshotOf, testEngine } from '../../../support/engine.ts';
import { MemoryCall } from '../../../support/memory-transport.ts';
import { WHOLE_SENTENCE } from '../../../support/caller-audio.ts';

const clerk = bot<null>({
  id: 'clerk',
  name: 'Clerk',
  version: 1,
  session_start: () => go(null, say('How can I help?').listen()),
  speech_input: (_, { text }) =>
    go(null, say(`You want ${text ?? 'something'}. Your card number?`).listen({ digits: 16, sensitive: true })),
  dtmf_input: (_, { digits }) => go(null, say(`I noted ${digits}. Press 1.`).listen({ digits: 1 })),
  otherwise: () => go(null, say('Goodbye.').end('done', { summary: 'A pizza.' })),
});

async function finalOf(keepsTranscript: boolean) {
  const recognizer = { recognize: () => Promise.resolve('a pizza') };
  const { sessions, clock } = await testEngine([clerk], { recognizer, settings: { keepsTranscript } });
  const call = new MemoryCall(sessions);
  await call.start();
  clock.advance(5000);
  const middle = await call.turn(...WHOLE_SENTENCE);
  clock.advance(10_000);
  await call.press('4111111111111111');
  const snapshot = await snapshotOf({ sessions });
  clock.advance(10_000);
  const last = await call.turn({ kind: 'no_input' });
  return { middle: middle.next, last: last.next, snapshot };
}

describe('the transcript of a call', () => {
  it('G-7B goes out with the last response only, without anything sensitive or what the bot said from its question on', async () => {
    const { middle, last, snapshot } = await finalOf(true);
    expect(middle).not.toHaveProperty('transcript');
    expect(last).toMatchObject({
      kind: 'end',
      summary: 'A pizza.',
      transcript: [
        'bot: How can I help?',
        'caller: a pizza',
        'bot: [withheld]',
        'caller: [withheld]',
        'bot: [withheld]',
        'caller: [silence]',
        'bot: [withheld]',
      ].join('\n'),
    });
    // What the bot has said stands in it, too.
    expect(JSON.stringify({ ...snapshot, played: undefined })).not.toContain('4111');
  });

  it('is the line of our own hand-over when nothing else was said', async () => {
    const { sessions } = await testEngine([clerk], { settings: { keepsTranscript: true } });
    const call = new MemoryCall(sessions);
    await call.start();
    const { sink } = await call.open();
    const closed = sessions.close(0);
    await sink.ended();
    await closed;
    expect(sink.next).toMatchObject({ kind: 'transfer', transcript: 'bot: I will connect you.' });
  });

  it('is not kept unless the operator asks for it', async () => {
    const { last, snapshot } = await finalOf(false);
    expect(last).toMatchObject({ transcript: undefined });
    expect(snapshot?.transcript).toEqual([]);
  });
});

describe('the transcript of a call that ends in another way', () => {
  const talker = bot<null>({
    id: 'talker',
    name: 'Talker',
    version: 1,
    session_start: () => go(null, say('Hello.').listen()),
    async *dtmf_input() {
      await Promise.resolve();
      yield say('Let me see.');
      return go(null, say('No.').transfer({ reason: 'asked' }));
    },
    otherwise: () => go(null, say('What?').listen()),
  });

  it('G-7B holds what a bot said before it had its farewell', async () => {
    const { sessions, clock } = await testEngine([talker], { settings: { keepsTranscript: true } });
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(5000);
    expect((await call.press('1')).next).toMatchObject({ transcript: 'bot: Hello.\ncaller: [keys] 1\nbot: Let me see. No.' });
  });

  it('G-7B goes out, too, when the server transfers the caller', async () => {
    const { sessions, clock } = await testEngine([talker], { settings: { keepsTranscript: true } });
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(5000);
    await call.turn({ kind: 'no_input' });
    clock.advance(5000);
    const { sink } = await call.open();
    await Promise.all([sessions.close(0), clock.advanceAsync(5000)]);
    expect(sink.next).toMatchObject({
      kind: 'transfer',
      transcript: expect.stringMatching(/^bot: .*\ncaller: \[silence\]\nbot: What\?\nbot: I will/) as string,
    });
  });

  it('G-7B holds the texts of a farewell, and nothing of a snapshoting beside them', async () => {
    const ending = bot<null>({
      id: 'ending',
      name: 'Ending',
      version: 1,
      session_start: () => go(null, say('Hi.').listen()),
      otherwise: () => go(null, play('jingle.wav').say('Bye.').end()),
    });
    const { sessions, clock } = await testEngine([ending], { settings: { keepsTranscript: true } });
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(5000);
    expect((await call.turn({ kind: 'no_input' })).next).toMatchObject({ transcript: 'bot: Hi.\ncaller: [silence]\nbot: Bye.' });
  });
});

describe('transcript lines', () => {
  const step = (text: string) => ({
    event: { type: 'custom_event', name: text, parameters: {}, heard: { ...NOTHING_SAID, text } } as const,
    isSensitive: false,
    wasSensitive: false,
  });

  it('say nothing of a reply of which nothing was heard', () => {
    expect(withStep([], step(''))).toEqual([{ who: 'caller', text: '[event]' }]);
    expect(withBotLine([], '', false)).toEqual([]);
  });

  it('name speech of which no text is known, so that the reader sees that the caller spoke', () => {
    const utterance = { mulaw: new Uint8Array(160), durationMs: 20 };
    const event = { type: 'speech_input', utterance, text: undefined, understood: 'not_asked', heard: NOTHING_SAID } as const;
    expect(withStep([], { event, isSensitive: false, wasSensitive: false })).toEqual([{ who: 'caller', text: '[speech]' }]);
  });

  it('are one line each, whatever was said', () => {
    expect(transcriptText(withBotLine([], 'one\ntwo', false))).toBe('bot: one two');
  });

  it('drop the oldest when they are too long for a snapshot', () => {
    let lines: readonly TranscriptLine[] = [];
    for (let index = 0; index < 20; index += 1) lines = withBotLine(lines, `${String(index)} `.padEnd(1000, 'x'), false);
    expect(lines).toHaveLength(16);
    expect(lines[0]?.text.startsWith('4 ')).toBe(true);
    expect(withBotLine(lines, 'x'.repeat(16_000), false)).toHaveLength(1);
    expect(withBotLine([], 'x'.repeat(20_000), false).map(({ text }) => text.length)).toEqual([16_000]);
  });
});
