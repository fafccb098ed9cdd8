import { describe, expect, it } from 'vitest';
import { pictureOf } from '../../../console/call/waveform-parts.ts';
import { shortCallView } from '../../support/call-views.ts';

describe('the picture of a call', () => {
  const picture = pictureOf(shortCallView());

  it('has a peak for each 20 ms of either side, the loudest one of a side full', () => {
    expect([picture.caller.length, picture.bot.length]).toEqual([2100, 2100]);
    expect([Math.max(...picture.caller), Math.max(...picture.bot)]).toEqual([255, 255]);
  });

  it('is as long as the call, or until the last prompt was heard', () => {
    const view = shortCallView();
    expect(picture.durationMs).toBe(42_000);
    expect(pictureOf({ ...view, call: { ...view.call, durationMs: 33_000 } }).durationMs).toBe(35_600);
  });

  it('does not blow up the noise of a silent call', () => {
    const silent = { peaks: Buffer.from([0, 2, 1]).toString('base64'), href: '' };
    expect([...pictureOf({ ...shortCallView(), sound: { caller: silent } }).caller]).toEqual([0, 10, 5]);
  });

  it('shows what nobody heard of a prompt, until the next one began', () => {
    expect(picture.prompts.filter(({ toMs, unheardToMs }) => unheardToMs > toMs)).toEqual([
      { fromMs: 18_500, toMs: 21_300, unheardToMs: 24_200, text: expect.stringContaining('two times') as string },
    ]);
  });

  it('shows the way to an answer from the last sound, with its parts', () => {
    expect(picture.answers[1]).toMatchObject({ fromMs: 6400, toMs: 7630 });
    expect(picture.answers[1]?.parts.find(({ isLongest }) => isLongest)?.name).toBe('endpointing');
  });

  it('marks what happened, in order', () => {
    const texts = picture.marks.map(({ text }) => text);
    expect(texts.filter((text) => /“I would|decided|recognized: “I|first token|first sound/u.test(text)).slice(0, 7)).toEqual([
      ...['first sound', 'understood so far: “I would like”', 'understood so far: “I would like to move my”', 'decided: speech has ended'],
      ...['recognized: “I would like to move my appointment”', 'model first token', 'first sound'],
    ]);
    expect(texts).toEqual(
      expect.arrayContaining(['speech begins', 'last sound', 'bot asked', 'tool called', 'barge-in by speech', 'bot failed', 'transfer']),
    );
    expect(picture.marks.map(({ atMs }) => atMs)).toEqual(picture.marks.map(({ atMs }) => atMs).toSorted((one, other) => one - other));
  });
});
