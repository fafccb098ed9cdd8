// Conditions of a load: what is written is what is read, and what was not measured does not hold.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { criterionText, checkCriteria, parseCriteria, type Criterion } from '../../../../src/fake-platform/load/criteria.ts';
import { madeUpResult, timesOf } from '../../../support/load-result.ts';

const number = fc.oneof(
  fc.integer({ min: 0, max: 100_000 }),
  fc.integer({ min: 1, max: 9999 }).map((value) => value / 100),
);
const limit = { below: number, orEqual: fc.boolean() };
const criterion: fc.Arbitrary<Criterion> = fc.oneof(
  fc.record({
    kind: fc.constant('time' as const),
    metric: fc.constantFrom('first-audio', 'reply', 'speech-reply', 'key-reply', 'silence-reply', 'gap'),
    statistic: fc.constantFrom('p50' as const, 'p90' as const, 'p99' as const, 'p99.9' as const, 'max' as const, 'mean' as const),
    ...limit,
  }),
  fc.record({
    kind: fc.constantFrom('count' as const, 'share' as const),
    metric: fc.constantFrom('failed', 'failed-turns', 'long-gaps'),
    ...limit,
  }),
  fc.record({ kind: fc.constant('server' as const), metric: fc.constantFrom('server-cpu' as const, 'server-memory' as const), ...limit }),
);

describe('the conditions of a load', () => {
  it('are read as they are written, whatever they are', () => {
    fc.assert(
      fc.property(fc.array(criterion, { minLength: 1, maxLength: 4 }), fc.constantFrom(', ', ',', ' and '), (criteria, between) => {
        expect(parseCriteria(criteria.map(criterionText).join(between))).toEqual(criteria);
      }),
    );
  });

  it('either are read or are refused with a sentence, whatever the text', () => {
    const word = fc.constantFrom(
      'first-audio',
      'failed',
      'p99',
      'p42',
      '<',
      '<=',
      '>',
      '300',
      'ms',
      's',
      '%',
      ',',
      'and',
      ' ',
      '-',
      '1e3',
      'é',
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), (words) => {
        try {
          parseCriteria(words.join(' '));
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
          expect(String(error)).toContain('is no condition');
        }
      }),
    );
  });

  it.each([
    ['first-audio < 300ms', 'say which of'],
    ['first-audio p42 < 300ms', 'say which of'],
    ['first-audio p99 < 300', 'needs ms or s'],
    ['failed p99 < 1', 'has no p99'],
    ['failed < 3ms', 'a number or a %'],
    ['server-cpu < 3', 'it is a %'],
    ['server-memory < 3', 'it is in MB'],
    ['happiness < 3', 'there is no happiness; there are first-audio'],
    ['first-audio p99 > 3ms', 'write for instance'],
    ['', 'write for instance'],
  ])('refuse "%s": %s', (text, why) => {
    expect(() => parseCriteria(text)).toThrow(why);
  });

  it('hold or not by what was measured', () => {
    const result = madeUpResult({ calls: { ...madeUpResult().calls, failed: 2 }, turns: { replies: 99, failed: 1 } });
    const judged = (text: string) => checkCriteria(parseCriteria(text), result).map(({ value, holds }) => [Math.round(value ?? -1), holds]);
    expect(judged('first-audio p99 < 0.1s, first-audio max < 100ms, reply p50 < 501ms')).toEqual([
      [99, true],
      [100, false],
      [500, true],
    ]);
    expect(judged('failed < 2, failed <= 2, failed < 1%, failed-turns < 1%, breaches <= 0, wrong-sound <= 0')).toEqual([
      [2, false],
      [2, true],
      [0, true],
      [1, false],
      [0, true],
      [0, true],
    ]);
    expect(judged('server-cpu < 60% and server-memory < 100MB')).toEqual([
      [50, true],
      [120, false],
    ]);
  });

  it.each(['failed', 'refused', 'unheard', 'failed-turns', 'long-gaps', 'wrong-sound', 'breaches'])(
    'do not hold of none of nothing: %s',
    (metric) => {
      const { calls, sound } = madeUpResult();
      const result = madeUpResult({
        calls: { ...calls, finished: 0, brokenOff: 0 },
        turns: { replies: 0, failed: 0 },
        gap: timesOf([]),
        sound: { ...sound, compared: 0 },
      });
      for (const { value, holds } of checkCriteria(parseCriteria(`${metric} <= 0, ${metric} < 1%`), result)) {
        expect({ value, holds }).toEqual({ value: undefined, holds: false });
      }
    },
  );

  it('do not hold of what was not measured', () => {
    const result = madeUpResult({ firstAudio: timesOf([]), server: null, calls: { ...madeUpResult().calls, finished: 0 } });
    for (const { value, holds } of checkCriteria(parseCriteria('first-audio p99 < 1s, server-cpu < 99%, failed < 1%'), result)) {
      expect({ value, holds }).toEqual({ value: undefined, holds: false });
    }
  });
});
