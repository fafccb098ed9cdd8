import { expect, it } from 'vitest';
import { joinedRefusals, RefusedOrganizations } from '../../../src/telemetry/refused-organizations.ts';
import { FakeClock } from '../../support/fake-clock.ts';

it('names those that were refused most often, with the reason and when it was last', () => {
  const clock = new FakeClock();
  const refused = new RefusedOrganizations(clock);
  refused.add({ organizationId: 'a' }, 'total');
  for (let count = 0; count < 3; count += 1) refused.add({ organizationId: 'b' }, 'organization');
  clock.advance(1000);
  refused.add({ organizationId: 'b' }, 'organization');
  const [first, second] = refused.most;
  expect(first).toEqual({ organizationId: 'b', reason: 'organization', calls: 4, lastAtMs: clock.nowMs() });
  expect(second).toMatchObject({ organizationId: 'a', reason: 'total', calls: 1 });
});

it('stays as small however many call, and keeps those that are refused again and again', () => {
  const refused = new RefusedOrganizations(new FakeClock());
  for (let count = 0; count < 1000; count += 1) {
    refused.add({ organizationId: 'again' }, 'organization_rate');
    refused.add({ organizationId: `once ${String(count)}` }, 'total');
  }
  expect(refused.most).toHaveLength(20);
  expect(refused.most[0]).toMatchObject({ organizationId: 'again', calls: 1000 });
});

it('keeps two that come last and by turns, and are refused far more often than all before them', () => {
  const refused = new RefusedOrganizations(new FakeClock());
  for (let count = 0; count < 20; count += 1) refused.add({ organizationId: `once ${String(count)}` }, 'total');
  for (let count = 0; count < 1000; count += 1) {
    refused.add({ organizationId: 'a' }, 'organization');
    refused.add({ organizationId: 'b' }, 'organization');
  }
  expect(refused.most).toHaveLength(20);
  const [first, second, third] = refused.most;
  expect([first?.organizationId, second?.organizationId].sort()).toEqual(['a', 'b']);
  for (const one of [first, second]) expect(one?.calls).toBeGreaterThanOrEqual(1000);
  expect(third?.calls).toBe(1);
});

it('is added up for several processes', () => {
  const one = { organizationId: 'a', reason: 'organization', calls: 2, lastAtMs: 5 } as const;
  const joined = joinedRefusals([
    [one],
    [
      { ...one, calls: 1, lastAtMs: 9 },
      { ...one, organizationId: 'b', calls: 4 },
    ],
  ]);
  expect(joined).toEqual([
    { ...one, organizationId: 'b', calls: 4 },
    { ...one, calls: 3, lastAtMs: 9 },
  ]);
});
