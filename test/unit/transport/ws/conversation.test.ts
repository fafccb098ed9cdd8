// A whole conversation on one socket: where its turns begin and end, with the real engine and a real voice.
import { describe, expect, it, vi } from 'vitest';
import { bot, go, play, say } from '../../../../src/bot/index.ts';
import { Session } from '../../../../src/session/session.ts';
import { encodeMulaw, MULAW_SILENCE } from '../../../../src/speech/g711.ts';
import { readWav } from '../../../../src/speech/wav.ts';
import { readFileSync } from 'node:fs';
import { PEER_CLOSE_MS, socketBench, type PlatformSocket, type SocketBench } from '../../../support/call-socket.ts';
import { FakeVoice } from '../../../support/engine.ts';
import { flushMicrotasks } from '../../../support/fake-clock.ts';

const SENTENCE = encodeMulaw(readWav(readFileSync(new URL('../../../fixtures/speech/sentence.wav', import.meta.url))).samples);
const SECOND = new Uint8Array(8000).fill(MULAW_SILENCE);
const LONG = 'A prompt that takes a while to be heard to its end. '.repeat(4);

let answer: () => void = () => undefined;

interface Heard {
  readonly events: readonly string[];
}

const listener = bot<Heard>({
  id: 'listener',
  name: 'Listener',
  version: 1,
  session_start: () => go({ events: [] }, say('Welcome.').listen({ digits: 4 })),
  dtmf_input: async function* (state, { digits }, { signal }) {
    if (digits === '1' || digits === '8') {
      yield say('First part.');
      await new Promise<void>((resolve, reject) => {
        answer = resolve;
        // As a request would that is given the signal.
        if (digits === '1')
          signal.addEventListener('abort', () => {
            reject(new DOMException('no longer wanted', 'AbortError'));
          });
      });
      yield say('Second part.');
    }
    if (digits === '2') return go(state, say(LONG).listen());
    if (digits === '3') return go(state, say(LONG, { bargeIn: false }).listen());
    if (digits === '0' || digits === '4')
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
    if (digits === '9') return go(state, say('Bye.').end('done'));
    if (digits === '0') return go(state, say('To a person.').transfer({ reason: 'vip' }));
    return go(state, say(`Keys ${digits}.`).listen());
  },
  speech_input: (state) => go(state, say('Speech.').listen()),
  no_input: (state) => go(state, say('Nothing.').listen()),
  custom_event: (state, { name }) => go(state, say(`Event ${name}.`).listen()),
  otherwise: (state) => go(state, say('What?').listen()),
});

type Options = Parameters<typeof socketBench>[1];

/** A call whose welcome was heard, on a line that is known to be quiet. */
async function begun(options: Options = {}): Promise<SocketBench & { readonly platform: PlatformSocket }> {
  const bench = await socketBench([listener], { ...options, socket: { isRevealingText: true, ...options.socket } });
  const platform = bench.open();
  await platform.start();
  await bench.clock.advanceAsync(1000);
  platform.audio(SECOND);
  platform.audio(SECOND);
  await flushMicrotasks();
  expect(platform.socket.said).toEqual(['CHUNK', 'FINAL']);
  platform.socket.sent.length = 0;
  return { ...bench, platform };
}

async function speak(platform: PlatformSocket): Promise<void> {
  platform.audio(SENTENCE);
  await flushMicrotasks();
}

async function pause(platform: PlatformSocket): Promise<void> {
  platform.audio(SECOND);
  platform.audio(SECOND);
  await flushMicrotasks();
}

/** What was said, by the metadata of the FINALs. */
function texts({ socket }: PlatformSocket): readonly unknown[] {
  return socket.sent.flatMap((envelope) => (envelope.metadata === undefined ? [] : [envelope.metadata['parley_prompt_texts']]));
}

