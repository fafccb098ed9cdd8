import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../src/bot/index.ts';
import type { Input } from '../../../src/dialog/input.ts';
import { readRecording } from '../../../src/recording/read-recording.ts';
import { WHOLE_SENTENCE } from '../../support/caller-audio.ts';
import { MemoryCall } from '../../support/memory-transport.ts';
import { eventsOf, RECORDING_KEY, recordingLab } from '../../support/recording-lab.ts';

const clerk = bot<{ asked: number }>({
  id: 'clerk',
  name: 'Clerk',
  version: 3,
  session_start: () => go({ asked: 0 }, say('How can I help?').listen()),
  speech_input: ({ asked }, { text }) => go({ asked: asked + 1 }, say(`You want ${text ?? 'something'}.`).listen()),
  otherwise: (state) => go(state, say('Goodbye.').end('done')),
});
const recognizer = { recognize: () => Promise.resolve('a pizza') };

function silence(frames: number): readonly Input[] {
  return Array.from({ length: frames }, () => ({ kind: 'audio', audio: new Uint8Array(160).fill(0xff) }));
}

describe('the recording of a call', () => {
  it('has what the caller did, what the bot answered, and the sound of both', async () => {
    const lab = await recordingLab([clerk], { recognizer });
    const call = new MemoryCall(lab.sessions, { vendorConfig: 'secret', parameters: { pin: 'secret' } });
    await call.start();
    lab.clock.advance(5000);
    await call.turn(...WHOLE_SENTENCE);
    lab.clock.advance(5000);
    const last = await call.turn({ kind: 'no_input' });
    expect(last.next).toMatchObject({ kind: 'end' });
    const recording = await lab.recording();
    const { header, events, callerSound, botSound } = recording;

    expect(header).toMatchObject({ form: 1, version: '1.0.0', botVersion: 3, transport: 'grpc', mode: 'chunk', isTied: false });
    expect(header.call).toMatchObject({ conversationId: 'call-1', agentId: 'clerk', vendorConfig: '', parameters: {} });
    expect(eventsOf(recording, 'turn_opened').map(({ atMs, opensWith, turn }) => [atMs, opensWith, turn])).toEqual([
      [0, 'start', 'call-1#1'],
      [5000, 'nothing', 'call-1#2'],
      [10_000, 'input', 'call-1#3'],
    ]);
    expect(eventsOf(recording, 'input').map(({ input }) => input.kind)).toEqual(['session_start', 'no_input']);
    expect(eventsOf(recording, 'words').map(({ text }) => text)).toEqual(['a pizza']);
    expect(eventsOf(recording, 'state').map(({ state }) => state)).toEqual([{ asked: 0 }, { asked: 1 }, { asked: 1 }]);
    expect(eventsOf(recording, 'turn_closed').map(({ end }) => end)).toEqual(['replied', 'replied', 'replied']);
    expect(events.at(-1)).toMatchObject({ kind: 'turn_closed' });
    expect(eventsOf(recording, 'ended').map(({ end }) => end)).toEqual(['bot_end']);

    const frames = WHOLE_SENTENCE.flatMap((input) => (input.kind === 'audio' ? [input] : []));
    const audio = eventsOf(recording, 'audio');
    expect(audio.map(({ bytes, encoding }) => [bytes, encoding])).toEqual(
      frames.map(({ audio: { length }, encoding }) => [length, encoding]),
    );
    expect(Buffer.from(callerSound).equals(Buffer.concat(frames.map((frame) => frame.audio)))).toBe(true);

    const prompts = eventsOf(recording, 'output').flatMap(({ output }) => (output.kind === 'prompt' ? [output.prompt] : []));
    expect(prompts.map(({ text }) => text)).toEqual(['How can I help?', 'You want a pizza.', 'Goodbye.']);
    for (const { sound, durationMs } of prompts) {
      if (sound === undefined || 'withheld' in sound) throw new Error('a prompt has a sound');
      expect(sound.bytes).toBe(durationMs * 8);
      expect(botSound.subarray(sound.from, sound.from + sound.bytes).every((byte) => byte === 0x55)).toBe(true);
    }
    expect(lab.told).toEqual(['whole']);
  });

  it('stores the sound of a prompt once, however often it is played', async () => {
    const again = () => go(null, say('Again.').listen());
    const parrot = bot<null>({ id: 'parrot', name: 'Parrot', version: 1, session_start: again, otherwise: again });
    const lab = await recordingLab([parrot]);
    const call = new MemoryCall(lab.sessions);
    await call.start();
    for (const digits of ['1', '2', '3']) await call.press(digits);
    const { botSound } = await lab.recording();
    expect(botSound).toHaveLength('Again.'.length * 80);
  });

  it('keeps the parameters that the operator names, and no others', async () => {
    const lab = await recordingLab([clerk], {}, { parameters: ['language'] });
    const parameters = { language: 'en', pin: '4711' };
    const call = new MemoryCall(lab.sessions, { parameters });
    await call.turn({ kind: 'session_start', name: 'start', parameters });
    await call.turn({ kind: 'custom_event', name: 'more', parameters });
    const recording = await lab.recording();
    expect(recording.header.call.parameters).toEqual({ language: 'en' });
    expect(eventsOf(recording, 'input').map(({ input }) => input)).toMatchObject([
      { kind: 'session_start', parameters: { language: 'en' } },
      { kind: 'custom_event', name: 'more', parameters: { language: 'en' } },
    ]);
    expect(JSON.stringify(recording)).not.toContain('4711');
  });

  it('is cut at the limit of its bytes, and the call goes on', async () => {
    const lab = await recordingLab([clerk], { recognizer }, { maxCallBytes: 50_000 });
    const call = new MemoryCall(lab.sessions);
    await call.start();
    await call.turn(...silence(1000));
    expect((await call.turn(...WHOLE_SENTENCE)).texts).toEqual(['You want a pizza.']);
    const recording = await lab.recording();
    expect(eventsOf(recording, 'fact').map(({ event }) => event)).toEqual(['recording_full']);
    expect(eventsOf(recording, 'ended')).toEqual([]);
    expect(lab.told).toEqual(['cut']);
  });

  it('ends with a defect of the recorder, and the call does not notice', async () => {
    const lab = await recordingLab([clerk], {}, { parameters: ['language'] });
    const call = new MemoryCall(lab.sessions);
    await call.start();
    const parameters = {
      get language(): string {
        throw new Error('no value');
      },
    };
    const sink = await call.turn({ kind: 'custom_event', name: 'more', parameters });
    expect(sink.texts).toEqual(['Goodbye.']);
    expect(lab.lines).toMatchObject([{ level: 'error', message: 'the recording of a call failed' }]);
    expect(lab.told).toEqual(['cut']);
  });

  it('is written piece by piece while the call goes on', async () => {
    const lab = await recordingLab([clerk], { recognizer });
    const call = new MemoryCall(lab.sessions);
    await call.start();
    const { turn } = await call.open();
    for (const frame of silence(1000)) turn.push(frame);
    await lab.recorder.written();
    const recording = readRecording(lab.file(), [RECORDING_KEY]);
    expect(recording.callerSound.length).toBeGreaterThan(100_000);
    expect(eventsOf(recording, 'ended')).toEqual([]);
  });
});
