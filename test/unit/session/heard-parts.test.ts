// The playback clock at its edges: prompts without text, cuts at the very end of a prompt, and what a cut leaves of pieces.
import { describe, expect, it } from 'vitest';
import type { SpokenPrompt } from '../../../src/dialog/output.ts';
import { Playback } from '../../../src/session/playout/playout.ts';

const sound = (durationMs: number, code = 0x55) => ({ mulaw: new Uint8Array(durationMs * 8).fill(code), durationMs });
const prompt = (durationMs: number, text?: string): SpokenPrompt => ({ audio: sound(durationMs), text, bargeIn: true });

/** A playback of these prompts, all handed over at 0 ms. */
function playing(...prompts: readonly SpokenPrompt[]): Playback {
  const playback = new Playback();
  for (const each of prompts) playback.queued(each, 0);
  return playback;
}

describe('what was heard', () => {
  it('has no words of recordings, whether they were heard whole or in part', () => {
    const played = playing(prompt(100), prompt(100, 'two'), prompt(100));
    expect([50, 250, 300].map((atMs) => played.heard(atMs).text)).toEqual(['', 'two', 'two']);
    expect(playing(prompt(100), prompt(1000, 'two')).cut(600).before).toEqual({ ms: 100, text: '' });
  });

  it('ends with a word, however the words are spaced', () => {
    expect(playing(prompt(800, 'one  two')).heard(500).text).toBe('one');
  });

  it('is nothing, and not whole, of a reply whose prompts were never handed over', () => {
    const playback = new Playback();
    playback.dropped();
    expect(playback.heard(0)).toEqual({ complete: false, ms: 0, text: '' });
  });

  it('G-52 is nothing of a piece that comes after the cut', () => {
    const playback = playing(prompt(1000, 'one two'));
    playback.cut(500);
    playback.extended(sound(1000), 500);
    expect(playback.isPlaying(500)).toBe(false);
    expect(playback.heard(2000).ms).toBe(500);
  });
});

describe('what was heard of a prompt that goes on after a cut', () => {
  it('is the same in another process, where its sound before the cut counts as well', () => {
    const here = playing(prompt(2000, 'one two three four five'));
    const cut = here.cut(1400);
    here.resume(cut, 5000);
    for (const rest of cut.rest) here.queued(rest, 5000);
    const there = new Playback();
    there.told(here.tell(5200), 5200);
    expect(there.heard(5200)).toEqual({ complete: false, ms: 1200, text: 'one two three' });
    // Told on by a process that was only told of it itself.
    const third = new Playback();
    third.told(there.tell(5300), 5300);
    expect([third.heard(5300), third.heard(9000)]).toEqual([here.heard(5300), here.heard(9000)]);
  });
});

describe('what was heard of a prompt that is still being made', () => {
  /** 40 characters: a calm voice needs 2.6 s for them. */
  const FORTY = 'aaaaaaaaa bbbbbbbbb ccccccccc ddddddddd.';

  function unfinished(): Playback {
    const playback = playing(prompt(650, FORTY));
    playback.unfinished();
    return playback;
  }

  it('is measured against all of its text, not against what is made of it', () => {
    const playback = unfinished();
    expect(playback.heard(600)).toEqual({ complete: false, ms: 600, text: 'aaaaaaaaa' });
    playback.extended(sound(650), 600);
    expect(playback.heard(1250)).toEqual({ complete: false, ms: 1250, text: 'aaaaaaaaa bbbbbbbbb' });
    playback.finished();
    expect(playback.heard(600).text).toBe('aaaaaaaaa bbbbbbbbb');
    expect(playback.heard(1300)).toEqual({ complete: true, ms: 1300, text: FORTY });
  });

  it('is not all of it, although the caller has heard all that is made', () => {
    const playback = unfinished();
    expect(playback.heard(5000)).toEqual({ complete: false, ms: 650, text: 'aaaaaaaaa' });
    const { heard, before } = playback.cut(5000);
    expect([heard, before]).toEqual([
      { complete: false, ms: 650, text: 'aaaaaaaaa' },
      { ms: 650, text: 'aaaaaaaaa' },
    ]);
  });

  it('is measured against what is made of it where that is longer', () => {
    const playback = playing(prompt(4000, FORTY));
    playback.unfinished();
    expect(playback.heard(1000).text).toBe('aaaaaaaaa');
    expect(playback.heard(2000).text).toBe('aaaaaaaaa bbbbbbbbb');
  });

  it('stays in part what it is when what was made of it goes on after a cut', () => {
    const playback = unfinished();
    const cut = playback.cut(300);
    playback.resume(cut, 1000);
    for (const rest of cut.rest) playback.queued(rest, 1000);
    expect(playback.heard(5000).complete).toBe(false);
  });

  it('is the same in another process', () => {
    const there = new Playback();
    there.told(unfinished().tell(600), 600);
    expect(there.heard(5000)).toEqual({ complete: false, ms: 650, text: 'aaaaaaaaa' });
  });

  it('takes nothing of the reply behind it', () => {
    const playback = unfinished();
    playback.begin(600);
    playback.queued(prompt(1000, 'Next.'), 600);
    expect(playback.heard(1650)).toEqual({ complete: true, ms: 1650, text: 'aaaaaaaaa Next.' });
  });

  it('is nothing where nothing is played', () => {
    const playback = new Playback();
    playback.unfinished();
    playback.finished();
    expect(playback.heard(0)).toEqual({ complete: true, ms: 0, text: '' });
  });
});

describe('what a cut leaves', () => {
  it('begins with the next prompt at the very end of one', () => {
    const { rest, before } = playing(prompt(1000, 'a'), prompt(300, 'b')).cut(1000);
    expect([rest.map(({ text }) => text), before]).toEqual([['b'], { ms: 1000, text: 'a' }]);
  });

  it('is the very prompt where nothing of it is left out, so that nobody encodes it anew', () => {
    const only = prompt(1000, 'a');
    expect(playing(only).cut(300).rest[0]).toBe(only);
  });

  it('is all pieces of a prompt where nothing of it is left out', () => {
    const playback = playing(prompt(500, 'a'));
    playback.extended(sound(700, 1), 0);
    const [rest] = playback.cut(300).rest;
    expect(rest).toMatchObject({ text: 'a', skippedMs: 0, audio: { durationMs: 1200 } });
    expect([rest?.audio?.mulaw.length, rest?.audio?.mulaw[3999], rest?.audio?.mulaw[4000]]).toEqual([9600, 0x55, 1]);
  });

  it('is no sound of a piece that was heard long before', () => {
    const playback = playing(prompt(500, 'a'));
    playback.extended(sound(700, 1), 0);
    const [rest] = playback.cut(1000).rest;
    expect(rest).toMatchObject({ skippedMs: 600, audio: { durationMs: 600 } });
    expect(rest?.audio?.mulaw.every((code) => code === 1)).toBe(true);
  });
});
