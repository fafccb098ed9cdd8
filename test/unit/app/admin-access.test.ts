import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { INTEGRATION_KEY } from '../../../src/admin/oauth/integration-tokens.ts';
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
  const access = await openAdminAccess(settings.admin, { ...common, purpose: 'read' });
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

it('keeps no server from taking the store, and writes into one that nobody holds', async () => {
  const around = await adminSurroundings();
  const access = await looking(around);
  expect(access.isHeldElsewhere).toBe(false);
  await Promise.all([access.store.set('one', '1'), access.store.set('two', '2')]);
  const held = await around.openStore();
  expect([await held.get('one'), await held.get('two')]).toEqual(['1', '2']);
  await held.set('one', 'of a server');
  expect(await access.store.get('one')).toBe('of a server');
  await held.close();
  await access.store.delete('two');
  expect(await access.store.keys('')).toContain('one');
  expect(await access.store.get('two')).toBeUndefined();
});

it('makes no folder for a path that was mistyped', async () => {
  const around = await adminSurroundings();
  const folder = path.join(path.dirname(around.storeFile), 'mistyped');
  const access = await looking({ ...around, flags: [...around.flags, `--admin.store.file=${path.join(folder, 'admin.store')}`] });
  const asked = access.tokensOf(ORG).current(new AbortController().signal);
  await expect(asked).rejects.toMatchObject({ code: 'org_not_registered' });
  await expect(access.access.integration?.keepAlive(new AbortController().signal)).rejects.toMatchObject({ code: 'login_needed' });
  expect(existsSync(folder)).toBe(false);
});

it('renews a token while the store is its own, and none while a server holds it, but uses it as long as it lasts', async () => {
  const around = await adminSurroundings({ switches: { accessTokenSeconds: 50 } });
  const access = await looking(around);
  const token = () => access.access.integration?.keepAlive(new AbortController().signal);
  const refreshes = () => around.api.journal.count('POST /access_token');
  // It ends within admin.token_expiry_buffer_s.
  const held = await around.openStore();
  await token();
  expect(refreshes()).toBe(0);
  await held.close();
  await token();
  expect(refreshes()).toBe(1);
  const after = await around.openStore();
  expect(await after.get(INTEGRATION_KEY)).toBeDefined();
  await after.close();
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
