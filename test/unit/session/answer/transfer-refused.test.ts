// What a caller hears who gets no session (U-06), and what the log names a turn by (P-02).
import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../../src/bot/index.ts';
import type { PromptAudio } from '../../../../src/dialog/output.ts';
import { refusedCall, refusedStream } from '../../../../src/session/admission.ts';
import { logIds } from '../../../../src/session/log-ids.ts';
import type { PromptVoice, Sound } from '../../../../src/session/ports.ts';
import { transferRefused } from '../../../../src/session/answer/transfer-refused.ts';
import { testEngine, TEST_SETTINGS } from '../../../support/engine.ts';
import { FakeClock, flushMicrotasks } from '../../../support/fake-clock.ts';
import { MemorySink } from '../../../support/memory-transport.ts';

const READY: PromptAudio = { mulaw: new Uint8Array(800).fill(0x55), durationMs: 100 };

async function* streamed(): AsyncGenerator<PromptAudio> {
  yield await Promise.resolve(READY);
}

/** A voice that has this sound for every prompt, and the signals it was given. */
function voiceOf(sound: Sound | Promise<Sound>): PromptVoice & { readonly signals: AbortSignal[] } {
  const signals: AbortSignal[] = [];
  return {
    canSpeak: true,
    signals,
    render: (_prompt, signal) => {
      signals.push(signal);
      return sound;
    },
    late: () => undefined,
  };
}

describe('a call that gets no session', () => {
  it.each([
    ['is spoken when it is ready', READY, READY],
    ['travels as text when it is still being made', Promise.resolve(READY), undefined],
    ['travels as text when it comes in pieces', streamed(), undefined],
    ['travels as text when nobody can speak it', undefined, undefined],
  ])('gets a line that %s, and that nobody can cut', (_how, sound, audio) => {
    const sink = new MemorySink();
    const parts = { settings: TEST_SETTINGS, voice: voiceOf(sound), clock: new FakeClock() };
    transferRefused(sink, refusedCall('memory'), parts, false, new AbortController().signal);
    expect(sink.outputs).toMatchObject([
      { kind: 'final', mode: 'wav', prompts: [{ audio, text: TEST_SETTINGS.lines.transfer, bargeIn: false }], next: { kind: 'transfer' } },
    ]);
    expect(sink.end).toBe('complete');
  });

  it('G-40 G-7A hears it as its call has begun, and is transferred when it was heard', async () => {
    const sink = new MemorySink();
    const clock = new FakeClock();
    const settings = { ...TEST_SETTINGS, maxFarewellMs: 10_000 };
    transferRefused(sink, refusedCall('store'), { settings, voice: voiceOf(READY), clock }, true, new AbortController().signal);
    await clock.advanceAsync(READY.durationMs - 1);
    expect(sink.outputs).toEqual([{ kind: 'prompt', prompt: { audio: READY, text: settings.lines.transfer, bargeIn: false } }]);
    await clock.advanceAsync(1);
    expect(sink.outputs.slice(1)).toMatchObject([{ kind: 'final', mode: 'chunk', prompts: [], next: { kind: 'transfer' } }]);
    expect(sink.end).toBe('complete');
  });

  it('G-40 gets its line as text where its call has begun and the sound is not ready', async () => {
    const sink = new MemorySink();
    const parts = { settings: TEST_SETTINGS, voice: voiceOf(undefined), clock: new FakeClock() };
    transferRefused(sink, refusedCall('store'), parts, true, new AbortController().signal);
    await flushMicrotasks();
    expect(sink.outputs).toMatchObject([
      { kind: 'final', mode: 'chunk', prompts: [{ audio: undefined, text: TEST_SETTINGS.lines.transfer }], next: { kind: 'transfer' } },
    ]);
  });

  it('is not kept by its line when the process has no time left', async () => {
    const sink = new MemorySink();
    const stop = new AbortController();
    const settings = { ...TEST_SETTINGS, maxFarewellMs: 10_000 };
    const clock = new FakeClock();
    transferRefused(sink, refusedCall('store'), { settings, voice: voiceOf(READY), clock }, true, stop.signal);
    stop.abort('shutdown');
    await flushMicrotasks();
    expect([sink.end, clock.pendingTimers]).toEqual(['complete', 0]);
  });

  it('lets its line be made no longer than the process lives', async () => {
    const voice = voiceOf(Promise.resolve(READY));
    const plain = bot<null>({
      id: 'plain',
      name: 'Plain',
      version: 1,
      session_start: () => go(null, say('Hi.').listen()),
      otherwise: () => go(null, say('Yes?').listen()),
    });
    const { sessions } = await testEngine([plain], { voice });
    sessions.transferRefused(new MemorySink(), refusedCall('total'), { organizationId: 'org', conversationId: '1' });
    expect(voice.signals.map(({ aborted }) => aborted)).toEqual([false]);
    await sessions.close(0);
    expect(voice.signals.map(({ reason }) => reason as unknown)).toEqual(['shutdown']);
  });
});

describe('a stream for which there is no place', () => {
  it('is refused as overloaded, with the reason', () => {
    expect(refusedStream()).toMatchObject({ code: 'overloaded', details: { reason: 'streams' } });
  });
});

describe('what the log names a turn by', () => {
  const call = { organizationId: 'org', conversationId: 'call-1', agentId: 'a', startedAtMs: 0, vendorConfig: '', parameters: {} };

  it('P-02 holds the tracking id of the platform where there is one', () => {
    const ids = { conversationId: 'call-1', organizationId: 'org', turnId: 'call-1#1' };
    expect(logIds(call, { id: 'call-1#1', trackingId: 'track-1' })).toStrictEqual({ ...ids, trackingId: 'track-1' });
    expect(logIds(call, { id: 'call-1#1' })).toStrictEqual(ids);
  });
});
