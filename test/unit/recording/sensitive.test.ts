import { describe, expect, it } from 'vitest';
import { bot, go, say, type BotContext } from '../../../src/bot/index.ts';
import type { Input } from '../../../src/dialog/input.ts';
import { MemoryCall } from '../../support/memory-transport.ts';
import { eventsOf, recordingLab, type RecordingLab } from '../../support/recording-lab.ts';
import { WHOLE_SENTENCE } from '../../support/caller-audio.ts';

const CARD = '4111111111111111';
/** Asks for a card number, repeats it, and then asks something harmless. */
const cashier = bot<{ card?: string }>({
  id: 'cashier',
  name: 'Cashier',
  version: 1,
  session_start: () => go({}, say('What do you want?').listen()),
  speech_input: ({ card }, { text }) =>
    card === undefined
      ? go({}, say('Your card number, please?').listen({ digits: 16, sensitive: true }))
      : go({ card }, say(`You said ${text ?? ''}.`).listen()),
  dtmf_input: (_, { digits }) => go({ card: digits }, say(`I noted ${digits}.`).listen()),
  otherwise: ({ card = 'none' }) => go({ card }, say(`Paid with ${card}.`).transfer({ reason: 'done', fields: { card } })),
});

const THRICE_WITHHELD = [1, 2, 3].map(() => ({ withheld: true }));

function spoken(text: string) {
  return { recognize: () => Promise.resolve(text) };
}

async function untilAsked(lab: RecordingLab): Promise<MemoryCall> {
  const call = new MemoryCall(lab.sessions);
  await call.start();
  lab.clock.advance(5000);
  await call.turn(...WHOLE_SENTENCE);
  lab.clock.advance(10_000);
  return call;
}

/** Recognizable sound. */
function sound(frames: number, byte: number): readonly Input[] {
  return Array.from({ length: frames }, () => ({ kind: 'audio', audio: new Uint8Array(160).fill(byte) }));
}

describe('a recording', () => {
  it('has no digits that were asked for as sensitive, and nothing that may repeat them', async () => {
    const lab = await recordingLab([cashier], { recognizer: spoken('a pizza') });
    const call = await untilAsked(lab);
    await call.press(CARD);
    lab.clock.advance(10_000);
    await call.turn({ kind: 'custom_event', name: 'paid', parameters: { card: CARD } });
    const recording = await lab.recording();
    expect(JSON.stringify(recording)).not.toContain(CARD);
    expect(eventsOf(recording, 'input').map(({ input }) => input)).toContainEqual({ kind: 'dtmf', length: 16, withheld: true });
    expect(eventsOf(recording, 'state').map(({ state }) => state)).toEqual([{}, ...THRICE_WITHHELD]);
    const prompts = eventsOf(recording, 'output').flatMap(({ output }) => (output.kind === 'prompt' ? [output.prompt] : []));
    expect(prompts.map(({ text }) => text)).toEqual(['What do you want?', ...THRICE_WITHHELD]);
    expect(prompts.slice(1).map(({ sound: kept, durationMs }) => [kept, durationMs > 0])).toEqual(
      THRICE_WITHHELD.map((withheld) => [withheld, true]),
    );
    const finals = eventsOf(recording, 'output').flatMap(({ output }) => (output.kind === 'final' ? [output.next] : []));
    expect(finals.at(-1)).toEqual({ kind: 'transfer', metadata: {} });
    expect(recording.botSound).toHaveLength('What do you want?'.length * 80);
  });

  it('has silence in place of a number that is spoken, and not its words', async () => {
    const lab = await recordingLab([cashier], { recognizer: spoken('four one one one') });
    const call = await untilAsked(lab);
    await call.turn(...WHOLE_SENTENCE);
    const recording = await lab.recording();
    const audio = eventsOf(recording, 'audio').filter(({ turn }) => turn === 'call-1#3');
    expect(audio.length).toBeGreaterThan(0);
    for (const { from, bytes } of audio)
      expect(recording.callerSound.subarray(from, from + bytes).every((byte) => byte === 0xff)).toBe(true);
    expect(eventsOf(recording, 'words').map(({ text }) => text)).toEqual(['four one one one', { withheld: true }]);
  });

  it('has nothing of a number that comes before the bot has asked for it', async () => {
    let answer: () => void = () => undefined;
    const slow = bot<null>({
      id: 'slow',
      name: 'Slow',
      version: 1,
      session_start: () => go(null, say('Hello.').listen()),
      dtmf_input: async (_, { digits }) => {
        if (digits === '1')
          await new Promise<void>((resolve) => {
            answer = resolve;
          });
        return go(null, say('Your card number?').listen({ digits: 16, sensitive: true }));
      },
      otherwise: () => go(null, say('Bye.').end('done')),
    });
    const lab = await recordingLab([slow]);
    const call = new MemoryCall(lab.sessions);
    await call.turn({ kind: 'session_start', name: '', parameters: {} });
    const first = await call.open({ kind: 'dtmf', digits: '1' });
    // Enough to fill blocks while the bot decides.
    const second = await call.open(...sound(600, 0x11));
    const third = await call.open({ kind: 'dtmf', digits: CARD });
    await lab.recorder.written();
    expect(lab.file().length).toBeLessThan(10_000);
    answer();
    await first.sink.ended();
    second.turn.halfClose();
    await Promise.all([second.sink.ended(), third.sink.ended()]);
    const recording = await lab.recording();
    expect(JSON.stringify(recording)).not.toContain(CARD);
    expect(recording.callerSound).toHaveLength(600 * 160);
    expect(recording.callerSound.every((byte) => byte === 0xff)).toBe(true);
    expect(eventsOf(recording, 'input').map(({ input }) => input)).toContainEqual({ kind: 'dtmf', digits: '1' });
  });

  it('has no sound of the input after a sensitive one, which may be the rest of it, and its words only when they are not', async () => {
    const lab = await recordingLab([cashier], { recognizer: spoken('thank you') });
    const call = await untilAsked(lab);
    await call.press(CARD);
    lab.clock.advance(10_000);
    await call.turn(...WHOLE_SENTENCE);
    lab.clock.advance(10_000);
    await call.turn(...WHOLE_SENTENCE);
    const recording = await lab.recording();
    const isSilent = (turn: string): boolean =>
      eventsOf(recording, 'audio')
        .filter((audio) => audio.turn === turn)
        .every(({ from, bytes }) => recording.callerSound.subarray(from, from + bytes).every((byte) => byte === 0xff));
    expect([isSilent('call-1#2'), isSilent('call-1#4'), isSilent('call-1#5')]).toEqual([false, true, false]);
    expect(eventsOf(recording, 'words').map(({ text }) => text)).toEqual(['thank you', 'thank you', 'thank you']);
  });

  it('has nothing of keys whose call ended before the bot could answer them', async () => {
    const never = bot<null>({
      id: 'never',
      name: 'Never',
      version: 1,
      session_start: () => go(null, say('Your PIN?').listen({ digits: 4, sensitive: true })),
      dtmf_input: (_state, _input, { signal }: BotContext) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(new Error('stopped'));
          });
        }),
      otherwise: () => go(null, say('Bye.').end('done')),
    });
    const lab = await recordingLab([never]);
    const call = new MemoryCall(lab.sessions);
    await call.start();
    await call.open({ kind: 'dtmf', digits: '9876' });
    await call.hangUp();
    const recording = await lab.recording();
    expect(JSON.stringify(recording)).not.toContain('9876');
  });
});
