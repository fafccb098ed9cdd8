import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../src/bot/index.ts';
import { shownSound, viewOf } from '../../../src/recording/call-view.ts';
import type { RecordedEvent, Recording } from '../../../src/recording/recording.ts';
import { tracksOf } from '../../../src/recording/tracks.ts';
import { FRAME_SAMPLES } from '../../../src/speech/audio-format.ts';
import { encodeMulaw } from '../../../src/speech/g711.ts';
import { WHOLE_SENTENCE } from '../../support/caller-audio.ts';
import { MemoryCall } from '../../support/memory-transport.ts';
import { recordingLab } from '../../support/recording-lab.ts';

const clerk = bot<{ asked: number }>({
  id: 'clerk',
  name: 'Clerk',
  version: 3,
  session_start: () => go({ asked: 0 }, say('How can I help?').listen()),
  speech_input: ({ asked }, { text }) =>
    go({ asked: asked + 1 }, say(`You want ${text ?? 'something'}.`).listen({ digits: 4, sensitive: true })),
  dtmf_input: (state) => go(state, say('Thank you, and goodbye to you.').end('done')),
  otherwise: (state) => go(state, say('Again.').listen()),
});

const HEADER: Recording['header'] = {
  ...{ form: 1, id: 'one', version: '1.0.0', botVersion: 1, transport: 'grpc', mode: 'chunk', isTied: false, settings: {} },
  call: { organizationId: 'org', conversationId: 'call', agentId: 'bot', startedAtMs: 1000, vendorConfig: '', parameters: {} },
};

function recordingOf(events: readonly RecordedEvent[], sounds: { caller?: Uint8Array; bot?: Uint8Array } = {}): Recording {
  const { caller = new Uint8Array(), bot: botSound = new Uint8Array() } = sounds;
  return { header: HEADER, events, callerSound: caller, botSound };
}

function prompt(atMs: number, text: string, durationMs: number, from = 0): RecordedEvent {
  const sound = { from, bytes: durationMs * 8 };
  return { kind: 'output', turn: 'a', atMs, output: { kind: 'prompt', prompt: { text, durationMs, bargeIn: true, sound } } };
}

const loud = (ms: number): Uint8Array => encodeMulaw(new Int16Array(ms * 8).fill(16_000));

