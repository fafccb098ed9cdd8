import { describe, expect, it } from 'vitest';
import { draftScript, prepareScript, type GivenOption, type ScriptTools } from '../../../../src/fake-platform/caller/script-draft.ts';
import { pcmWav } from '../../../../src/speech/wav.ts';
import { tone } from '../../../support/call-lab.ts';

const given = (...words: string[]): readonly GivenOption[] =>
  words.map((word) => {
    const [option = '', ...value] = word.split(' ');
    return { option: option as GivenOption['option'], value: value.join(' ') };
  });

const tools: ScriptTools = {
  speak: (text) => Promise.resolve(tone(text.length * 10)),
  readFile: (file) => Promise.resolve(file === 'good.wav' ? pcmWav([new Int16Array(1600).fill(9000)], 16_000) : new Uint8Array(5)),
  changeRate: (samples, fromHz, toHz) => samples.subarray(0, (samples.length * toHz) / fromHz),
};

describe('a script on the command line', () => {
  it('keeps the order of its steps and ties an interruption to the next one', async () => {
    const steps = await prepareScript(
      draftScript(given('press 12#', 'interrupt 500', 'say hello you', 'wait 3000', 'wav good.wav', 'hangup')),
      tools,
    );
    expect(steps).toMatchObject([
      { kind: 'press', keys: ['1', '2', '#'] },
      { kind: 'say', label: '"hello you"', interruptMs: 500 },
      { kind: 'wait', waitMs: 3000 },
      { kind: 'say', label: 'good.wav' },
      { kind: 'hang_up' },
    ]);
    expect(steps.map((step) => (step.kind === 'say' ? step.mulaw.length : 0))).toEqual([0, 720, 0, 800, 0]);
    expect(steps.filter((step) => 'interruptMs' in step)).toHaveLength(1);
  });

  it.each([
    [['press 12x'], 'keys are 0 to 9'],
    [['press '], 'keys are 0 to 9'],
    [['say '], 'needs some words'],
    [['wait soon'], 'whole milliseconds'],
    [['wait 3600001'], 'whole milliseconds'],
    [['interrupt -1', 'press 1'], 'whole milliseconds'],
    [['interrupt 5'], 'needs a step after it'],
    [['interrupt 5', 'interrupt 6', 'press 1'], 'stands twice'],
    [['hangup', 'press 1'], 'nothing can follow'],
  ])('refuses %j', (words, reason) => {
    expect(() => draftScript(given(...words))).toThrow(reason);
    expect(() => draftScript(given(...words))).toThrow(RangeError);
  });

  it('refuses a file that is no WAV', async () => {
    await expect(prepareScript(draftScript(given('wav bad.wav')), tools)).rejects.toThrow(/^--wav bad\.wav: .*RIFF/u);
  });
});
