import { describe, expect, it } from 'vitest';
import { answerMs, namedParts, partsInWords } from '../../../console/call/answer-parts.ts';
import { ANSWER_PARTS } from '../../../src/dialog/call-view.ts';

const PARTS = { endpointingMs: 500, recognitionMs: 180, botMs: 6, modelMs: 710, toolsMs: 0, synthesisMs: 118, engineMs: 12 };

describe('the parts of the time to an answer', () => {
  it('all have a name, stand one behind the other, and the longest one is marked', () => {
    const named = namedParts({ ...PARTS, wireMs: 4 });
    expect(named).toHaveLength(ANSWER_PARTS.length);
    expect(named.map(({ fromMs }) => fromMs)).toEqual([0, 500, 680, 686, 1396, 1396, 1514, 1526]);
    expect(named.filter(({ isLongest }) => isLongest)).toEqual([{ name: 'model', fromMs: 686, ms: 710, isLongest: true }]);
  });

  it('leave out what is not known', () => {
    expect(namedParts(PARTS).map(({ name }) => name)).not.toContain('wire');
    expect(answerMs(PARTS)).toBe(1526);
  });

  it('name the longest one in words', () => {
    expect(partsInWords(PARTS)).toBe('answer after 1,526 ms, the longest part: model, 710 ms');
  });

  it('name none where nothing took time', () => {
    const none = { endpointingMs: 0, recognitionMs: 0, botMs: 0, modelMs: 0, toolsMs: 0, synthesisMs: 0, engineMs: 0 };
    expect(partsInWords(none)).toBe('answer after 0 ms');
  });
});
