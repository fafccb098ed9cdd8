// What a load tells of turns that were lost: summed up over its calls, and shown where there were any.
import { describe, expect, it } from 'vitest';
import { reportPage } from '../../../../../src/fake-platform/cli/load/report-page.ts';
import { resultText } from '../../../../../src/fake-platform/cli/load/result-table.ts';
import type { CallFacts } from '../../../../../src/fake-platform/load/call-facts.ts';
import { Histogram } from '../../../../../src/fake-platform/load/histogram.ts';
import { LoadBook } from '../../../../../src/fake-platform/load/load-book.ts';
import { readLoadResult } from '../../../../../src/fake-platform/load/load-result.ts';
import { madeUpResult } from '../../../../support/load-result.ts';

const CALL: CallFacts = {
  ...{ scenario: 0, dueMs: 500, durationMs: 10, outcome: 'hung_up', replies: 3, isHeard: true, gapsMs: [], failures: [], breaches: [] },
  ...{ turnsRepeated: 2, turnsReopened: 1, turnsLost: 0, sound: { compared: 0, wrong: 0, short: 0, unknown: 0 } },
};

describe('the lost turns of a load', () => {
  it('are those of the calls that count, and no failures where they were said again', () => {
    const book = new LoadBook({ workers: 1, countedFromMs: 0, countedToMs: 1000 });
    const nothing = Histogram.coarse().encoded;
    book.add(0, {
      ...{ kind: 'second', fromMs: 0, toMs: 1000, live: 0, started: 3, missed: 0, waits: [], cpu: 0.1, residentBytes: 1 },
      ...{ startLateness: nothing, timerLateness: nothing, loopDelayMaxMs: 0 },
      calls: [CALL, { ...CALL, turnsLost: 1 }, { ...CALL, dueMs: 2000 }],
    });
    expect(book.account).toMatchObject({ turnsRepeated: 4, turnsReopened: 2, turnsLost: 1, turns: { replies: 6, failed: 0 } });
  });

  it('stand in the table and on the page when there are any', async () => {
    const result = madeUpResult({ turnsRepeated: 12, turnsReopened: 34, turnsLost: 5 });
    expect(resultText(result, [], false)).toMatch(/^lost turns +12 said again, 34 opened again with nothing said, 5 for good$/mu);
    expect(await reportPage(result)).toContain('12 said again, 34 opened again');
    expect(resultText(madeUpResult(), [], false)).not.toContain('lost turns');
  });

  it('are none in a result that was written before they were counted', () => {
    const {
      turnsRepeated: _1,
      turnsReopened: _2,
      turnsLost: _3,
      ...before
    } = madeUpResult({ turnsRepeated: 1, turnsReopened: 1, turnsLost: 1 });
    expect(readLoadResult(JSON.stringify(before), 'before.json')).toMatchObject({ turnsRepeated: 0, turnsReopened: 0, turnsLost: 0 });
  });
});
