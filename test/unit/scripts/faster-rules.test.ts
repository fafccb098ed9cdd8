// The rules for a check that has no month: all times are shorter, and nothing else is.
import { expect, it } from 'vitest';
import { fasterRules } from '../../../scripts/ops/faster-rules.ts';
import { filesUnder } from '../../support/source-tree.ts';

it('divides windows, waits and thresholds that are times', () => {
  const rule = (window: string, wait: string, least: string): string =>
    `      - alert: A\n        expr: rate(x:ratio_rate5m[${window}]) > 14.4 * 0.001 and min(end) - time() < ${least}\n        for: ${wait}\n`;
  expect(fasterRules(rule('5m', '1h', '14 * 86400'), 60)).toBe(rule('5000ms', '60000ms', '14 * 86400 / 60'));
  expect(fasterRules(rule('5m', '2m', '14 * 86400'), 60)).toBe(rule('5000ms', '4000ms', '14 * 86400 / 60'));
});

it('leaves no time of the shipped rules as it is', () => {
  const text = filesUnder(['deploy/prometheus/slo.yaml', 'deploy/prometheus/alerts.yaml'])
    .map((file) => file.text.replaceAll(/#.*/gu, ''))
    .join('\n');
  const times = (rules: string): readonly string[] => rules.match(/\[[^\]]+\]|\bfor: .*|\btime\(\).*|\* (?:60|3600|86400)\b.*/gu) ?? [];
  const [before, after] = [times(text), times(fasterRules(text, 60))];
  expect(before.length).toBeGreaterThan(60);
  expect(after).toHaveLength(before.length);
  expect(after.filter((each) => before.includes(each))).toEqual([]);
});
