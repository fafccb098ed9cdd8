// How a load stands: plain lines now and then where there is no terminal, and one line drawn over itself on one.
import { describe, expect, it } from 'vitest';
import { PassThrough } from 'node:stream';
import { progressView } from '../../../../src/cli/load/progress.ts';
import { Histogram } from '../../../../src/fake-platform/load/histogram.ts';
import type { LoadProgress } from '../../../../src/fake-platform/load/load-run.ts';

function progress(elapsedMs: number): LoadProgress {
  const firstAudio = Histogram.empty();
  firstAudio.record(12);
  return { elapsedMs, lengthMs: 60_000, live: 48, perSecond: 5, finished: 7, failed: 1, firstAudio, reply: Histogram.empty() };
}

describe('the progress of a load', () => {
  it('is a plain line every ten seconds without a terminal', () => {
    const lines: string[] = [];
    const view = progressView(undefined, (line) => lines.push(line));
    for (let atMs = 0; atMs < 25_000; atMs += 1000) view.show(progress(atMs));
    view.stop();
    expect(lines).toEqual([
      '0:10 of 1:00  live 48  5.0/s  over 7  failed 1  first audio p50/p99 12/12 ms',
      '0:20 of 1:00  live 48  5.0/s  over 7  failed 1  first audio p50/p99 12/12 ms',
    ]);
  });

  it('begins anew with each try of a search', () => {
    const lines: string[] = [];
    const view = progressView(undefined, (line) => lines.push(line));
    for (const atMs of [20_000, 30_000, 1000, 9000, 11_000, 12_000]) view.show(progress(atMs));
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['0:20', '0:30', '0:11']);
  });

  it('is a bar on a terminal, which is gone afterwards', () => {
    // The library asks for what a terminal can do.
    const can = { isTTY: true, columns: 200, cursorTo: () => true, clearLine: () => true, moveCursor: () => true };
    const terminal = Object.assign(new PassThrough(), can);
    const view = progressView(terminal, () => undefined);
    view.show(progress(1000));
    view.stop();
    view.stop();
    expect(String(terminal.read())).toContain('0:01 of 1:00  live 48');
  });
});
