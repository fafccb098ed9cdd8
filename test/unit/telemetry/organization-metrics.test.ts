import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { organizationMetrics } from '../../../src/telemetry/organization-metrics.ts';
import { callFacts } from '../../support/call-events.ts';

it('has the first hundred listed organizations as labels, and all others as one', async () => {
  const registry = new Registry();
  const perOrganization = { maxSessions: 7, maxNewPerSecond: 0 };
  const ids = Array.from({ length: 150 }, (_, index) => `listed-${String(index)}`);
  const organizations = new Map(ids.map((id) => [id, { ...perOrganization, maxSessions: 3 }]));
  const openCalls = new Map([
    ['listed-0', 2],
    ['listed-120', 1],
    ['stranger', 4],
  ]);
  const observer = organizationMetrics(registry, { limits: { organizations, perOrganization }, admission: { openCalls } });
  for (const organizationId of ['listed-0', 'stranger', 'listed-120']) observer.sessionStarted?.(callFacts({ organizationId }));
  observer.sessionStarted?.(callFacts({ organizationId: 'listed-0' }), true);
  const lines = async (): Promise<readonly string[]> => (await registry.metrics()).split('\n');
  expect(await lines()).toEqual(
    expect.arrayContaining([
      'parley_organization_sessions_open{organization="listed-0"} 2',
      'parley_organization_sessions_open{organization="other"} 5',
      'parley_organization_sessions_limit{organization="listed-0"} 3',
      'parley_organization_sessions_limit{organization="other"} 7',
      'parley_organization_sessions_started_total{organization="listed-0"} 1',
      'parley_organization_sessions_started_total{organization="other"} 2',
    ]),
  );
  expect((await lines()).filter((line) => line.startsWith('parley_organization_sessions_open{'))).toHaveLength(101);
  openCalls.clear();
  expect(await lines()).toContain('parley_organization_sessions_open{organization="listed-0"} 0');
});
