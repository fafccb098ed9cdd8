import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CallClock } from '../../../../src/fake-platform/caller/call-clock.ts';
import { MAX_QUEUE_MS, Playback, type Sound } from '../../../../src/fake-platform/caller/playback.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

interface Lab {
  readonly clock: FakeClock;
  readonly playback: Playback;
  readonly seen: string[];
}

function lab(): Lab {
  const clock = new FakeClock();
  const call = new CallClock(clock);
  const seen: string[] = [];
  const playback = new Playback(call, {
    started: ({ turn, bargeIn }, gapMs) => {
      seen.push(`${String(call.nowMs())} started ${String(turn)}${bargeIn ? ' barge-in' : ''} gap ${String(gapMs)}`);
    },
    idle: () => {
      seen.push(`${String(call.nowMs())} idle`);
    },
  });
  return { clock, playback, seen };
}

function sound(turn: number, ms: number, level = 1000 + turn, bargeIn = false): Sound {
  return { turn, samples: new Int16Array(ms * 8).fill(level), bargeIn };
}

describe('the playback clock', () => {
  it('plays prompts one after the other in real time', () => {
    const { clock, playback, seen } = lab();
    playback.play(sound(1, 300, 1, true));
    playback.play(sound(1, 200));
    expect(playback.playing).toEqual({ turn: 1, bargeIn: true, turnStartMs: 0 });
    clock.advance(299);
    expect(playback.queuedMs).toBe(201);
    clock.advance(1);
    expect(playback.playing).toEqual({ turn: 1, bargeIn: false, turnStartMs: 0 });
    clock.advance(200);
    expect(playback.playing).toBeUndefined();
    expect(seen).toEqual(['0 started 1 barge-in gap 0', '300 started 1 gap 0', '500 idle']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('measures the silence between two sounds of one RPC and none between two RPCs', () => {
    const { clock, playback, seen } = lab();
    playback.play(sound(1, 100));
    clock.advance(160);
    playback.play(sound(1, 100));
    clock.advance(500);
    playback.play(sound(2, 100));
    expect(seen.filter((line) => line.includes('started'))).toEqual(['0 started 1 gap 0', '160 started 1 gap 60', '660 started 2 gap 0']);
  });

  it('knows what plays even when its timer is late', () => {
    const clock = new FakeClock();
    const lazy = { ...bound(clock), after: (delayMs: number, task: () => void) => clock.after(delayMs + 70, task) };
    const playback = new Playback(new CallClock(lazy), { started: () => undefined, idle: () => undefined });
    playback.play(sound(1, 100));
    playback.play(sound(2, 100));
    playback.play(sound(3, 100));
    clock.advance(150);
    expect(playback.playing?.turn).toBe(2);
    clock.advance(400);
    expect([...new Set(playback.heard(300))]).toEqual([1001, 1002, 1003]);
    expect(playback.heard(300).indexOf(1003)).toBe(1600);
  });

  it('G-52 cuts what is unheard of older RPCs in the middle of a sound and plays the newer ones on', () => {
    const { clock, playback } = lab();
    playback.play(sound(1, 300));
    playback.play(sound(1, 300));
    playback.play(sound(2, 100));
    clock.advance(100);
    expect(playback.cutBefore(2)).toBe(500);
    expect(playback.playing?.turn).toBe(2);
    clock.advance(100);
    const heard = playback.heard(200);
    expect([...new Set(heard.subarray(0, 800))]).toEqual([1001]);
    expect([...new Set(heard.subarray(800))]).toEqual([1002]);
    expect(playback.cutBefore(9)).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('refuses a queue of more than half an hour', () => {
    const { playback } = lab();
    expect(playback.play(sound(1, MAX_QUEUE_MS))).toBe(true);
    expect(playback.play(sound(1, 1))).toBe(false);
  });

  it('hears what plays when it is stopped up to that moment, and leaves no timer', () => {
    const { clock, playback, seen } = lab();
    playback.play(sound(1, 300));
    playback.play(sound(1, 300));
    clock.advance(50);
    playback.stop();
    expect(clock.pendingTimers).toBe(0);
    clock.advance(1000);
    expect(seen).toHaveLength(1);
    expect(playback.heard(1050).filter((sample) => sample !== 0)).toHaveLength(400);
  });

  it('keeps every sample at its place on the time axis, whatever is queued, waited and cut', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('play' as const), turn: fc.integer({ min: 1, max: 4 }), ms: fc.integer({ min: 1, max: 400 }) }),
      fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 500 }) }),
      fc.record({ kind: fc.constant('cut' as const), turn: fc.integer({ min: 1, max: 5 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const { clock, playback } = lab();
        // The reference moves ms by ms through plain lists.
        const queue: { turn: number; leftMs: number; level: number }[] = [];
        const levels: number[] = [];
        let level = 0;
        for (const one of steps) {
          if (one.kind === 'play') {
            level += 1;
            queue.push({ turn: one.turn, leftMs: one.ms, level });
            playback.play(sound(one.turn, one.ms, level));
          } else if (one.kind === 'cut') {
            queue.splice(0, queue.length, ...queue.filter((entry) => entry.turn >= one.turn));
            playback.cutBefore(one.turn);
          } else {
            for (let ms = 0; ms < one.ms; ms += 1) {
              const [head] = queue;
              levels.push(head?.level ?? 0);
              if (head !== undefined) {
                head.leftMs -= 1;
                if (head.leftMs === 0) queue.shift();
              }
            }
            clock.advance(one.ms);
          }
        }
        playback.stop();
        const heard = playback.heard(levels.length);
        expect(Array.from({ length: levels.length }, (_, ms) => heard[ms * 8])).toEqual(levels);
        expect(Array.from({ length: levels.length }, (_, ms) => heard[ms * 8 + 7])).toEqual(levels);
        expect(clock.pendingTimers).toBe(0);
      }),
    );
  });
});

function bound(clock: FakeClock): { nowMs(): number; monotonicMs(): number } {
  return { nowMs: () => clock.nowMs(), monotonicMs: () => clock.monotonicMs() };
}
