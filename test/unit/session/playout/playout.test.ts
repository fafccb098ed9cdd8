import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SpokenPrompt } from '../../../../src/dialog/output.ts';
import { Playout } from '../../../../src/session/playout/playout.ts';

function prompt(durationMs: number, bargeIn = true, text?: string): SpokenPrompt {
  return { audio: { mulaw: new Uint8Array(durationMs * 8).fill(0x55), durationMs }, text, bargeIn };
}

describe('the playout clock', () => {
  it('G-22 plays prompts one after the other', () => {
    const playout = new Playout();
    playout.queued(prompt(1000, true), 0);
    playout.queued(prompt(500, false), 100);
    expect([999, 1000, 1499, 1500].map((atMs) => playout.isProtected(atMs))).toEqual([false, true, true, false]);
    expect([playout.isPlaying(1499), playout.isPlaying(1500)]).toEqual([true, false]);
    expect([playout.remainingMs(0), playout.remainingMs(1400), playout.remainingMs(2000)]).toEqual([1500, 100, 0]);
  });

  it('G-52 counts what was heard of a reply up to the cut', () => {
    const playout = new Playout();
    playout.queued(prompt(1000, true, 'Please press one now.'), 5000);
    expect(playout.cut(5600).heard).toMatchObject({ complete: false, ms: 600, text: 'Please press' });
    expect(playout.isPlaying(5601)).toBe(false);
    expect(playout.heard(9000)).toMatchObject({ complete: false, ms: 600, text: 'Please press' });
  });

  it('says in whole milliseconds what was heard, by a clock that has fractions, and never more than it was', () => {
    const playout = new Playout();
    playout.queued(prompt(1000, true, 'Hello.'), 0.25);
    expect([playout.heard(600.75).ms, playout.heard(601.125).ms, playout.heardWhenComplete(601.3).ms]).toEqual([600, 600, 601]);
    expect(playout.cut(700.9).heard.ms).toBe(700);
    expect(playout.heard(9000).ms).toBe(700);
  });

  it('says that all was heard once everything was played', () => {
    const playout = new Playout();
    playout.queued(prompt(1000, true, 'Hello.'), 0);
    playout.queued(prompt(500, true, 'How are you?'), 0);
    expect(playout.heard(1499)).toMatchObject({ complete: false, ms: 1499 });
    expect(playout.heard(1500)).toMatchObject({ complete: true, ms: 1500, text: 'Hello. How are you?' });
    expect(playout.heard(60_000)).toMatchObject({ complete: true, ms: 1500, text: 'Hello. How are you?' });
  });

  it('begins anew with the next reply, behind what is still playing', () => {
    const playout = new Playout();
    playout.queued(prompt(1000, false, 'Old.'), 0);
    playout.begin(400);
    playout.queued(prompt(1000, true, 'New.'), 400);
    expect([playout.isProtected(999), playout.isProtected(1000)]).toEqual([true, false]);
    expect(playout.heard(2000)).toMatchObject({ complete: true, ms: 2000, text: 'Old. New.' });
    playout.begin(2000);
    expect(playout.heard(2000)).toMatchObject({ complete: true, ms: 0, text: '' });
  });

  it('forgets a cut when the next reply begins', () => {
    const playout = new Playout();
    playout.queued(prompt(1000), 0);
    playout.cut(100);
    playout.begin(200);
    playout.queued(prompt(1000, true, 'Again.'), 200);
    expect(playout.heard(1200)).toMatchObject({ complete: true, ms: 1000, text: 'Again.' });
  });

  it('says that a reply was not heard whole when prompts of it were dropped', () => {
    const playout = new Playout();
    playout.begin(0);
    playout.queued(prompt(100), 0);
    playout.dropped();
    expect(playout.heard(100)).toMatchObject({ complete: false, ms: 100 });
    playout.cut(100);
    expect(playout.heard(200)).toMatchObject({ complete: false, ms: 100 });
  });

  it('says after a cut of nothing that prompts dropped later were not heard', () => {
    const playout = new Playout();
    playout.cut(100);
    playout.dropped();
    expect(playout.heard(200)).toMatchObject({ complete: false, ms: 0, text: '' });
  });

  it('says that nothing was heard of a reply that was never delivered, and again what was heard of the one before it when there is none', () => {
    const playout = new Playout();
    playout.queued(prompt(1000, true, 'Hello.'), 0);
    const [whole, nothing] = [
      { complete: true, ms: 1000, text: 'Hello.' },
      { complete: false, ms: 0, text: '' },
    ];
    playout.cut(2000);
    playout.dropped(false);
    expect([playout.heard(2000), playout.cut(2100).heard]).toMatchObject([nothing, nothing]);
    playout.unspoken(false);
    expect(playout.heard(2200)).toMatchObject(whole);
    playout.unspoken(true);
    playout.dropped(false);
    playout.unspoken(false);
    expect(playout.heard(2300)).toMatchObject(nothing);
    playout.begin(2400);
    playout.queued(prompt(1000, true, 'Hello.'), 2400);
    expect(playout.heard(3400)).toMatchObject(whole);
  });

  it('counts a text without sound as heard when its turn comes', () => {
    const playout = new Playout();
    playout.queued(prompt(100, true, 'Sound.'), 0);
    playout.queued({ audio: undefined, text: 'Text.', bargeIn: true }, 0);
    expect(playout.heard(99)).toMatchObject({ complete: false, text: 'Sound.' });
    expect(playout.heard(100)).toMatchObject({ complete: true, text: 'Sound. Text.' });
  });

  it('takes pieces of one prompt for one prompt', () => {
    const playout = new Playout();
    playout.queued(prompt(200, true, 'one two three four'), 0);
    playout.extended({ mulaw: new Uint8Array(1600), durationMs: 200 }, 150);
    expect(playout.remainingMs(0)).toBe(400);
    // The second piece came late: it begins when it is there.
    playout.extended({ mulaw: new Uint8Array(1600), durationMs: 200 }, 1000);
    expect(playout.remainingMs(1000)).toBe(200);
    expect(playout.heard(1200)).toMatchObject({ complete: true, text: 'one two three four' });
  });

  it('counts no silence between the pieces of a prompt as heard', () => {
    const late = () => {
      const playout = new Playout();
      playout.queued(prompt(200, true, 'one two three four'), 0);
      playout.extended({ mulaw: new Uint8Array(8000).fill(1), durationMs: 1000 }, 5000);
      return playout;
    };
    expect([100, 200, 4999, 5000, 5400, 6000].map((atMs) => late().heard(atMs).ms)).toEqual([100, 200, 200, 200, 600, 1200]);
    expect(late().heard(5400)).toMatchObject({ complete: false, ms: 600, text: 'one two three' });
    const cut = late().cut(5400);
    // 600 ms of sound were heard, and 400 of them come again.
    expect(cut.rest[0]).toMatchObject({ skippedMs: 200, audio: { durationMs: 1000 } });
    expect(cut.rest[0]?.audio?.mulaw.every((code) => code === 1)).toBe(true);
    const next = late();
    next.queued(prompt(100, true, 'five'), 5000);
    expect(next.cut(6050).before).toMatchObject({ ms: 1200, text: 'one two three four' });
  });

  it('leaves of a cut prompt what was not heard, from a little before the cut', () => {
    const playout = new Playout();
    playout.queued(prompt(1000, true, 'a'), 0);
    playout.queued(prompt(300, true, 'b'), 0);
    const { rest } = playout.cut(900);
    expect(rest.map(({ audio, text }) => [audio?.durationMs, text])).toEqual([
      [500, 'a'],
      [300, 'b'],
    ]);
    expect(new Playout().cut(0).rest).toEqual([]);
  });

  it('leaves a text without sound as it is', () => {
    const playout = new Playout();
    playout.queued(prompt(1000, true, 'a'), 0);
    playout.queued({ audio: undefined, text: 'b', bargeIn: true }, 0);
    expect(playout.cut(900).rest.at(-1)).toMatchObject({ audio: undefined, text: 'b' });
  });

  it('counts what goes on after a cut as part of the same reply', () => {
    const playout = new Playout();
    playout.queued(prompt(1000, true, 'Hello.'), 0);
    playout.queued(prompt(1000, true, 'one two three four five'), 0);
    const cut = playout.cut(1800);
    expect(cut.heard).toMatchObject({ complete: false, ms: 1800, text: 'Hello. one two three four' });
    playout.resume(cut, 5000);
    for (const rest of cut.rest) playout.queued(rest, 5000);
    expect(playout.remainingMs(5000)).toBe(600);
    expect(playout.heard(5100)).toMatchObject({ complete: false, ms: 1500, text: 'Hello. one two three' });
    expect(playout.heard(5600)).toMatchObject({ complete: true, ms: 2000, text: 'Hello. one two three four five' });
    const again = playout.cut(5500);
    playout.resume(again, 9000);
    for (const rest of again.rest) playout.queued(rest, 9000);
    expect(playout.heard(9500)).toMatchObject({ complete: true, ms: 2000, text: 'Hello. one two three four five' });
    playout.begin(9500);
    expect(playout.heard(9500)).toMatchObject({ complete: true, ms: 0, text: '' });
  });

  it('leaves of a prompt in pieces the pieces that were not heard', () => {
    const playout = new Playout();
    playout.queued(prompt(500, true, 'a'), 0);
    playout.extended({ mulaw: new Uint8Array(4000).fill(1), durationMs: 500 }, 0);
    const [rest] = playout.cut(700).rest;
    expect(rest?.audio?.durationMs).toBe(700);
    expect(rest?.audio?.mulaw.subarray(-4000).every((code) => code === 1)).toBe(true);
  });

  it('plays for exactly as long as its prompts together, whatever they are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ ms: fc.integer({ min: 1, max: 5000 }), bargeIn: fc.boolean() }), { minLength: 1, maxLength: 8 }),
        fc.nat(40_000),
        (prompts, atMs) => {
          const playout = new Playout();
          const totalMs = prompts.reduce((sum, { ms }) => sum + ms, 0);
          for (const { ms, bargeIn } of prompts) playout.queued(prompt(ms, bargeIn, 'some words'), 0);
          expect(playout.isPlaying(totalMs - 1)).toBe(true);
          expect(playout.isPlaying(totalMs)).toBe(false);
          let startMs = 0;
          for (const { ms, bargeIn } of prompts) {
            expect(playout.isProtected(startMs)).toBe(!bargeIn);
            startMs += ms;
          }
          const { heard } = playout.cut(atMs);
          expect(heard.ms).toBe(Math.min(atMs, totalMs));
          expect(heard.complete).toBe(atMs >= totalMs);
        },
      ),
    );
  });

  it('goes on at another home where it was: a whole reply, a cut one, and one that nobody heard', () => {
    const [epochMs, laterMs] = [1_000_000, 1_000_300];
    const at = (playout: Playout, nowMs: number): Playout => {
      const next = new Playout();
      const played = playout.played(nowMs, epochMs);
      if (played === undefined) throw new Error('nothing was sent');
      // The clocks of two machines have nothing in common but the time of day.
      next.restore(played, 50, laterMs);
      return next;
    };
    const playout = new Playout();
    expect(playout.played(0, epochMs)).toBeUndefined();
    playout.queued(prompt(1000, true, 'Hello.'), 0);
    playout.queued(prompt(1000, false, 'World.'), 0);
    expect(playout.played(500, epochMs)).toEqual({
      text: 'Hello. World.',
      beganAtMs: epochMs - 500,
      soundMs: 2000,
      bargeIn: false,
      isWhole: true,
    });
    expect(at(playout, 500).heard(50)).toMatchObject({ complete: false, ms: 800, estimated: true });
    expect(at(playout, 500).heard(1250)).toMatchObject({ complete: true, ms: 2000, text: 'Hello. World.' });
    playout.cut(700);
    const { text } = playout.heard(700);
    expect(playout.played(700, epochMs)).toEqual({ text, beganAtMs: epochMs - 700, soundMs: 700, bargeIn: true, isWhole: false });
    expect(at(playout, 700).heard(50)).toMatchObject({ complete: false, ms: 700 });
    playout.unspoken(true);
    expect(playout.played(900, epochMs)).toEqual({ text: '', beganAtMs: epochMs, soundMs: 0, bargeIn: true, isWhole: false });
    expect(at(playout, 900).heard(50)).toMatchObject({ complete: false, ms: 0, text: '' });
  });
});
