// docs/metrics.md names exactly the metrics that the server serves: name, type, labels and meaning. On a difference the
// failure shows the row that belongs into the document.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NOT_READY_REASONS } from '../../src/ops/readiness.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { WorkersMetrics } from '../../src/telemetry/workers-metrics.ts';
import { CALM, callFacts, notifyAll } from '../support/call-events.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { watchedSource } from '../support/watched-source.ts';

const rows = readFileSync(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| `[a-z_\d]+` +\|/u.test(line))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim())
      .join(' | '),
  );

const SELF = { server: 'a', version: '1', readiness: { current: { ready: true, reasons: [] } }, reasons: NOT_READY_REASONS };

/** The text format after every event happened once, as documentation rows: a label shows only once it has been used. */
async function servedRows(): Promise<string[]> {
  const clock = new FakeClock();
  const limits = { organizations: new Map(), perOrganization: { maxSessions: 0, maxNewPerSecond: 0 } };
  const organizations = { limits, admission: { openCalls: new Map() } };
  const metrics = createMetrics({ knownBots: ['echo'], clock, load: CALM, organizations, self: SELF });
  for (const observer of [metrics.sessions, metrics.organizations]) notifyAll(observer, callFacts({ startedAtMs: clock.nowMs() }));
  metrics.tokens.tokenAccepted(true);
  metrics.admin.watch(
    () => [watchedSource({ expiresAtMs: 1000 })],
    () => 0,
  );

  const labels = new Map<string, Set<string>>();
  const served: { name: string; type: string; help: string }[] = [];
  const helps = new Map<string, string>();
  for (const line of [...(await metrics.text()).split('\n'), ...(await workersLines())]) {
    const [, helpName, help] = /^# HELP (\S+) (.*)$/u.exec(line) ?? [];
    if (helpName !== undefined && help !== undefined) helps.set(helpName, help);
    const [, name, type] = /^# TYPE (\S+) (\S+)$/u.exec(line) ?? [];
    if (name !== undefined && type !== undefined) served.push({ name, type, help: helps.get(name) ?? '' });
    const [, sample, inside] = /^([a-z_\d]+)\{([^}]*)\}/u.exec(line) ?? [];
    const owner = served.findLast((metric) => sample?.startsWith(metric.name));
    if (owner === undefined || inside === undefined) continue;
    const known = labels.get(owner.name) ?? new Set();
    for (const [, label] of inside.matchAll(/([a-z_]+)="/gu)) if (label !== undefined && label !== 'le') known.add(label);
    labels.set(owner.name, known);
  }
  return served.map(({ name, type, help }) => {
    const used = [...(labels.get(name) ?? [])].sort().map((label) => `\`${label}\``);
    return `\`${name}\` | ${type} | ${used.join(', ')} | ${help}`;
  });
}

/** What a server of several processes serves beside that; of the process it serves the same. */
async function workersLines(): Promise<readonly string[]> {
  const text = await new WorkersMetrics(() => ({ ready: 1, starting: 0 }), SELF).text();
  return text.split('\n').filter((line) => /^(?:# \w+ )?parley_workers/u.test(line));
}

describe('docs/metrics.md', () => {
  it('lists Parley’s own metrics, all of them and no others, with type, labels and meaning', async () => {
    const own = (row: string): boolean => row.startsWith('`parley_');
    const served = (await servedRows()).filter(own);
    expect(rows.filter(own)).toEqual(served);
    expect(served.length).toBeGreaterThan(8);
  });

  it('names the metrics of the process, all of them and no others', async () => {
    // Their labels depend on what the process does at the moment, so they are not compared.
    const nameAndType = (row: string): string => row.split(' | ').slice(0, 2).join(' | ');
    const ofProcess = (row: string): boolean => !row.startsWith('`parley_');
    const served = (await servedRows()).filter(ofProcess).map(nameAndType);
    const documented = rows.filter(ofProcess).map(nameAndType);
    expect(documented).toEqual(expect.arrayContaining(served));
    // Other systems than Linux measure less.
    if (process.platform === 'linux') expect(documented.sort()).toEqual(served.sort());
  });
});
