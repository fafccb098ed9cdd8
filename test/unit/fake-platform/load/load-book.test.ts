// How the account of a load names what failed.
import { expect, it } from 'vitest';
import type { CallFacts } from '../../../../src/fake-platform/load/call-facts.ts';
import { Histogram } from '../../../../src/fake-platform/load/histogram.ts';
import { LoadBook } from '../../../../src/fake-platform/load/load-book.ts';

function transferredCall(message: string): CallFacts {
  return {
    ...{ scenario: 0, dueMs: 0, durationMs: 10, outcome: 'failed', replies: 2, isHeard: true, gapsMs: [], breaches: [] },
    ...{ turnsRepeated: 0, turnsReopened: 0, turnsLost: 0, sound: { compared: 0, wrong: 0, short: 0, unknown: 0 } },
    failures: [{ code: 'unexpected_transfer', message }],
  };
}

it('keeps counting each reason of a transfer that has a line of its own, however many reasons there are', () => {
  const book = new LoadBook({ workers: 1, countedFromMs: 0, countedToMs: 1000 });
  const reasons = Array.from({ length: 60 }, (_, index) => `reason ${String(index)}`);
  const lateness = Histogram.coarse().encoded;
  book.add(0, {
    ...{ kind: 'second', fromMs: 0, toMs: 1000, live: 0, started: 61, missed: 0, cpu: 0.1, loopDelayMaxMs: 0 },
    ...{ waits: [], startLateness: lateness, timerLateness: lateness, residentBytes: 1 },
    calls: [...reasons, 'reason 0'].map(transferredCall),
  });
  const { failures } = book.account;
  expect(failures).toHaveLength(51);
  expect(failures.find(({ example }) => example === 'reason 0')?.count).toBe(2);
  expect(failures.find(({ example }) => example === 'reason 50')?.count).toBe(10);
});
