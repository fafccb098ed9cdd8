import { describe, expect, it } from 'vitest';
import { bot, go, say, type BotContext } from '../../../src/bot/index.ts';
import { throughJson, type JsonObject } from '../../../src/base/json.ts';
import type { AudioInput, Input } from '../../../src/dialog/input.ts';
import type { Snapshot } from '../../../src/session/snapshot/snapshot.ts';
import { LeftSnapshots } from '../../support/homes.ts';
import { MemoryCall } from '../../support/memory-transport.ts';
import { eventsOf, recordingLab, type RecordingLab } from '../../support/recording-lab.ts';
import { LINE_SILENCE, SENTENCE, WHOLE_SENTENCE } from '../../support/caller-audio.ts';
import { until } from '../../support/until.ts';

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

const PIN = '987654321';

/** A place where a handler waits. */
function gate() {
  let [arrive, open, fail]: [() => void, () => void, (why: Error) => void] = [() => undefined, () => undefined, () => undefined];
  const reached = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  return {
    reached,
    open: () => {
      open();
    },
    fail: () => {
      fail(new Error('a defect'));
    },
    wait: (signal: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        [open, fail] = [resolve, reject];
        signal.addEventListener('abort', () => {
          reject(new Error('stopped'));
        });
        arrive();
      }),
  };
}

/** Asks for a PIN whatever comes, after a wait when `asked` is given. */
function teller(asked?: ReturnType<typeof gate>) {
  const pin = () => go(null, say('Your PIN?').listen({ digits: 9, sensitive: true }));
  return bot<null>({
    ...{ id: 'teller', name: 'Teller', version: 1, session_start: () => go(null, say('Hello.').listen()) },
    dtmf_input: async (_state, { digits }) => {
      // It does not stop with the turn.
      if (digits === '1') await asked?.wait(new AbortController().signal);
      return pin();
    },
    otherwise: pin,
  });
}

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

