import { expect, it, onTestFinished } from 'vitest';
import { writeKeptEvent } from '../../../src/admin/webhooks/kept-events.ts';
import { openAdminAccess, platformOf } from '../../../src/app/admin-access.ts';
import { organizationsMeant } from '../../../src/app/admin-data-sources.ts';
import { loadSettings } from '../../../src/app/config/load-settings.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { OTHER_FLAGS } from '../../support/admin-command.ts';
import { keptLog } from '../../support/admin-server.ts';
import { adminSurroundings } from '../../support/admin-surroundings.ts';

const ORG = 'ce861fba-6e2f-49f9-9a84-b354008fac9e';
const GONE = '0f148aa0-1111-4222-8333-444455556666';

it('H-23 commands mean no organization of the settings that has taken its authorization back, unless it is named', async () => {
  const around = await adminSurroundings();
  const store = await around.openStore();
  const event = { version: 1, generation: 1, done: 1, event: 'deauthorized', authorizerOrgId: GONE, authorizedAtMs: 1, seen: [] } as const;
  await writeKeptEvent(store, GONE, event);
  await store.close();
  const argv = [...around.flags, ...OTHER_FLAGS, `--admin.organizations=${JSON.stringify([ORG, GONE])}`];
  const { settings } = loadSettings({ argv, env: {} });
  const { admin } = settings;
  const profile = platformOf(settings);
  const access = await openAdminAccess(admin, { profile, clock: systemClock, log: keptLog().log, purpose: 'read' });
  onTestFinished(() => access.close());
  expect(await organizationsMeant(undefined, { admin, access })).toEqual([ORG]);
  expect(await organizationsMeant(GONE, { admin, access })).toEqual([GONE]);
});
