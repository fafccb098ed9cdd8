// Callers who give a sensitive input in two goes: the second comes over the reply to the first, before a word of it was heard, so it
// still answers the sensitive question whatever that reply asks for.
import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../src/bot/index.ts';
import type { FinalNext } from '../../../src/dialog/output.ts';
import { isSensitiveInput } from '../../../src/session/answer/caller-event.ts';
import { LINE_SILENCE, SENTENCE, WHOLE_SENTENCE } from '../../support/caller-audio.ts';
import { testEngine } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { MemoryCall } from '../../support/memory-transport.ts';
import { gateOf } from '../../support/homes.ts';

const THANKS = 'Thanks. And your name?';

/** Asks for a card number, waits for the gate with the first answer, and ends the call with `9`. */
async function asking() {
  const { opened, open } = gateOf();
  const answered = async (digits: string) => {
    if (digits === '9') return go(null, say('Bye.').end());
    await opened;
    return go(null, say(THANKS).listen({ digits: 4 }));
  };
  const clerk = bot<null>({
    id: 'clerk',
    name: 'Clerk',
    version: 1,
    session_start: () => go(null, say('Your card number?').listen({ digits: 16, sensitive: true })),
    dtmf_input: (_, { digits }) => answered(digits),
    speech_input: (_, { text }) => answered(text ?? ''),
    otherwise: () => go(null, say('Sorry?').listen()),
  });
  const said = ['my card is', 'two two two two'];
  const recognizer = { recognize: () => Promise.resolve(said.shift()) };
  const engine = await testEngine([clerk], { recognizer, settings: { keepsTranscript: true } });
  const call = new MemoryCall(engine.sessions);
  await call.start();
  await engine.clock.advanceAsync(5000);
  return { ...engine, call, open };
}

const transcriptOf = (next: FinalNext | undefined) => (next !== undefined && 'transcript' in next ? next.transcript : undefined);

describe('G-83 the rest of a sensitive input', () => {
  it('that is pressed before a word of the reply to its beginning was heard is in no transcript, here and on the platform', async () => {
    const { call, clock, open } = await asking();
    const first = call.press('41111111');
    await flushMicrotasks();
    await call.turn({ kind: 'dtmf_start' });
    open();
    await clock.advanceAsync(100);
    expect([(await first).texts, (await first).next]).toMatchObject([[], { kind: 'listen', digits: 4, sensitive: true }]);
    const second = await call.press('22222222');
    expect(second.next).toMatchObject({ kind: 'listen', digits: 4, sensitive: false });
    await clock.advanceAsync(5000);
    await call.press('1234');
    await clock.advanceAsync(5000);
    expect(transcriptOf((await call.press('9')).next)).toBe(
      [
        'bot: [withheld]',
        'caller: [withheld]',
        'caller: [withheld]',
        'bot: [withheld]',
        'caller: [keys] 1234',
        'bot: [withheld]',
        'caller: [keys] 9',
        'bot: [withheld]',
      ].join('\n'),
    );
  });

  it('that is said before it is in no transcript, nor is what follows while still nothing was heard', async () => {
    const { call, clock, open } = await asking();
    const one = await call.open(...WHOLE_SENTENCE);
    one.turn.halfClose();
    await flushMicrotasks();
    const two = await call.open(LINE_SILENCE, SENTENCE);
    two.turn.push(LINE_SILENCE);
    two.turn.push(LINE_SILENCE);
    await flushMicrotasks();
    const three = call.press('3333');
    open();
    await clock.advanceAsync(100);
    await three;
    expect([one.sink.texts, two.sink.texts]).toEqual([[], []]);
    await clock.advanceAsync(5000);
    const transcript = transcriptOf((await call.press('9')).next);
    expect(transcript).toContain('[withheld]');
    expect(transcript).not.toMatch(/two|3333/);
  });
});

describe('an input', () => {
  const record = { listen: { kind: 'listen' }, lastWasSensitive: true } as const;
  const heard = (complete: boolean, ms: number) =>
    ({ type: 'dtmf_input', by: 'keys', digits: '1', heard: { complete, ms, text: '', parts: [] } }) as const;

  it.each([
    ['a word of the reply before it was heard', record, heard(false, 10), false],
    ['the reply before it had no sound, and was read', record, heard(true, 0), false],
    ['nothing of the reply before it was heard', record, heard(false, 0), true],
    ['nothing is known of it', record, undefined, true],
    ['the input before it was not sensitive', { ...record, lastWasSensitive: false }, heard(false, 0), false],
    ['it is asked for as sensitive', { listen: { kind: 'listen', sensitive: true } }, heard(true, 100), true],
    ['the call starts over', record, { type: 'session_start', name: '', parameters: {} }, false],
  ] as const)('behind a sensitive one, when %s', (_when, known, event, isSensitive) => {
    expect(isSensitiveInput(known, event)).toBe(isSensitive);
  });
});
