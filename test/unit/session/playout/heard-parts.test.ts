// The playout clock at its edges: prompts without text, cuts at the very end of a prompt, and what a cut leaves of pieces.
import { describe, expect, it } from 'vitest';
import type { SpokenPrompt } from '../../../../src/dialog/output.ts';
import { Playout } from '../../../../src/session/playout/playout.ts';

const sound = (durationMs: number, code = 0x55) => ({ mulaw: new Uint8Array(durationMs * 8).fill(code), durationMs });
const prompt = (durationMs: number, text?: string): SpokenPrompt => ({ audio: sound(durationMs), text, bargeIn: true });

/** The wall clock of all homes at 0 ms. */
const EPOCH_MS = 1_700_000_000_000;

/** A playout of these prompts, all delivered at 0 ms. */
function playing(...prompts: readonly SpokenPrompt[]): Playout {
  const playout = new Playout();
  for (const each of prompts) playout.queued(each, 0);
  return playout;
}

/** The playout of the next home, from what this one has left at a moment. */
function restored(here: Playout, atMs: number): Playout {
  const there = new Playout();
  const left = here.played(atMs, EPOCH_MS + atMs);
  if (left !== undefined) there.restore(left, atMs, EPOCH_MS + atMs);
  return there;
}

describe('what was heard', () => {
  it('has no words of recordings, whether they were heard whole or in part', () => {
    const played = playing(prompt(100), prompt(100, 'two'), prompt(100));
    expect([50, 250, 300].map((atMs) => played.heard(atMs).text)).toEqual(['', 'two', 'two']);
    expect(playing(prompt(100), prompt(1000, 'two')).cut(600).before).toMatchObject({ ms: 100, text: '' });
  });

  it('ends with a word, however the words are spaced', () => {
    expect(playing(prompt(800, 'one  two')).heard(500).text).toBe('one');
  });

  it('is nothing, and not whole, of a reply whose prompts were never delivered', () => {
    const playout = new Playout();
    playout.dropped();
    expect(playout.heard(0)).toMatchObject({ complete: false, ms: 0, text: '' });
  });

  it('G-52 is nothing of a piece that comes after the cut', () => {
    const playout = playing(prompt(1000, 'one two'));
    playout.cut(500);
    playout.extended(sound(1000), 500);
    expect(playout.isPlaying(500)).toBe(false);
    expect(playout.heard(2000).ms).toBe(500);
  });
});

describe('what was heard, prompt by prompt', () => {
  const part = (text: string, heard: string, ms: number, complete = false) => ({ text, heard, ms, complete });

  it('is each prompt in its order, with the words of the one that was cut', () => {
    const playout = playing(prompt(1000, 'one two'), prompt(500), prompt(1000, 'three four'));
    expect(playout.heard(1200).parts).toEqual([part('one two', 'one two', 1000, true), part('', '', 200), part('three four', '', 0)]);
    playout.cut(1700);
    expect(playout.heard(9000).parts).toEqual([
      part('one two', 'one two', 1000, true),
      part('', '', 500, true),
      part('three four', 'three', 200),
    ]);
  });

  it('leaves fillers out, whose words were heard all the same', () => {
    const playout = playing({ ...prompt(400, 'One moment.'), isFiller: true });
    playout.queued(prompt(1000, 'one two'), 400);
    expect(playout.heard(2000)).toMatchObject({ text: 'One moment. one two', parts: [part('one two', 'one two', 1000, true)] });
  });

  it('counts prompts before a cut and after it once each when the reply goes on', () => {
    const playout = playing(prompt(1000, 'one two'), prompt(2000, 'three four five six'));
    const cut = playout.cut(2000);
    playout.resume(cut, 5000);
    for (const rest of cut.rest) playout.queued(rest, 5000);
    expect(playout.heard(9000).parts).toEqual([
      part('one two', 'one two', 1000, true),
      part('three four five six', 'three four five six', 2000, true),
    ]);
  });

  it('is one part of everything where another home goes on', () => {
    const there = restored(playing(prompt(1000, 'one two'), prompt(1000, 'three four')), 500);
    expect(there.heard(1500).parts).toEqual([part('one two three four', 'one two three', 1500)]);
    expect(there.heard(2500).parts).toEqual([part('one two three four', 'one two three four', 2000, true)]);
  });

  it('is nothing of a reply that was never sent', () => {
    expect(new Playout().heard(0).parts).toEqual([]);
  });
});

describe('what was heard of a prompt that goes on after a cut', () => {
  it('is reported where another home goes on with it: as an estimate of all of it', () => {
    const here = playing(prompt(2000, 'one two three four five'));
    const cut = here.cut(1400);
    here.resume(cut, 5000);
    for (const rest of cut.rest) here.queued(rest, 5000);
    const there = restored(here, 5200);
    expect(there.heard(5200)).toMatchObject({ complete: false, ms: 1200, text: 'one two three', estimated: true });
    expect([there.heard(6000), here.heard(6000).ms]).toMatchObject([
      { complete: true, ms: 2000, text: 'one two three four five', estimated: true },
      2000,
    ]);
  });
});

