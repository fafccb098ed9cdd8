// Recorded calls for people who look at one.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger } from '../../../src/base/log.ts';
import { bot, go, say } from '../../../src/bot/index.ts';
import { RecordedCalls } from '../../../src/recording/recorded-calls.ts';
import { readWav } from '../../../src/speech/wav.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { MemoryCall } from '../../support/memory-transport.ts';
import { RECORDING_KEY, recordingLab, recordingsFolder } from '../../support/recording-lab.ts';
import { until } from '../../support/until.ts';

const GREETER = bot<object>({
  ...{ id: 'greeter', name: 'Greeter', version: 1 },
  session_start: () => go({}, say('Hello.').listen()),
  otherwise: (state) => go(state, say('Hello.').listen()),
});

function open(folder: string, key = RECORDING_KEY) {
  const clock = new FakeClock();
  const calls = new RecordedCalls({ folder, keys: [key], clock, log: createLogger({ level: 'silent' }) });
  onTestFinished(() => {
    calls.close();
  });
  return { calls, clock };
}

describe('the recorded calls of a folder', () => {
  it('are found by conversation id, with both sides to hear', async () => {
    const lab = await recordingLab([GREETER]);
    await new MemoryCall(lab.sessions).start();
    const { header } = await lab.recording();
    const { calls } = open(lab.path);
    const parts = await calls.find(header.call.conversationId);
    if (parts === 'busy') throw new Error(parts);
    expect(parts?.view.call).toMatchObject({ agentId: 'greeter' });
    expect(parts?.view.sound.bot?.href).toBe(`../api/calls/${header.call.conversationId}/sound/bot`);
    for (const wav of [parts?.caller, parts?.bot]) expect(readWav(wav ?? new Uint8Array()).sampleRateHz).toBe(8000);
    // Its page asks for the sound in parts: the recording is read once.
    expect(calls.find(header.call.conversationId)).toBe(calls.find(header.call.conversationId));
  });

  it('are read again while they have no end, and the last three are kept', async () => {
    const lab = await recordingLab([GREETER]);
    for (const conversationId of ['a', 'b', 'c', 'd']) {
      const call = new MemoryCall(lab.sessions, { conversationId });
      await call.start();
      if (conversationId !== 'd') await call.hangUp();
    }
    await lab.recorder.written();
    const { calls } = open(lab.path);
    const read = new Map<string, Promise<unknown>>();
    for (const conversationId of ['a', 'b', 'c']) {
      read.set(conversationId, calls.find(conversationId));
      await read.get(conversationId);
    }
    expect(calls.find('a')).toBe(read.get('a'));
    const goesOn = calls.find('d');
    expect(await goesOn).toMatchObject({ view: { call: { conversationId: 'd' } } });
    await lab.sessions.close(0);
    await lab.recorder.close();
    expect(await calls.find('d')).toMatchObject({ view: { call: { end: 'shutdown' } } });
    expect(calls.find('a')).toBe(read.get('a'));
    expect(calls.find('b')).not.toBe(read.get('b'));
  });

  it('are none where there is no recording, or another key', async () => {
    expect(await open(recordingsFolder()).calls.find('conv')).toBeUndefined();
    const lab = await recordingLab([GREETER]);
    await new MemoryCall(lab.sessions).start();
    const { header } = await lab.recording();
    expect(await open(lab.path, Buffer.alloc(32, 8)).calls.find(header.call.conversationId)).toBeUndefined();
  });

  it('are forgotten after a minute, and cannot be read once it is closed', async () => {
    const { calls, clock } = open(recordingsFolder());
    const first = calls.find('conv');
    await first;
    clock.advance(60_000);
    const second = calls.find('conv');
    expect(second).not.toBe(first);
    calls.close();
    expect(await second).toBe('busy');
    expect(await calls.find('other')).toBe('busy');
    expect(clock.pendingTimers).toBe(0);
  });

  it('cannot be read for a while when the disk hangs, which holds no thread of this process and no more than one other', async () => {
    const folder = recordingsFolder();
    // Opening it waits for somebody who writes.
    execFileSync('mkfifo', [path.join(folder, '20261128T000000-00000001.parley-call')]);
    const { calls, clock } = open(folder);
    const [first, second] = [calls.find('one'), calls.find('two')];
    expect(await calls.find('three')).toBe('busy');
    clock.advance(20_000);
    expect(await Promise.all([first, second])).toEqual(['busy', 'busy']);
    rmSync(folder, { recursive: true });
    await until('the process that hung is gone', async () => (await calls.find('four')) === undefined);
  });
});
