// Asks Debian's promtool whether rules are well-formed, and whether alerts fire when they must and only then.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stringify } from 'yaml';
import type { AlertCase } from './alert-cases.ts';
import type { DebianNeeds } from './debian.ts';
import { metricsOf, RULES, type Rule } from './metric-names.ts';
import { ROOT } from './source-tree.ts';

/** For `requireDebian`. */
export const PROMETHEUS_NEEDS: DebianNeeds = { commands: ['promtool', 'prometheus'], packages: ['prometheus'] };

/** What is in deploy/prometheus. */
export const RULE_FILES: readonly string[] = ['slo.yaml', 'alerts.yaml'].map((name) => path.join(ROOT, 'deploy', 'prometheus', name));

/** What it said, and whether all is well. */
export interface Judgement {
  readonly ok: boolean;
  readonly said: string;
}

/** Runs promtool. @throws Error when it is not there. */
export function promtool(...words: readonly string[]): Judgement {
  const { status, stdout, stderr, error } = spawnSync('promtool', words, { encoding: 'utf8', timeout: 60_000 });
  if (error !== undefined) throw error;
  return { ok: status === 0, said: stdout + stderr };
}

/**
 * Plays every case: the alert is silent, fires and ends at the given times, and what is calm fires none of its name.
 *
 * @param rules - that may hold others as well.
 */
export function alertsJudged(cases: readonly AlertCase[], rules: readonly Rule[] = RULES): Judgement {
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-alerts-'));
  try {
    const files = cases.map((each, index) => {
      const ruleFile = path.join(folder, `${String(index)}.rules.yaml`);
      // Only what the alert needs: promtool computes all rules of a file for every minute.
      writeFileSync(ruleFile, stringify({ groups: [{ name: 'own', rules: rulesFor(each.alert, rules) }] }));
      const { silent, firing, over } = each;
      const tests = [
        played('a fault', each, { [silent]: 0, [firing]: 1, [over]: 0 }),
        played('calm', each, { [silent]: 0, [firing]: 0, [over]: 0 }),
      ];
      const file = path.join(folder, `${String(index)}.test.yaml`);
      writeFileSync(file, stringify({ rule_files: [ruleFile], evaluation_interval: '1m', tests }));
      return file;
    });
    return promtool('test', 'rules', ...files);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The rules of an alert, after those that record what it names. */
function rulesFor(name: string, rules: readonly Rule[]): readonly Rule[] {
  const alerts = rules.filter((rule) => 'alert' in rule && rule.alert === name);
  const named = new Set(alerts.flatMap(({ expr }) => metricsOf(expr)));
  return [...rules.filter((rule) => 'record' in rule && named.has(rule.record)), ...alerts];
}

/** @param firing - how many alerts fire at each minute. */
function played(name: 'a fault' | 'calm', { alert, severity, fault, calm }: AlertCase, firing: Readonly<Record<number, number>>): object {
  const expr = `count(ALERTS{alertname="${alert}",alertstate="firing",severity="${severity}"})`;
  return {
    name: `${alert}, ${severity}: ${name}`,
    interval: '1m',
    input_series: Object.entries(name === 'calm' ? calm : fault).map(([series, values]) => ({ series, values })),
    promql_expr_test: Object.entries(firing).map(([minute, count]) => ({
      expr,
      eval_time: `${minute}m`,
      exp_samples: count === 0 ? [] : [{ labels: '{}', value: count }],
    })),
  };
}
