import { expect, it, onTestFinished } from 'vitest';
import { openAdminAccess, organizationIdOf, platformOf, type AdminAccess } from '../../../src/app/admin-access.ts';
import { loadSettings } from '../../../src/app/config/load-settings.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { createLogger } from '../../../src/base/log.ts';
import { OTHER_FLAGS } from '../../support/admin-command.ts';
import { adminSurroundings, type AdminSurroundings } from '../../support/admin-surroundings.ts';

const ORG = 'ce861fba-6e2f-49f9-9a84-b354008fac9e';

async function looking({ flags }: AdminSurroundings): Promise<AdminAccess> {
  const { settings } = loadSettings({ argv: [...flags, ...OTHER_FLAGS], env: {} });
  const common = { clock: systemClock, log: createLogger({ level: 'silent' }), profile: platformOf(settings) };
  const access = await openAdminAccess(settings.admin, { ...common, purpose: 'look' });
  onTestFinished(() => access.close());
  return access;
}

it('sees every change of whoever holds the store, and changes nothing itself', async () => {
  const around = await adminSurroundings();
  const held = await around.openStore();
  onTestFinished(() => held.close());
  const { store, isHeldElsewhere } = await looking(around);
  expect(isHeldElsewhere).toBe(true);
  expect(await store.get('one')).toBeUndefined();
  // Of the same length, and faster than a clock of files may tick.
  for (let count = 10; count < 60; count += 1) {
    await held.set('one', String(count));
    expect(await store.get('one')).toBe(String(count));
  }
  expect(await store.keys('on')).toEqual(['one']);
  for (const change of [store.set('one', 'x'), store.delete('one')]) await expect(change).rejects.toMatchObject({ code: 'store_failed' });
  expect(await held.get('one')).toBe('59');
});

it('has a store that nobody holds for itself', async () => {
  const around = await adminSurroundings();
  const access = await looking(around);
  expect(access.isHeldElsewhere).toBe(false);
  await access.close();
  await (await around.openStore()).close();
});

it('reads an organization in every spelling, and repeats none that is no id', async () => {
  const { profile } = await looking(await adminSurroundings());
  const urn = `${profile.ids?.urnScheme ?? ''}us/ORGANIZATION/${ORG}`;
  for (const written of [ORG, ORG.toUpperCase(), Buffer.from(urn).toString('base64'), Buffer.from(ORG).toString('base64url')]) {
    expect(organizationIdOf(written, profile)).toBe(ORG);
  }
  const message = 'this is no id of an organization: write its UUID, or its encoded id as the platform shows it';
  expect(() => organizationIdOf('CANARY', profile)).toThrow(expect.objectContaining({ code: 'config_invalid', message }) as Error);
});