describe('the view of a recorded call', () => {
  it('shows the turns of a real call with their inputs, prompts, next steps and states', async () => {
    const lab = await recordingLab([clerk], { recognizer: { recognize: () => Promise.resolve('a pizza') } });
    const call = new MemoryCall(lab.sessions);
    await call.start();
    lab.clock.advance(5000);
    await call.turn(...WHOLE_SENTENCE);
    lab.clock.advance(5000);
    await call.press('1234');
    const view = viewOf(await lab.recording());
    expect(view.call).toMatchObject({
      conversationId: 'call-1',
      agentId: 'clerk',
      botVersion: 3,
      transport: 'grpc',
      durationMs: 10_000,
      end: 'bot_end',
    });
    expect(view.turns).toMatchObject([
      {
        ...{ number: 1, atMs: 0, end: 'replied', firstSoundMs: 0, next: { kind: 'listen', detail: 'both' } },
        input: { kind: 'start', completeMs: 0 },
        prompts: [{ text: 'How can I help?', startMs: 0, endMs: 150, mayBeCut: true }],
        state: { before: null, after: { asked: 0 } },
      },
      {
        ...{ number: 2, atMs: 5000, next: { kind: 'listen', detail: 'both, 4 digits, sensitive' } },
        input: { kind: 'speech', text: 'a pizza' },
        prompts: [{ isWithheld: true, startMs: 5000, endMs: 5170 }],
      },
      { number: 3, input: { kind: 'keys', isWithheld: true }, prompts: [{ isWithheld: true }], next: { kind: 'end' } },
    ]);
    expect(view.turns[1]).not.toHaveProperty('state');
    expect(view.events.map(({ event, from }) => [event, from])).toContainEqual(['dtmf', 'caller']);
    expect(JSON.stringify(view)).not.toContain('1234');
  });

  it('cuts prompts at a barge-in, and says what was heard', () => {
    const view = viewOf(
      recordingOf([
        { kind: 'turn_opened', atMs: 0, turn: 'a', opensWith: 'start' },
        prompt(100, 'One two three four.', 2000),
        prompt(100, 'Five six.', 1000),
        { kind: 'fact', atMs: 1100, turn: 'b', event: 'barge_in', details: { by: 'speech', heardMs: 1000 } },
        prompt(3000, 'Seven.', 500),
      ]),
    );
    expect(view.turns[0]?.prompts.map(({ startMs, endMs }) => [startMs, endMs])).toEqual([
      [100, 1100],
      [1100, 1100],
      [3000, 3500],
    ]);
    expect(view.turns[0]?.prompts.map(({ unheardMs }) => unheardMs)).toEqual([1000, 1000, undefined]);
    expect(view.turns[0]?.bargeIn).toEqual({
      atMs: 1100,
      by: 'speech',
      heardMs: 1000,
      heard: 'One two three Seven.',
      unheard: 'four. Five six.',
    });
  });

  it('shows facts of the engine: parts of the time to a reply, errors, durations', () => {
    const parts = { endpointingMs: 500, recognitionMs: 20, botMs: 3, modelMs: 400, toolsMs: 0, synthesisMs: 90, engineMs: 1 };
    const view = viewOf(
      recordingOf([
        { kind: 'turn_opened', atMs: 0, turn: 'a', opensWith: 'input' },
        { kind: 'fact', atMs: 1, turn: 'a', event: 'answer_parts', details: parts },
        { kind: 'fact', atMs: 2, turn: 'a', event: 'bot_answered', details: { tookMs: 7 } },
        { kind: 'fact', atMs: 3, turn: 'a', event: 'bot_failed', details: { code: 'bot_failed' } },
      ]),
    );
    expect(view.turns[0]).toMatchObject({ parts, error: { code: 'bot_failed', message: 'bot_failed' } });
    expect(view.events).toContainEqual({ atMs: 2, turn: 1, from: 'bot', event: 'bot_answered', ms: 7 });
  });

  it('has the sound of both sides where it was heard, and their peaks', () => {
    const caller = Buffer.concat([loud(20), loud(20)]);
    const frame = (atMs: number, from: number): RecordedEvent => ({ kind: 'audio', atMs, turn: 'a', from, bytes: 160 });
    const recording = recordingOf([frame(20, 0), prompt(100, 'Hi.', 40), frame(1000, 160)], { caller, bot: loud(40) });
    const tracks = tracksOf(recording);
    expect(tracks.caller).toHaveLength(tracks.bot.length);
    const loudFrames = (base64: string): readonly number[] =>
      [...Buffer.from(base64, 'base64').entries()].flatMap(([at, peak]) => (peak > 100 ? [at] : []));
    const sound = shownSound(recording, (samples, side) => `${side} ${String(samples.length / FRAME_SAMPLES)}`);
    expect(loudFrames(sound.caller?.peaks ?? '')).toEqual([0, 49]);
    expect(loudFrames(sound.bot?.peaks ?? '')).toEqual([5, 6]);
    expect(sound.caller?.href).toBe('caller 50');
  });

  it('takes a call of an hour in a moment', () => {
    const frames = 180_000;
    const events = Array.from({ length: frames }, (_, index): RecordedEvent => ({
      kind: 'audio',
      atMs: 20 * index,
      turn: `t${String(index >> 9)}`,
      from: 0,
      bytes: 160,
    }));
    const turns = Array.from({ length: frames >> 9 }, (_, index): RecordedEvent => ({
      kind: 'turn_opened',
      atMs: 0,
      turn: `t${String(index)}`,
      opensWith: 'nothing',
    }));
    const began = process.cpuUsage();
    expect(viewOf(recordingOf([...turns, ...events], { caller: loud(20) })).turns).toHaveLength(turns.length);
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(1500);
  });
});
