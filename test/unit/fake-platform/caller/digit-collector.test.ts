import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CallClock } from '../../../../src/fake-platform/caller/call-clock.ts';
import { DigitCollector, type DigitRules } from '../../../../src/fake-platform/caller/key-entry.ts';
import { KEYS, keyOf, keysOf, type Key } from '../../../../src/fake-platform/caller/key.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

function lab(rules: Partial<DigitRules>): { clock: FakeClock; collector: DigitCollector; entries: (readonly Key[])[] } {
  const clock = new FakeClock();
  const entries: (readonly Key[])[] = [];
  const collector = new DigitCollector(new CallClock(clock), { interDigitMs: 1000, terminator: undefined, digits: 0, ...rules }, (keys) => {
    entries.push(keys);
  });
  return { clock, collector, entries };
}

describe('the digit collector', () => {
  it('G-62 ends at the length', () => {
    const { clock, collector, entries } = lab({ digits: 3 });
    for (const key of ['1', '0', '*'] as const) collector.press(key);
    expect(entries).toEqual([['1', '0', '*']]);
    expect(collector.isCollecting).toBe(false);
    expect(clock.pendingTimers).toBe(0);
  });

  it('G-62 ends when the pause after a key is too long, counted anew from each key', () => {
    const { clock, collector, entries } = lab({ digits: 9 });
    collector.press('1');
    clock.advance(999);
    collector.press('2');
    clock.advance(999);
    expect(entries).toEqual([]);
    clock.advance(1);
    expect(entries).toEqual([['1', '2']]);
  });

  it('G-62, G-65 ends at the terminator, which may be the only key', () => {
    const { collector, entries } = lab({ terminator: '#' });
    collector.press('#');
    expect(entries).toEqual([[]]);
  });

  it('G-67 sends the terminator when configured so', () => {
    const { collector, entries } = lab({ terminator: '*', terminatorIncluded: true });
    collector.press('7');
    collector.press('*');
    expect(entries).toEqual([['7', '*']]);
  });

  it('ignores keys after the end and never reports a cancelled entry', () => {
    const ended = lab({ digits: 1 });
    ended.collector.press('1');
    ended.collector.press('2');
    expect(ended.entries).toEqual([['1']]);
    const cancelled = lab({ digits: 2 });
    cancelled.collector.press('1');
    cancelled.collector.cancel();
    cancelled.clock.advance(5000);
    expect(cancelled.entries).toEqual([]);
    expect(cancelled.clock.pendingTimers).toBe(0);
  });

  it('ends every entry exactly once, however it is pressed', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...KEYS), fc.integer({ min: 0, max: 1500 })), { minLength: 1, maxLength: 100 }),
        fc.integer({ min: 0, max: 10 }),
        fc.option(fc.constantFrom(...KEYS), { nil: undefined }),
        (presses, digits, terminator) => {
          const { clock, collector, entries } = lab({ digits, terminator });
          for (const [key, pauseMs] of presses) {
            collector.press(key);
            clock.advance(pauseMs);
          }
          clock.advance(1000);
          expect(entries).toHaveLength(1);
          expect(entries[0]).toEqual(presses.slice(0, entries[0]?.length).map(([key]) => key));
          expect(entries[0]?.includes(terminator ?? '1') === true && terminator !== undefined).toBe(false);
        },
      ),
    );
  });
});

describe('keys', () => {
  it('reads every key of a phone, small letters too, and nothing else', () => {
    expect(keysOf('1234567890*#ABCD')).toEqual(KEYS);
    expect(keysOf('abcd')).toEqual(['A', 'B', 'C', 'D']);
    for (const text of ['', '12 3', 'E', '１', '1,2']) expect(keysOf(text)).toBeUndefined();
    expect(keyOf('x')).toBeUndefined();
  });
});
