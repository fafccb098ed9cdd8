// How a load stands, as the text beside its bar.
import { expect, it } from 'vitest';
import { clockText, progressText } from '../../../../../src/fake-platform/cli/load/result-table.ts';
import { Histogram } from '../../../../../src/fake-platform/load/histogram.ts';

it('are the calls, and the times of which there are any', () => {
  const firstAudio = Histogram.empty();
  const figures = {
    elapsedMs: 1000,
    lengthMs: 60_000,
    live: 48,
    perSecond: 5,
    finished: 7,
    failed: 1,
    firstAudio,
    reply: Histogram.empty(),
  };
  expect(progressText(figures)).toBe('live 48  5.0/s  over 7  failed 1');
  firstAudio.record(12);
  expect(progressText(figures)).toBe('live 48  5.0/s  over 7  failed 1  first audio p50/p99 12/12 ms');
});

it.each([
  [-5, '0:00'],
  [1499, '0:01'],
  [59_600, '1:00'],
  [3_725_000, '62:05'],
])('tells %d ms as %s', (ms, text) => {
  expect(clockText(ms)).toBe(text);
});