describe('a conversation on one socket', () => {
  it('W-23 W-24: takes speech after speech out of one stream of audio, with one FINAL for each', async () => {
    const { platform, sessions } = await begun();
    for (const round of [1, 2]) {
      await speak(platform);
      expect(platform.socket.said, `round ${String(round)}`).toEqual(['START']);
      await pause(platform);
      expect(platform.socket.said).toEqual(['START', 'END', 'CHUNK', 'FINAL']);
      // There is always a turn that listens, so that the engine can always send.
      expect(sessions.openTurns).toBe(1);
      platform.socket.sent.length = 0;
    }
    const numbers = platform.socket.messages.map((message) => (JSON.parse(message.toString()) as { seq: number }).seq);
    expect(numbers).toEqual(Array.from({ length: 10 }, (_, index) => index + 1));
  });

  it('W-26: answers digits and not their first key, and NO_INPUT and events of the flow, each with one FINAL', async () => {
    const { platform } = await begun();
    platform.event('START_OF_DTMF');
    await flushMicrotasks();
    expect(platform.socket.said).toEqual([]);
    platform.press('DTMF_DIGIT_FIVE', 'DTMF_DIGIT_POUND');
    await flushMicrotasks();
    platform.event('NO_INPUT');
    await flushMicrotasks();
    platform.event('CUSTOM_EVENT', { name: 'paid' });
    await flushMicrotasks();
    expect(platform.socket.said).toEqual(['CHUNK', 'FINAL', 'CHUNK', 'FINAL', 'CHUNK', 'FINAL']);
    expect(texts(platform)).toEqual([['Keys 5.'], ['Nothing.'], ['Event paid.']]);
  });

  it('W-24 W-25 W-27: a reply that is cut says its FINAL, then comes the start of the speech that cut it, and nothing of it behind that', async () => {
    const { platform, clock } = await begun();
    platform.press('DTMF_DIGIT_ONE');
    await flushMicrotasks();
    expect(platform.socket.said).toEqual(['CHUNK']);
    await clock.advanceAsync(60);
    await speak(platform);
    expect(platform.socket.said).toEqual(['CHUNK', 'FINAL', 'START']);
    expect(platform.socket.answers[1]).toMatchObject({ prompts: [{ audio_content_b64: '' }], input_mode: 'INPUT_VOICE_DTMF' });
    await pause(platform);
    expect(platform.socket.said).toEqual(['CHUNK', 'FINAL', 'START', 'END', 'CHUNK', 'FINAL']);
    expect(texts(platform)).toEqual([['First part.'], ['Speech.']]);
    expect(clock.pendingTimers).toBe(1);
  });

  it('W-27: a bot that does not let go of a reply that was cut has 100 ms, and nothing of it is heard behind the start', async () => {
    const { platform, clock } = await begun();
    platform.press('DTMF_DIGIT_EIGHT');
    await clock.advanceAsync(60);
    await speak(platform);
    expect(platform.socket.said).toEqual(['CHUNK']);
    await clock.advanceAsync(99);
    expect(platform.socket.said).toEqual(['CHUNK']);
    await clock.advanceAsync(1);
    expect(platform.socket.said).toEqual(['CHUNK', 'START']);
    answer();
    await flushMicrotasks();
    await pause(platform);
    expect(platform.socket.said).toEqual(['CHUNK', 'START', 'END', 'CHUNK', 'FINAL']);
    expect(texts(platform)).toEqual([['Speech.']]);
  });

  it('W-2A: a socket that drops while a start waits leaves nothing behind', async () => {
    const { platform, clock, sessions } = await begun();
    platform.press('DTMF_DIGIT_EIGHT');
    await flushMicrotasks();
    await speak(platform);
    expect(platform.socket.said).toEqual(['CHUNK']);
    platform.call.closed();
    answer();
    await flushMicrotasks();
    expect([platform.socket.said, clock.pendingTimers, sessions.openTurns]).toEqual([['CHUNK'], 1, 0]);
  });

  it('W-27: a reply that was sent whole is cut by the start of the speech alone', async () => {
    const { platform, clock, seen } = await begun();
    platform.press('DTMF_DIGIT_TWO');
    await clock.advanceAsync(500);
    platform.socket.sent.length = 0;
    await speak(platform);
    await pause(platform);
    expect(platform.socket.said).toEqual(['START', 'END', 'CHUNK', 'FINAL']);
    expect(seen).toContain('barge_in');
  });

  it('W-27: nobody speaks into a prompt that may not be cut', async () => {
    const { platform, clock } = await begun();
    platform.press('DTMF_DIGIT_THREE');
    await clock.advanceAsync(100);
    expect(platform.socket.answers[0]?.prompts?.[0]?.is_barge_in_enabled).toBe(false);
    platform.socket.sent.length = 0;
    await speak(platform);
    await pause(platform);
    expect(platform.socket.said).toEqual([]);
  });

  it('W-24: keys cut a reply, which says its FINAL before their own', async () => {
    const { platform } = await begun();
    platform.press('DTMF_DIGIT_ONE');
    await flushMicrotasks();
    platform.event('START_OF_DTMF');
    await flushMicrotasks();
    expect(platform.socket.said).toEqual(['CHUNK', 'FINAL']);
    platform.press('DTMF_DIGIT_SEVEN');
    await flushMicrotasks();
    expect(platform.socket.said).toEqual(['CHUNK', 'FINAL', 'CHUNK', 'FINAL']);
    expect(texts(platform)).toEqual([['First part.'], ['Keys 7.']]);
  });

  it('an event of the flow does not take the place of what the caller is saying or typing', async () => {
    const { platform } = await begun();
    await speak(platform);
    platform.event('CUSTOM_EVENT', { name: 'paid' });
    await flushMicrotasks();
    expect(platform.socket.said).toEqual(['START', 'CHUNK', 'FINAL']);
    await pause(platform);
    expect(platform.socket.said).toEqual(['START', 'CHUNK', 'FINAL', 'END', 'CHUNK', 'FINAL']);
    platform.event('START_OF_DTMF');
    platform.event('CUSTOM_EVENT', { name: 'moved' });
    await flushMicrotasks();
    platform.press('DTMF_DIGIT_SIX');
    await flushMicrotasks();
    expect(texts(platform)).toEqual([['Event paid.'], ['Speech.'], ['Event moved.'], ['Keys 6.']]);
  });

  it('W-32: sends sound as soon as it is there, also where the operator wants it in one file with the FINAL', async () => {
    const { platform } = await begun({ settings: { mode: 'wav' } });
    platform.press('DTMF_DIGIT_ONE');
    await flushMicrotasks();
    expect(platform.socket.said).toEqual(['CHUNK']);
    answer();
    await flushMicrotasks();
    expect(platform.socket.said.at(-1)).toBe('FINAL');
  });

  it('W-25 W-30: says as text what nobody can speak, and sends a recording as headerless pieces', async () => {
    const recorded = bot<null>({
      id: 'recorded',
      name: 'Recorded',
      version: 1,
      session_start: () =>
        go(
          null,
          play({ mulaw: new Uint8Array(24_000).fill(0x31), durationMs: 3000 })
            .say('And a text.')
            .listen(),
        ),
      otherwise: () => go(null, say('What?').listen()),
    });
    const bench = await socketBench([recorded], { voice: new FakeVoice(false) });
    const platform = bench.open();
    await platform.start();
    expect(platform.socket.said).toEqual(['CHUNK', 'CHUNK', 'FINAL']);
    expect(
      platform.socket.answers.map(({ prompts }) =>
        prompts?.map(({ text, audio_content_b64: b64 }) => text ?? Buffer.from(b64 ?? '', 'base64').length),
      ),
    ).toEqual([[16_000], [8000], ['And a text.']]);
  });

  it('nothing that is said before the welcome is input, so that the welcome is heard', async () => {
    let welcome: () => void = () => undefined;
    const slow = bot<null>({
      id: 'slow',
      name: 'Slow',
      version: 1,
      session_start: async () => {
        await new Promise<void>((resolve) => {
          welcome = resolve;
        });
        return go(null, say(LONG).listen());
      },
      otherwise: () => go(null, say('Yes?').listen()),
    });
    const bench = await socketBench([slow], { settings: { fillerAfterMs: 1000 } });
    const platform = bench.open();
    await platform.start();
    await pause(platform);
    await speak(platform);
    await pause(platform);
    expect(platform.socket.said).toEqual([]);
    await bench.clock.advanceAsync(1000);
    // The filler is not the welcome.
    expect(platform.socket.said).toEqual(['CHUNK']);
    await speak(platform);
    await pause(platform);
    welcome();
    await flushMicrotasks();
    expect(platform.socket.said.filter((word) => word !== 'CHUNK')).toEqual(['FINAL']);
    await pause(platform);
    await speak(platform);
    await pause(platform);
    expect(platform.socket.said.filter((word) => word !== 'CHUNK')).toEqual(['FINAL', 'START', 'END', 'FINAL']);
  });

  it('W-29: the farewell and the event end the call, and what comes then has no effect', async () => {
    const { platform, clock, sessions, listeners } = await begun();
    await speak(platform);
    platform.press('DTMF_DIGIT_NINE');
    await flushMicrotasks();
    await speak(platform);
    await pause(platform);
    expect(platform.socket.said).toEqual(['START', 'CHUNK', 'FINAL+SESSION_END']);
    expect([sessions.openTurns, listeners.size]).toEqual([0, 0]);
    await clock.advanceAsync(PEER_CLOSE_MS + 1000);
    expect(platform.socket.closedWith?.code).toBe(1000);
    expect(clock.pendingTimers).toBe(1);
  });

  it('W-26: the newest digits are answered however many replies were cut, and a frame that finds no turn costs no error', async () => {
    const { platform, refused } = await begun({ settings: { turnDeadlineMs: 100_000 } });
    platform.press('DTMF_DIGIT_FOUR');
    await flushMicrotasks();
    for (let count = 0; count < 20; count += 1) platform.press('DTMF_DIGIT_FIVE');
    platform.press('DTMF_DIGIT_SIX');
    const beginTurn = vi.spyOn(Session.prototype, 'beginTurn');
    platform.audio(SECOND);
    expect(beginTurn).not.toHaveBeenCalled();
    beginTurn.mockRestore();
    answer();
    await flushMicrotasks();
    expect(texts(platform).at(-1)).toEqual(['Keys 6.']);
    expect(platform.socket.said.filter((word) => word === 'FINAL')).toHaveLength(8);
    expect(refused).toEqual([]);
  });

  it('inputs that find no turn are dropped and named once, and the call goes on', async () => {
    const { platform, clock, log, refused } = await begun({ settings: { turnDeadlineMs: 100_000 } });
    platform.press('DTMF_DIGIT_FOUR');
    await flushMicrotasks();
    for (let count = 0; count < 80; count += 1) platform.press('DTMF_DIGIT_FIVE');
    platform.audio(SECOND);
    await flushMicrotasks();
    answer();
    await flushMicrotasks();
    platform.press('DTMF_DIGIT_SIX');
    await flushMicrotasks();
    expect(texts(platform).at(-1)).toEqual(['Keys 6.']);
    expect(log.lines.filter(({ level }) => level === 'warn')).toMatchObject([{ message: expect.stringContaining('dropped') as string }]);
    expect(refused).toEqual([]);
    // Nothing of those that found no turn stands in the way of what is said next.
    platform.socket.sent.length = 0;
    await clock.advanceAsync(2000);
    await speak(platform);
    expect(platform.socket.said).toEqual(['START']);
  });

  it('listens again to a caller who was reported as silent after a first key, and answers the report while one speaks', async () => {
    const { platform, clock } = await begun();
    platform.event('START_OF_DTMF');
    platform.event('NO_INPUT');
    await flushMicrotasks();
    expect(texts(platform)).toEqual([['Nothing.']]);
    await clock.advanceAsync(2000);
    await speak(platform);
    platform.event('NO_INPUT');
    await flushMicrotasks();
    await pause(platform);
    expect(texts(platform)).toEqual([['Nothing.'], ['Nothing.'], ['Speech.']]);
  });
});