describe('what was heard of a prompt that is still being made', () => {
  /** 40 characters: a calm voice needs 2.6 s for them. */
  const FORTY = 'aaaaaaaaa bbbbbbbbb ccccccccc ddddddddd.';

  function unfinished(): Playout {
    const playout = playing(prompt(650, FORTY));
    playout.unfinished();
    return playout;
  }

  it('is measured against all of its text, not against what is made of it', () => {
    const playout = unfinished();
    expect(playout.heard(600)).toMatchObject({ complete: false, ms: 600, text: 'aaaaaaaaa' });
    playout.extended(sound(650), 600);
    expect(playout.heard(1250)).toMatchObject({ complete: false, ms: 1250, text: 'aaaaaaaaa bbbbbbbbb' });
    playout.finished();
    expect(playout.heard(600).text).toBe('aaaaaaaaa bbbbbbbbb');
    expect(playout.heard(1300)).toMatchObject({ complete: true, ms: 1300, text: FORTY });
  });

  it('is not all of it, although the caller has heard all that is made', () => {
    const playout = unfinished();
    expect(playout.heard(5000)).toMatchObject({ complete: false, ms: 650, text: 'aaaaaaaaa' });
    const { heard, before } = playout.cut(5000);
    expect([heard, before]).toMatchObject([
      { complete: false, ms: 650, text: 'aaaaaaaaa' },
      { ms: 650, text: 'aaaaaaaaa' },
    ]);
  });

  it('is measured against what is made of it where that is longer', () => {
    const playout = playing(prompt(4000, FORTY));
    playout.unfinished();
    expect(playout.heard(1000).text).toBe('aaaaaaaaa');
    expect(playout.heard(2000).text).toBe('aaaaaaaaa bbbbbbbbb');
  });

  it('stays in part what it is when what was made of it goes on after a cut', () => {
    const playout = unfinished();
    const cut = playout.cut(300);
    playout.resume(cut, 1000);
    for (const rest of cut.rest) playout.queued(rest, 1000);
    expect(playout.heard(5000).complete).toBe(false);
  });

  it('is never all of it where another home goes on with it', () => {
    const there = restored(unfinished(), 600);
    expect(there.heard(5000)).toMatchObject({ complete: false, ms: 650, text: 'aaaaaaaaa', estimated: true });
  });

  it('takes nothing of the reply behind it', () => {
    const playout = unfinished();
    playout.begin(600);
    playout.queued(prompt(1000, 'Next.'), 600);
    expect(playout.heard(1650)).toMatchObject({ complete: true, ms: 1650, text: 'aaaaaaaaa Next.' });
  });

  it('stays in part when a later prompt is made whole', () => {
    const playout = unfinished();
    playout.queued(prompt(100, 'Next.'), 600);
    playout.unfinished();
    playout.finished();
    expect(playout.heard(5000)).toMatchObject({ complete: false, text: 'aaaaaaaaa Next.' });
  });

  it('is nothing where nothing is played', () => {
    const playout = new Playout();
    playout.unfinished();
    playout.finished();
    expect(playout.heard(0)).toMatchObject({ complete: true, ms: 0, text: '' });
  });
});

describe('what a cut leaves', () => {
  it('begins with the next prompt at the very end of one', () => {
    const { rest, before } = playing(prompt(1000, 'a'), prompt(300, 'b')).cut(1000);
    expect([rest.map(({ text }) => text), before]).toMatchObject([['b'], { ms: 1000, text: 'a' }]);
  });

  it('is the very prompt where nothing of it is left out, so that nobody encodes it anew', () => {
    const only = prompt(1000, 'a');
    expect(playing(only).cut(300).rest[0]).toBe(only);
  });

  it('is all pieces of a prompt where nothing of it is left out', () => {
    const playout = playing(prompt(500, 'a'));
    playout.extended(sound(700, 1), 0);
    const [rest] = playout.cut(300).rest;
    expect(rest).toMatchObject({ text: 'a', skippedMs: 0, audio: { durationMs: 1200 } });
    expect([rest?.audio?.mulaw.length, rest?.audio?.mulaw[3999], rest?.audio?.mulaw[4000]]).toEqual([9600, 0x55, 1]);
  });

  it('is no sound of a piece that was heard long before', () => {
    const playout = playing(prompt(500, 'a'));
    playout.extended(sound(700, 1), 0);
    const [rest] = playout.cut(1000).rest;
    expect(rest).toMatchObject({ skippedMs: 600, audio: { durationMs: 600 } });
    expect(rest?.audio?.mulaw.every((code) => code === 1)).toBe(true);
  });
});
