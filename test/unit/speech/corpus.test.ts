// A small edition of the corpus of `npm run bench -- speech`, made of recordings instead of synthesized voices. The bounds are
// what it comes to today: a change that makes one of them worse must say why.
import { beforeAll, describe, expect, it } from 'vitest';
import { makeCorpus } from '../../../scripts/speech-corpus.ts';
import { score, type Row } from '../../../scripts/speech-score.ts';
import { loadSignalEngines } from '../../../src/app/signal-engines.ts';
import { recordedVoice } from '../../support/recorded-voice.ts';

const rows = new Map<string, Row>();

beforeAll(async () => {
  const lines = await makeCorpus([recordedVoice], { texts: 2, sounds: 10, ratiosDb: [20, 10] });
  for (const row of score(await loadSignalEngines(), lines)) rows.set(row.name, row);
});

function rowOf(name: string): Row {
  const row = rows.get(name);
  if (row === undefined) throw new Error(`the corpus has no row ${name}`);
  return row;
}

describe('callers on every kind of line', () => {
  it.each([
    'quiet line',
    ...['white noise', 'pink noise', 'hum', 'babble'].map((name) => `${name} 20 dB`),
    ...['white noise', 'pink noise', 'hum'].map((name) => `${name} 10 dB`),
    'low voice (-36 dBFS)',
    'speaks as the line opens',
  ])('are heard, once and to the end: %s', (name) => {
    const row = rowOf(name);
    expect(row).toMatchObject({ utterances: 4, falseStarts: 0, missed: 0, cut: 0 });
    expect(row.startMs?.most).toBeLessThanOrEqual(200);
    expect(row.endMs?.most).toBeLessThanOrEqual(900);
  });

  it('do not wake anybody by their babble, and are heard above it', () => {
    expect(rowOf('babble 10 dB')).toMatchObject({ falseStarts: 0, missed: 0, cut: 0 });
  });
});

describe('read-out numbers', () => {
  it('are one utterance on a quiet line, whatever the patience', () => {
    expect(rowOf('numbers, quiet line')).toMatchObject({ utterances: 2, missed: 0, cut: 0 });
  });

  it.each(['quiet line', 'white noise 10 dB', 'babble 20 dB'])('are one utterance where digits are expected: %s', (name) => {
    expect(rowOf(`numbers, ${name}, digits expected`)).toMatchObject({ utterances: 2, falseStarts: 0, missed: 0, cut: 0, resumed: 0 });
  });
});

describe('what is no speech', () => {
  it.each(['coughs', 'breath', 'clicks', 'keys'])('starts nothing: %s', (name) => {
    expect(rowOf(name)).toMatchObject({ lines: 10, falseStarts: 0 });
  });

  it.each(['prompt echo -25 dB', 'prompt echo -30 dB', 'coughs over a prompt'])('cuts no prompt: %s', (name) => {
    expect(rowOf(name).falseStarts).toBe(0);
  });

  it('seldom cuts a prompt when the caller only agrees', () => {
    expect(rowOf('"mhm" and the like over a prompt').lines).toBe(14);
    expect(rowOf('"mhm" and the like over a prompt').falseStarts).toBeLessThanOrEqual(3);
  });
});

describe('callers over a prompt', () => {
  it('cut it with a sentence within half a second', () => {
    expect(rowOf('sentences over a prompt')).toMatchObject({ missed: 0, falseStarts: 0, cut: 0 });
    expect(rowOf('sentences over a prompt').startMs?.most).toBeLessThanOrEqual(500);
  });

  it.each([-20, -26, -32])('are heard when they speak already as a stream opens under it, at %i dBFS', (dbfs) => {
    expect(rowOf(`speaks at ${String(dbfs)} dBFS as a stream opens under a prompt`)).toMatchObject({
      utterances: 8,
      missed: 0,
      falseStarts: 0,
      cut: 0,
    });
  });

  it('are not imagined when a stream opens in its echo', () => {
    expect(rowOf('a stream opens in the echo of a prompt').falseStarts).toBe(0);
  });

  it('are heard when their word falls on its end', () => {
    expect(rowOf('single words on the end of a prompt')).toMatchObject({ missed: 0, falseStarts: 0, cut: 0 });
  });
});