describe('how a call that is ended from here ends', () => {
  it('a call that lasts too long is transferred', async () => {
    const { platform, clock } = await begun({ settings: { maxDurationMs: 120_000 } });
    await clock.advanceAsync(181_000);
    expect(platform.socket.said).toEqual(['CHUNK', 'FINAL+TRANSFER_TO_AGENT']);
    await clock.advanceAsync(10_000);
    expect(platform.socket.closedWith?.code).toBe(1000);
  });

  it('W-29: a call that lasts too long ends as the bot ends it at this moment, whoever listens beside it', async () => {
    const { platform, clock, seen } = await begun({ settings: { maxDurationMs: 120_000 } });
    await clock.advanceAsync(178_900);
    platform.press('DTMF_DIGIT_ZERO');
    await clock.advanceAsync(100);
    // The line goes on sending, on a turn of its own.
    platform.audio(SECOND);
    answer();
    await flushMicrotasks();
    expect(platform.socket.said).toEqual(['CHUNK', 'FINAL+TRANSFER_TO_AGENT']);
    expect(platform.socket.answers.at(-1)?.output_events?.[0]?.metadata).toEqual({ reason: 'vip' });
    expect(seen.filter((event) => event.startsWith('session_ended'))).toEqual(['session_ended bot_transfer']);
    await clock.advanceAsync(10_000);
    expect(platform.socket.closedWith?.code).toBe(1000);
  });
});
