import { describe, expect, it } from 'vitest';
import { jsonDifference, type Json } from '../../../console/call/json-difference.ts';

describe('the difference of two JSON values', () => {
  it.each<[string, Json, Json]>([
    ['values', 'a', 'a'],
    ['null', null, null],
    ['lists', [1, { a: 2 }], [1, { a: 2 }]],
    ['objects in another order', { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }],
  ])('is empty for the same %s', (_what, before, after) => {
    expect(jsonDifference(before, after)).toEqual([]);
  });

  it('names what was changed, added and removed by its place', () => {
    const before = { step: 'ask', order: { items: ['a', 'b'], total: 3 }, old: true, 'a key': 1 };
    const after = { step: 'pay', order: { items: ['a', 'c', 'd'], total: 3 }, new: null, 'a key': 2 };
    expect(jsonDifference(before, after)).toEqual([
      { path: 'step', before: 'ask', after: 'pay' },
      { path: 'order.items[1]', before: 'b', after: 'c' },
      { path: 'order.items[2]', after: 'd' },
      { path: 'old', before: true },
      { path: '["a key"]', before: 1, after: 2 },
      { path: 'new', after: null },
    ]);
  });

  it.each<[Json, Json]>([
    [null, { a: 1 }],
    [[1], { 0: 1 }],
    [{ a: 1 }, 'a'],
  ])('is the whole where %j became %j', (before, after) => {
    expect(jsonDifference(before, after)).toEqual([{ path: '', before, after }]);
  });
});