function framesOf(input: Input): readonly AudioInput[] {
  if (input.kind !== 'audio') return [];
  const { audio } = input;
  return Array.from({ length: Math.ceil(audio.length / 160) }, (_, at) => ({ ...input, audio: audio.subarray(at * 160, at * 160 + 160) }));
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
    let answer: (() => void) | undefined;
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
    await until('the bot is asked', () => answer !== undefined);
    answer?.();
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

  it('has nothing of keys of a call that is unknown here, whose PIN another process may have asked for', async () => {
    const lab = await recordingLab([cashier]);
    const call = new MemoryCall(lab.sessions);
    await call.press(PIN);
    lab.clock.advance(10_000);
    await call.press('1');
    const recording = await lab.recording();
    expect(JSON.stringify(recording)).not.toContain(PIN);
    expect(eventsOf(recording, 'input').map(({ input }) => input)).toContainEqual({ kind: 'dtmf', digits: '1' });
  });

  it('has nothing of speech that began before another turn led to a sensitive question', async () => {
    const lab = await recordingLab([teller()], { recognizer: spoken('four one one one') });
    const call = new MemoryCall(lab.sessions);
    await call.start();
    lab.clock.advance(10_000);
    const speaking = await call.open(LINE_SILENCE);
    let unheard = 8000;
    // Enough to fill blocks.
    for (const frame of [SENTENCE, SENTENCE, SENTENCE, SENTENCE, SENTENCE].flatMap(framesOf)) {
      if (speaking.turn.state === 'listening') unheard += frame.audio.length;
      speaking.turn.push(frame);
    }
    expect(speaking.turn.state).toBe('hearing');
    await call.turn({ kind: 'custom_event', name: 'pay', parameters: {} });
    speaking.turn.halfClose();
    await speaking.sink.ended();
    const { callerSound } = await lab.recording();
    expect(callerSound.length).toBeGreaterThan(70_000);
    expect(callerSound.subarray(unheard).every((byte) => byte === 0xff)).toBe(true);
  });

  it('has nothing of what comes while the bot still works on a turn that was cancelled', async () => {
    const asked = gate();
    const lab = await recordingLab([teller(asked)]);
    const call = new MemoryCall(lab.sessions);
    await call.start();
    const first = await call.open({ kind: 'dtmf', digits: '1' });
    await asked.reached;
    await call.open(...sound(50, 0x11));
    first.turn.abort('hang_up');
    asked.open();
    await call.press(PIN);
    const recording = await lab.recording();
    expect(JSON.stringify(recording)).not.toContain(PIN);
    expect(recording.callerSound).toHaveLength(50 * 160);
    expect(recording.callerSound.includes(0x11)).toBe(false);
    expect(eventsOf(recording, 'input').map(({ input }) => input)).toContainEqual({ kind: 'dtmf', digits: '1' });
  });

  it.each(['stops', 'fails'])('has nothing of the input after a question that was said early, when its handler %s', async (how) => {
    const asked = gate();
    const lab = await recordingLab([
      bot<null>({
        ...{ id: 'hasty', name: 'Hasty', version: 1, session_start: () => go(null, say('Hello.').listen()) },
        async *dtmf_input(_state, { digits }, { signal }) {
          if (digits === '2') return go(null, say('Thanks.').listen());
          if (digits !== '1') return go(null, say(`You said ${digits}.`).listen());
          yield say('Your PIN, please?');
          await asked.wait(signal);
          return go(null, say('Please.').listen({ digits: 9, sensitive: true }));
        },
        otherwise: () => go(null, say('Bye.').end('done')),
      }),
    ]);
    const call = new MemoryCall(lab.sessions);
    await call.start();
    lab.clock.advance(5000);
    const first = await call.open({ kind: 'dtmf', digits: '1' });
    await asked.reached;
    if (how === 'fails') {
      asked.fail();
      await first.sink.ended();
    }
    lab.clock.advance(5000);
    const second = await call.open({ kind: 'dtmf_start' });
    second.turn.push({ kind: 'dtmf', digits: PIN });
    await Promise.all([first.sink.ended(), second.sink.ended()]);
    lab.clock.advance(5000);
    await call.press('2');
    const recording = await lab.recording();
    expect(JSON.stringify(recording)).not.toContain(PIN);
    const digits = eventsOf(recording, 'input').flatMap(({ input }) => (input.kind === 'dtmf' && 'digits' in input ? [input.digits] : []));
    expect(digits).toEqual(['1', '2']);
  });

  it('has nothing of a second input on the stream whose first led to a sensitive question', async () => {
    const asked = gate();
    const lab = await recordingLab([teller(asked)]);
    const call = new MemoryCall(lab.sessions);
    await call.start();
    const { turn, sink } = await call.open({ kind: 'dtmf', digits: '1' });
    await asked.reached;
    turn.push({ kind: 'dtmf', digits: PIN });
    asked.open();
    await sink.ended();
    const recording = await lab.recording();
    expect(eventsOf(recording, 'input').map(({ input }) => input)).toMatchObject([
      { kind: 'session_start' },
      { kind: 'dtmf', digits: '1' },
      { kind: 'dtmf', withheld: true },
    ]);
  });

  it('has no parameters after a sensitive question, also when the operator keeps them', async () => {
    const lab = await recordingLab([cashier], { recognizer: spoken('a pizza') }, { parameters: ['card'] });
    const call = await untilAsked(lab);
    await call.press(CARD);
    lab.clock.advance(10_000);
    await call.turn(...WHOLE_SENTENCE);
    lab.clock.advance(10_000);
    await call.turn({ kind: 'custom_event', name: 'paid', parameters: { card: CARD } });
    expect(JSON.stringify(await lab.recording())).not.toContain(CARD);
  });

  it('has nothing of a number whose question was asked by a home that died before it had answered', async () => {
    const left = new LeftSnapshots();
    const saved: Snapshot[] = [];
    left.save = (_call, snapshot) => saved.push(snapshot);
    await untilAsked(await recordingLab([cashier], { recognizer: spoken('a pizza'), snapshots: left }));
    expect(saved.map(({ turns, listen }) => [turns, listen.sensitive])).toEqual([
      [1, undefined],
      [1, undefined],
      [2, true],
    ]);
    const lab = await recordingLab([cashier]);
    const call = new MemoryCall(lab.sessions, { restored: { snapshot: throughJson(saved[1]) as JsonObject, generation: 1 } });
    await call.press(CARD);
    lab.clock.advance(10_000);
    await call.turn({ kind: 'custom_event', name: 'paid', parameters: {} });
    expect(JSON.stringify(await lab.recording())).not.toContain(CARD);
  });
});
