import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SpokenPrompt } from '../../../../src/dialog/output.ts';
import { Playback } from '../../../../src/session/playout/playout.ts';

function prompt(durationMs: number, bargeIn = true, text?: string): SpokenPrompt {
  return { audio: { mulaw: new Uint8Array(durationMs * 8).fill(0x55), durationMs }, text, bargeIn };
}

describe('the playback clock', () => {
  it('G-22 plays prompts one after the other', () => {
    const playback = new Playback();
    playback.queued(prompt(1000, true), 0);
    playback.queued(prompt(500, false), 100);
    expect([999, 1000, 1499, 1500].map((atMs) => playback.isProtected(atMs))).toEqual([false, true, true, false]);
    expect([playback.isPlaying(1499), playback.isPlaying(1500)]).toEqual([true, false]);
    expect([playback.remainingMs(0), playback.remainingMs(1400), playback.remainingMs(2000)]).toEqual([1500, 100, 0]);
  });

  it('G-52 counts what was heard of a reply up to the cut', () => {
    const playback = new Playback();
    playback.queued(prompt(1000, true, 'Please press one now.'), 5000);
    expect(playback.cut(5600).heard).toEqual({ complete: false, ms: 600, text: 'Please press' });
    expect(playback.isPlaying(5601)).toBe(false);
    expect(playback.heard(9000)).toEqual({ complete: false, ms: 600, text: 'Please press' });
  });

  it('says in whole milliseconds what was heard, by a clock that has fractions, and never more than it was', () => {
    const playback = new Playback();
    playback.queued(prompt(1000, true, 'Hello.'), 0.25);
    expect([playback.heard(600.75).ms, playback.heard(601.125).ms, playback.heardWhenComplete(601.3).ms]).toEqual([600, 600, 601]);
    expect(playback.cut(700.9).heard.ms).toBe(700);
    expect(playback.heard(9000).ms).toBe(700);
  });

  it('says that all was heard once everything was played', () => {
    const playback = new Playback();
    playback.queued(prompt(1000, true, 'Hello.'), 0);
    playback.queued(prompt(500, true, 'How are you?'), 0);
    expect(playback.heard(1499)).toMatchObject({ complete: false, ms: 1499 });
    expect(playback.heard(1500)).toEqual({ complete: true, ms: 1500, text: 'Hello. How are you?' });
    expect(playback.heard(60_000)).toEqual({ complete: true, ms: 1500, text: 'Hello. How are you?' });
  });

  it('begins anew with the next reply, behind what is still playing', () => {
    const playback = new Playback();
    playback.queued(prompt(1000, false, 'Old.'), 0);
    playback.begin(400);
    playback.queued(prompt(1000, true, 'New.'), 400);
    expect([playback.isProtected(999), playback.isProtected(1000)]).toEqual([true, false]);
    expect(playback.heard(2000)).toEqual({ complete: true, ms: 2000, text: 'Old. New.' });
    playback.begin(2000);
    expect(playback.heard(2000)).toEqual({ complete: true, ms: 0, text: '' });
  });

  it('forgets a cut when the next reply begins', () => {
    const playback = new Playback();
    playback.queued(prompt(1000), 0);
    playback.cut(100);
    playback.begin(200);
    playback.queued(prompt(1000, true, 'Again.'), 200);
    expect(playback.heard(1200)).toEqual({ complete: true, ms: 1000, text: 'Again.' });
  });

  it('says that a reply was not heard whole when prompts of it were dropped', () => {
    const playback = new Playback();
    playback.begin(0);
    playback.queued(prompt(100), 0);
    playback.dropped();
    expect(playback.heard(100)).toMatchObject({ complete: false, ms: 100 });
    playback.cut(100);
    expect(playback.heard(200)).toMatchObject({ complete: false, ms: 100 });
  });

  it('says after a cut of nothing that prompts dropped later were not heard', () => {
    const playback = new Playback();
    playback.cut(100);
    playback.dropped();
    expect(playback.heard(200)).toEqual({ complete: false, ms: 0, text: '' });
  });

  it('says that nothing was heard of a reply that was never handed over, and again what was heard of the one before it when there is none', () => {
    const playback = new Playback();
    playback.queued(prompt(1000, true, 'Hello.'), 0);
    const [whole, nothing] = [
      { complete: true, ms: 1000, text: 'Hello.' },
      { complete: false, ms: 0, text: '' },
    ];
    playback.cut(2000);
    playback.dropped(false);
    expect([playback.heard(2000), playback.cut(2100).heard]).toEqual([nothing, nothing]);
    playback.unspoken(false);
    expect(playback.heard(2200)).toEqual(whole);
    playback.unspoken(true);
    playback.dropped(false);
    playback.unspoken(false);
    expect(playback.heard(2300)).toEqual(nothing);
    playback.begin(2400);
    playback.queued(prompt(1000, true, 'Hello.'), 2400);
    expect(playback.heard(3400)).toEqual(whole);
  });

  it('takes over from another process that nothing was heard, and that something was', () => {
    const [here, there] = [new Playback(), new Playback()];
    here.unspoken(true);
    there.told(here.tell(0), 0);
    expect(there.heard(0)).toEqual({ complete: false, ms: 0, text: '' });
    here.begin(100);
    there.unspoken(true);
    there.told(here.tell(100), 100);
    expect(there.heard(100)).toEqual({ complete: true, ms: 0, text: '' });
  });

  it('keeps its own sound when it is told what it has told itself', () => {
    const playback = new Playback();
    playback.queued(prompt(1000, true, 'Hello.'), 0);
    expect(playback.told(playback.tell(100), 300)).toBe(false);
    const { isToldOf, rest } = playback.cut(900);
    // Otherwise the reply could not go on here when what cut it was no speech.
    expect([isToldOf, rest[0]?.audio?.durationMs]).toEqual([false, 500]);
  });

  it('counts a text without sound as heard when its turn comes', () => {
    const playback = new Playback();
    playback.queued(prompt(100, true, 'Sound.'), 0);
    playback.queued({ audio: undefined, text: 'Text.', bargeIn: true }, 0);
    expect(playback.heard(99)).toMatchObject({ complete: false, text: 'Sound.' });
    expect(playback.heard(100)).toMatchObject({ complete: true, text: 'Sound. Text.' });
  });

  it('takes pieces of one prompt for one prompt', () => {
    const playback = new Playback();
    playback.queued(prompt(200, true, 'one two three four'), 0);
    playback.extended({ mulaw: new Uint8Array(1600), durationMs: 200 }, 150);
    expect(playback.remainingMs(0)).toBe(400);
    // The second piece came late: it begins when it is there.
    playback.extended({ mulaw: new Uint8Array(1600), durationMs: 200 }, 1000);
    expect(playback.remainingMs(1000)).toBe(200);
    expect(playback.heard(1200)).toMatchObject({ complete: true, text: 'one two three four' });
  });

  it('counts no silence between the pieces of a prompt as heard', () => {
    const late = () => {
      const playback = new Playback();
      playback.queued(prompt(200, true, 'one two three four'), 0);
      playback.extended({ mulaw: new Uint8Array(8000).fill(1), durationMs: 1000 }, 5000);
      return playback;
    };
    expect([100, 200, 4999, 5000, 5400, 6000].map((atMs) => late().heard(atMs).ms)).toEqual([100, 200, 200, 200, 600, 1200]);
    expect(late().heard(5400)).toEqual({ complete: false, ms: 600, text: 'one two three' });
    const cut = late().cut(5400);
    // 600 ms of sound were heard, and 400 of them come again.
    expect(cut.rest[0]).toMatchObject({ skippedMs: 200, audio: { durationMs: 1000 } });
    expect(cut.rest[0]?.audio?.mulaw.every((code) => code === 1)).toBe(true);
    const next = late();
    next.queued(prompt(100, true, 'five'), 5000);
    expect(next.cut(6050).before).toEqual({ ms: 1200, text: 'one two three four' });
  });

  it('leaves of a cut prompt what was not heard, from a little before the cut', () => {
    const playback = new Playback();
    playback.queued(prompt(1000, true, 'a'), 0);
    playback.queued(prompt(300, true, 'b'), 0);
    const { rest } = playback.cut(900);
    expect(rest.map(({ audio, text }) => [audio?.durationMs, text])).toEqual([
      [500, 'a'],
      [300, 'b'],
    ]);
    expect(new Playback().cut(0).rest).toEqual([]);
  });

  it('leaves a text without sound as it is', () => {
    const playback = new Playback();
    playback.queued(prompt(1000, true, 'a'), 0);
    playback.queued({ audio: undefined, text: 'b', bargeIn: true }, 0);
    expect(playback.cut(900).rest.at(-1)).toMatchObject({ audio: undefined, text: 'b' });
  });

  it('counts what goes on after a cut as part of the same reply', () => {
    const playback = new Playback();
    playback.queued(prompt(1000, true, 'Hello.'), 0);
    playback.queued(prompt(1000, true, 'one two three four five'), 0);
    const cut = playback.cut(1800);
    expect(cut.heard).toEqual({ complete: false, ms: 1800, text: 'Hello. one two three four' });
    playback.resume(cut, 5000);
    for (const rest of cut.rest) playback.queued(rest, 5000);
    expect(playback.remainingMs(5000)).toBe(600);
    expect(playback.heard(5100)).toEqual({ complete: false, ms: 1500, text: 'Hello. one two three' });
    expect(playback.heard(5600)).toEqual({ complete: true, ms: 2000, text: 'Hello. one two three four five' });
    const again = playback.cut(5500);
    playback.resume(again, 9000);
    for (const rest of again.rest) playback.queued(rest, 9000);
    expect(playback.heard(9500)).toEqual({ complete: true, ms: 2000, text: 'Hello. one two three four five' });
    playback.begin(9500);
    expect(playback.heard(9500)).toEqual({ complete: true, ms: 0, text: '' });
  });

  it('leaves of a prompt in pieces the pieces that were not heard', () => {
    const playback = new Playback();
    playback.queued(prompt(500, true, 'a'), 0);
    playback.extended({ mulaw: new Uint8Array(4000).fill(1), durationMs: 500 }, 0);
    const [rest] = playback.cut(700).rest;
    expect(rest?.audio?.durationMs).toBe(700);
    expect(rest?.audio?.mulaw.subarray(-4000).every((code) => code === 1)).toBe(true);
  });

  it('plays for exactly as long as its prompts together, whatever they are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ ms: fc.integer({ min: 1, max: 5000 }), bargeIn: fc.boolean() }), { minLength: 1, maxLength: 8 }),
        fc.nat(40_000),
        (prompts, atMs) => {
          const playback = new Playback();
          const totalMs = prompts.reduce((sum, { ms }) => sum + ms, 0);
          for (const { ms, bargeIn } of prompts) playback.queued(prompt(ms, bargeIn, 'some words'), 0);
          expect(playback.isPlaying(totalMs - 1)).toBe(true);
          expect(playback.isPlaying(totalMs)).toBe(false);
          let startMs = 0;
          for (const { ms, bargeIn } of prompts) {
            expect(playback.isProtected(startMs)).toBe(!bargeIn);
            startMs += ms;
          }
          const { heard } = playback.cut(atMs);
          expect(heard.ms).toBe(Math.min(atMs, totalMs));
          expect(heard.complete).toBe(atMs >= totalMs);
        },
      ),
    );
  });
});
