// Recorded calls for people who look at one.
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger } from '../../../src/base/log.ts';
import { bot, go, say } from '../../../src/bot/index.ts';
import { RecordedCalls } from '../../../src/recording/recorded-calls.ts';
import { readWav } from '../../../src/speech/wav.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { MemoryCall } from '../../support/memory-transport.ts';
import { RECORDING_KEY, recordingLab, recordingsFolder } from '../../support/recording-lab.ts';

const GREETER = bot<object>({
  ...{ id: 'greeter', name: 'Greeter', version: 1 },
  session_start: () => go({}, say('Hello.').listen()),
  otherwise: (state) => go(state, say('Hello.').listen()),
});

function open(folder: string, key = RECORDING_KEY) {
  const clock = new FakeClock();
  const calls = new RecordedCalls({ folder, keys: [key], clock, log: createLogger({ level: 'silent' }) });
  onTestFinished(() => calls.close());
  return { calls, clock };
}

describe('the recorded calls of a folder', () => {
  it('are found by conversation id, with both sides to hear', async () => {
    const lab = await recordingLab([GREETER]);
    await new MemoryCall(lab.sessions).start();
    const { header } = await lab.recording();
    const { calls } = open(lab.path);
    const parts = await calls.find(header.call.conversationId);
    expect(parts?.view.call).toMatchObject({ agentId: 'greeter' });
    expect(parts?.view.sound.bot?.href).toBe(`../api/calls/${header.call.conversationId}/sound/bot`);
    for (const wav of [parts?.caller, parts?.bot]) expect(readWav(wav ?? new Uint8Array()).sampleRateHz).toBe(8000);
    // Its page asks for the sound in parts: the recording is read once.
    expect(calls.find(header.call.conversationId)).toBe(calls.find(header.call.conversationId));
  });

  it('are none where there is no recording, or another key', async () => {
    expect(await open(recordingsFolder()).calls.find('conv')).toBeUndefined();
    const lab = await recordingLab([GREETER]);
    await new MemoryCall(lab.sessions).start();
    const { header } = await lab.recording();
    expect(await open(lab.path, Buffer.alloc(32, 8)).calls.find(header.call.conversationId)).toBeUndefined();
  });

  it('are forgotten after a minute, and are none once it is closed', async () => {
    const { calls, clock } = open(recordingsFolder());
    const first = calls.find('conv');
    await first;
    clock.advance(60_000);
    const second = calls.find('conv');
    expect(second).not.toBe(first);
    const closed = calls.close();
    expect(await second).toBeUndefined();
    expect(await calls.find('other')).toBeUndefined();
    await closed;
    expect(clock.pendingTimers).toBe(0);
  });

  it('are read one after another, and not more than a few wait', async () => {
    const { calls } = open(recordingsFolder());
    const all = Array.from({ length: 20 }, (_, index) => calls.find(`conv-${String(index)}`));
    await calls.close();
    expect(await Promise.all(all)).toEqual(all.map(() => undefined));
  });
});
