import { describe, expect, it } from 'vitest';
import { joinedOrganizations, OrganizationReport } from '../../../src/telemetry/organization-report.ts';
import { callFacts } from '../../support/call-events.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const HOUR_MS = 3_600_000;

function report(open: Readonly<Record<string, number>> = {}) {
  const clock = new FakeClock(100 * HOUR_MS);
  const limitsOf = (organizationId: string) => ({ maxSessions: organizationId === 'small' ? 5 : 0, maxNewPerSecond: 0 });
  const organizations = new OrganizationReport(clock, { openCalls: new Map(Object.entries(open)), limitsOf });
  const call = (organizationId: string, end: Parameters<OrganizationReport['sessionEnded']>[1], ms = 60_000): void => {
    const facts = callFacts({ organizationId, startedAtMs: clock.nowMs() - ms });
    organizations.sessionStarted(facts);
    organizations.sessionEnded(facts, end);
  };
  return { clock, organizations, call };
}

describe('the report of organizations', () => {
  it('has the calls of each, how they ended and what was refused, those with most calls first', () => {
    const { organizations, call } = report({ small: 2 });
    call('small', 'caller');
    call('big', 'bot_transfer', 90_000);
    call('big', 'bot_transfer');
    call('big', 'failed');
    // It began elsewhere, or goes on there.
    organizations.sessionStarted(callFacts({ organizationId: 'big' }), true);
    organizations.sessionEnded(callFacts({ organizationId: 'big' }), 'moved');
    organizations.callRefused(callFacts({ organizationId: 'small' }), 'organization');
    expect(organizations.organizations).toEqual([
      {
        ...{ organizationId: 'big', openCalls: 0, maxCalls: 0, begun: 3, durationMs: 210_000 },
        ...{ ends: { bot_transfer: 2, failed: 1 }, refused: {} },
      },
      {
        ...{ organizationId: 'small', openCalls: 2, maxCalls: 5, begun: 1, durationMs: 60_000 },
        ...{ ends: { caller: 1 }, refused: { organization: 1 } },
      },
    ]);
  });

  it('goes back a day', () => {
    const { organizations, call, clock } = report();
    for (let hour = 0; hour < 30; hour += 1) {
      call('a', 'caller');
      clock.advance(HOUR_MS);
    }
    expect(organizations.organizations).toMatchObject([{ begun: 23 }]);
    clock.advance(23 * HOUR_MS);
    expect(organizations.organizations).toEqual([]);
  });

  it('keeps a bounded number of names, and counts all calls', () => {
    const { organizations, call } = report();
    for (let organization = 0; organization < 1500; organization += 1) call(`o${String(organization)}`, 'caller');
    call('o3', 'caller');
    const shown = organizations.organizations;
    expect(shown).toHaveLength(1000);
    expect(shown.slice(0, 2)).toMatchObject([
      { organizationId: '(others)', begun: 500 },
      { organizationId: 'o3', begun: 2 },
    ]);
  });

  it('of several processes is their sum', () => {
    const [one, two] = [report({ small: 1 }), report({ small: 2 })];
    one.call('small', 'caller');
    two.call('small', 'idle');
    two.call('small', 'caller');
    expect(joinedOrganizations([one, two].map(({ organizations }) => organizations.organizations))).toMatchObject([
      { organizationId: 'small', openCalls: 3, maxCalls: 5, begun: 3, durationMs: 180_000, ends: { caller: 2, idle: 1 } },
    ]);
  });
});
