import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../../src/base/clock.ts';
import { CallClock } from '../../../../src/fake-platform/caller/call-clock.ts';
import { Microphone, type Frame } from '../../../../src/fake-platform/caller/microphone.ts';
import { decodeMulaw, encodeMulaw } from '../../../../src/speech/g711.ts';
import { tone } from '../../../support/call-lab.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { joined, silence } from '../../../support/line-signals.ts';

function lab(clock: Clock): { readonly microphone: Microphone; readonly frames: Frame[] } {
  const frames: Frame[] = [];
  const microphone = new Microphone(new CallClock(clock), (frame) => {
    frames.push(frame);
  });
  return { microphone, frames };
}

describe('the microphone', () => {
  it('G-30 gives 50 frames of 160 bytes a second, silent ones while nobody speaks', () => {
    const clock = new FakeClock();
    const { microphone, frames } = lab(clock);
    microphone.wanted = true;
    clock.advance(999);
    expect(frames).toHaveLength(50);
    expect(frames.every(({ audio, isSpeech }) => audio.length === 160 && !isSpeech && audio.every((code) => code === 0xff))).toBe(true);
    microphone.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('adds noise to silence and to speech, again and again', () => {
    const clock = new FakeClock();
    const { microphone, frames } = lab(clock);
    microphone.noise = Int16Array.from({ length: 240 }, (_, index) => (index < 120 ? 1000 : -1000));
    microphone.wanted = true;
    clock.advance(59);
    const heard = decodeMulaw(joined(...frames.map(({ audio }) => audio)));
    expect([heard.length, heard[0], heard[119], heard[120], heard[240], frames.some(({ isSpeech }) => isSpeech)]).toEqual([
      ...[480, 988, 988, -988, 988, false],
    ]);
    frames.length = 0;
    microphone.speak(encodeMulaw(Int16Array.from({ length: 160 }, () => 32_000)), () => undefined);
    clock.advance(20);
    expect(frames[0]).toMatchObject({ isSpeech: true });
    expect(new Set(decodeMulaw(frames[0]?.audio ?? new Uint8Array()))).toEqual(new Set([32_124, 31_100]));
  });

  it('keeps the pace although every timer is 7 ms late', () => {
    const clock = new FakeClock();
    const lazy: Clock = {
      nowMs: () => clock.nowMs(),
      monotonicMs: () => clock.monotonicMs(),
      after: (delayMs, task) => clock.after(delayMs + 7, task),
    };
    const { microphone, frames } = lab(lazy);
    microphone.wanted = true;
    clock.advance(10_000);
    expect(frames.length).toBeGreaterThanOrEqual(499);
    expect(frames.length).toBeLessThanOrEqual(501);
  });

  it('catches up after a stall and gives the time up after a long one', () => {
    const clock = new FakeClock();
    let lateMs = 0;
    const stalling: Clock = {
      nowMs: () => clock.nowMs(),
      monotonicMs: () => clock.monotonicMs(),
      after: (delayMs, task) => clock.after(delayMs + lateMs, task),
    };
    const { microphone, frames } = lab(stalling);
    microphone.wanted = true;
    lateMs = 1000;
    clock.advance(1000);
    lateMs = 0;
    clock.advance(100);
    expect(frames.length).toBeGreaterThanOrEqual(54);
    const before = frames.length;
    lateMs = 60_000;
    clock.advance(40);
    lateMs = 0;
    clock.advance(60_000);
    expect(frames.length - before).toBeLessThan(10);
  });

  it('gives an utterance byte for byte, padded with silence, and calls back at its last frame', () => {
    const clock = new FakeClock();
    const { microphone, frames } = lab(clock);
    const words = tone(50);
    let endMs: number | undefined;
    microphone.speak(words, () => {
      endMs = clock.monotonicMs();
    });
    clock.advance(1000);
    expect(endMs).toBe(40);
    expect(frames).toHaveLength(3);
    expect(Buffer.concat(frames.map(({ audio }) => audio))).toEqual(Buffer.from(joined(words, silence(10))));
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not count the silence at the end of an utterance as speech', () => {
    const clock = new FakeClock();
    const { microphone, frames } = lab(clock);
    microphone.speak(joined(silence(40), tone(60), silence(200)), () => undefined);
    clock.advance(1000);
    expect(frames.map(({ isSpeech }) => isSpeech)).toEqual([true, true, true, true, true, ...Array.from({ length: 10 }, () => false)]);
  });

  it('speaks whether or not anybody listens', () => {
    const clock = new FakeClock();
    const { microphone, frames } = lab(clock);
    microphone.wanted = true;
    clock.advance(10);
    microphone.speak(tone(200), () => undefined);
    microphone.wanted = false;
    clock.advance(1000);
    expect(frames.filter(({ isSpeech }) => isSpeech)).toHaveLength(10);
    expect(clock.pendingTimers).toBe(0);
  });

  it('keeps what was said at its place on the time axis, cut where it was stopped', () => {
    const clock = new FakeClock();
    const { microphone } = lab(clock);
    const words = tone(100);
    clock.advance(500);
    microphone.speak(words, () => undefined);
    clock.advance(500);
    microphone.speak(words, () => undefined);
    clock.advance(30);
    microphone.stop();
    const said = microphone.said(1200);
    expect(said.length).toBe(1200 * 8);
    expect(said.subarray(500 * 8, 600 * 8)).toEqual(decodeMulaw(words));
    expect(said.subarray(1000 * 8, 1030 * 8)).toEqual(decodeMulaw(words.subarray(0, 240)));
    expect(said.subarray(1030 * 8).some((sample) => sample !== 0)).toBe(false);
    expect(said.subarray(0, 500 * 8).some((sample) => sample !== 0)).toBe(false);
  });
});
