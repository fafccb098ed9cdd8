// The report of a load is one file: nothing is fetched, nothing foreign becomes markup, and every chart is a table, too.
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { reportPage } from '../../../../../src/fake-platform/cli/load/report-page.ts';
import { REPORT_SCRIPT } from '../../../../../src/fake-platform/cli/load/report-script.ts';
import { resultText } from '../../../../../src/fake-platform/cli/load/result-table.ts';
import { checkCriteria, parseCriteria } from '../../../../../src/fake-platform/load/criteria.ts';
import { madeUpResult, timesOf } from '../../../../support/load-result.ts';

const EVIL = '</script><img src=x onerror=alert(1)>';

describe('the report of a load', () => {
  it('stands alone, and escapes what is foreign', async () => {
    const page = await reportPage(
      madeUpResult({
        target: EVIL,
        asked: EVIL,
        scenarios: [{ name: EVIL, weight: 1, meanMs: 1 }],
        failures: [{ code: 'garbage', count: 1, example: EVIL }],
      }),
    );
    expect(page.includes('<img')).toBe(false);
    expect(page.match(/<\/script>/gu)).toHaveLength(3);
    expect(/(?:src|href)\s*=\s*["']?https?:|url\(|@import/u.test(page)).toBe(false);
    expect(/<[a-z][^>]* on[a-z]+=/u.test(page)).toBe(false);
    expect(page.includes('prefers-color-scheme: dark')).toBe(true);
  });

  it('has a table for every chart, with a row for every second', async () => {
    const page = await reportPage(madeUpResult({ saturated: true }));
    const charts = page.match(/class="chart"/gu)?.length ?? 0;
    expect(charts).toBe(5);
    expect(page.match(/<caption>/gu)).toHaveLength(charts + 1);
    expect(page.includes('<th scope="row">2</th><td>50</td><td>99</td><td>100</td>')).toBe(true);
    expect(page.includes('role="alert"')).toBe(true);
    const data: unknown = JSON.parse(/id="charts">(?<json>.*?)<\/script>/su.exec(page)?.groups?.['json'] ?? '');
    expect(data).toHaveLength(charts);
  });
});

interface DrawnSeries {
  readonly label: string;
  readonly stroke?: string;
  readonly spanGaps?: boolean;
  readonly points?: { readonly show: boolean };
}
interface DrawnChart {
  readonly series: readonly DrawnSeries[];
  readonly rows: number;
  isGone: boolean;
}

/** Runs the script as a browser would. */
function drawnBy(page: string): { readonly drawn: readonly DrawnChart[]; readonly darken: () => void } {
  const drawn: DrawnChart[] = [];
  let changeColours: () => void = () => undefined;
  let paper = 'light';
  const data = /id="charts">(?<json>.*?)<\/script>/su.exec(page)?.groups?.['json'] ?? '';
  runInNewContext(REPORT_SCRIPT, {
    document: { documentElement: {}, getElementById: (id: string) => (id === 'charts' ? { textContent: data } : { clientWidth: 800 }) },
    getComputedStyle: () => ({ getPropertyValue: (name: string) => ` ${paper}${name}` }),
    matchMedia: () => ({
      addEventListener: (_: string, listener: () => void) => {
        changeColours = listener;
      },
    }),
    addEventListener: () => undefined,
    innerWidth: 800,
    uPlot: class {
      readonly #chart: DrawnChart;
      constructor({ series }: { series: readonly DrawnSeries[] }, values: readonly (readonly number[])[]) {
        expect(values).toHaveLength(series.length);
        this.#chart = { series, rows: values[0]?.length ?? 0, isGone: false };
        drawn.push(this.#chart);
      }
      destroy(): void {
        this.#chart.isGone = true;
      }
    },
  });
  const darken = (): void => {
    paper = 'dark';
    changeColours();
  };
  return { drawn, darken };
}

describe('the script of the report', () => {
  it('draws every chart from the data of the page, and again in other colours', async () => {
    const { drawn, darken } = drawnBy(await reportPage(madeUpResult()));
    expect(drawn.map(({ rows }) => rows)).toEqual([3, 3, 38, 3, 3]);
    expect(drawn[0]?.series.map(({ label }) => label)).toEqual(['seconds since the run began', 'p50', 'p99', 'max']);
    darken();
    expect(drawn.map(({ isGone }) => isGone)).toEqual([...Array<boolean>(5).fill(true), ...Array<boolean>(5).fill(false)]);
    expect(drawn[5]?.series[1]?.stroke).toBe('dark--line-1');
  });

  it('shows values that stand alone between stretches without any', async () => {
    const [stretch] = madeUpResult().seconds;
    const sparse = Array.from({ length: 200 }, (_, atS) =>
      stretch === undefined ? [] : [{ ...stretch, atS, firstAudioP50: atS % 2 === 0 ? 50 : null, replyMax: atS === 100 ? 9 : null }],
    ).flat();
    const shown = drawnBy(await reportPage(madeUpResult({ seconds: sparse }))).drawn.flatMap(({ series }) => series.slice(1));
    expect(shown.every(({ spanGaps }) => spanGaps)).toBe(true);
    // One value alone is a point: there is no line to it.
    expect(shown.map(({ points }) => points?.show).slice(0, 6)).toEqual([false, false, false, false, true, true]);
  });
});

describe('the figures of a load', () => {
  it('are for people: what was heard, what went wrong, and whether it counts', () => {
    const result = madeUpResult({
      calls: { ...madeUpResult().calls, failed: 3, refused: 1 },
      failures: [{ code: 'no_answer', count: 3, example: 'no answer to speech within 10000 ms' }],
      breaches: { 'G-13': 2 },
    });
    const text = resultText(result, checkCriteria(parseCriteria('first-audio p99 < 300ms, failed < 1'), result), false);
    expect(text).toContain('calls          1000 over, 10.00/s, at once 100 (most 110)');
    expect(text).toMatch(/first audio +1000 +50\.5 +50\.0 +90\.0 +99\.\d +100 +100/u);
    expect(text).toContain('no_answer: 3 times, such as: no answer to speech within 10000 ms');
    expect(text).toContain('G-13 broken 2 times');
    expect(text).toContain('holds  first-audio p99 < 300ms: 99.');
    expect(text).toContain('FAILS  failed < 1: 3.00');
    expect(text).toContain('measured, with 3 failed calls');
    expect(text).not.toContain('\u001b');
  });

  it('tell each level from the others', () => {
    const { calls, turns, firstAudio, reply, gapsOver100Ms } = madeUpResult();
    const level = { fromS: 0, toS: 50, calls, turns, firstAudio, reply, gapsOver100Ms };
    const levels = [
      { ...level, name: '50 calls' },
      { ...level, name: '100 calls', reply: timesOf([]) },
    ];
    const text = resultText(madeUpResult({ levels }), [], false);
    expect(text).toMatch(/50 calls +1000 +100 +10\.00 +0 +0 +50\.0 +99\.\d +500 +990 +0\n/u);
    expect(text).toMatch(/100 calls +1000 +100 +10\.00 +0 +0 +50\.0 +99\.\d +- +- +0\n/u);
  });

  it('are no result when the load was too slow', () => {
    const text = resultText(madeUpResult({ saturated: true, saturation: ['worker 1 used 99 % of a core'] }), [], false);
    expect(text).toContain('no result');
    expect(text).toContain('worker 1 used 99 % of a core');
  });
});
