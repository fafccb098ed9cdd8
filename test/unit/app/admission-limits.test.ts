import { expect, it } from 'vitest';
import { loadSettings } from '../../../src/app/config/load-settings.ts';
import { admissionLimits } from '../../../src/app/room-settings.ts';

const OPEN = ['--tls.mode=off', '--auth.enabled=false', '--grpc.host=127.0.0.1'];

it('gives an organization the limits that are written for it, and the general one where none is written', () => {
  const organizations = [
    { organization_id: 'big', max: 0 },
    { organization_id: 'fast', max_new_per_s: 200, weight: 4 },
  ];
  const general = ['--sessions.max_per_organization=7', '--sessions.max_new_per_s_per_organization=3'];
  const { settings } = loadSettings({ argv: [...OPEN, ...general, `--sessions.organizations=${JSON.stringify(organizations)}`] });
  const limits = admissionLimits(settings);
  expect(limits.perOrganization).toEqual({ maxSessions: 7, maxNewPerSecond: 3, weight: 1 });
  expect(limits.organizations.get('big')).toEqual({ maxSessions: 0, maxNewPerSecond: 3, weight: 1 });
  expect(limits.organizations.get('fast')).toEqual({ maxSessions: 7, maxNewPerSecond: 200, weight: 4 });
});

it('lets no organization take everything from the others unless that is asked for', () => {
  const { perOrganization, reservedPercent } = admissionLimits(loadSettings({ argv: OPEN }).settings);
  expect(reservedPercent).toBeGreaterThan(0);
  expect(perOrganization.maxNewPerSecond).toBeGreaterThan(0);
});

it('refuses an organization that stands there twice', () => {
  const twice = JSON.stringify([{ organization_id: 'a' }, { organization_id: 'a' }]);
  expect(() => loadSettings({ argv: [...OPEN, `--sessions.organizations=${twice}`] })).toThrow('an organization appears once');
});
