import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Playback } from '../../../src/session/heard.ts';

describe('the playback clock', () => {
  it('G-22 plays prompts one after the other', () => {
    const playback = new Playback();
    playback.queued(1000, true, 0);
    playback.queued(500, false, 100);
    expect([playback.isProtected(999), playback.isProtected(1000), playback.isProtected(1499), playback.isProtected(1500)]).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect([playback.isPlaying(1499), playback.isPlaying(1500)]).toEqual([true, false]);
  });

  it('counts what was heard from the start of the first prompt', () => {
    const playback = new Playback();
    playback.queued(1000, true, 5000);
    expect(playback.cut(5600)).toBe(600);
    expect(playback.isPlaying(5601)).toBe(false);
    expect(playback.cut(5700)).toBe(0);
  });

  it('starts anew when everything was played', () => {
    const playback = new Playback();
    playback.queued(1000, false, 0);
    playback.queued(1000, true, 5000);
    expect(playback.isProtected(5001)).toBe(false);
    expect(playback.cut(5500)).toBe(500);
  });

  it('plays for exactly as long as its prompts together, whatever they are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ ms: fc.integer({ min: 1, max: 5000 }), bargeIn: fc.boolean() }), { minLength: 1, maxLength: 8 }),
        (prompts) => {
          const playback = new Playback();
          const totalMs = prompts.reduce((sum, prompt) => sum + prompt.ms, 0);
          for (const { ms, bargeIn } of prompts) playback.queued(ms, bargeIn, 0);
          expect(playback.isPlaying(totalMs - 1)).toBe(true);
          expect(playback.isPlaying(totalMs)).toBe(false);
          let startMs = 0;
          for (const { ms, bargeIn } of prompts) {
            expect(playback.isProtected(startMs)).toBe(!bargeIn);
            startMs += ms;
          }
        },
      ),
    );
  });
});
