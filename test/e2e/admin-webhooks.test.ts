// `parley admin webhooks` over sockets against the fake platform: what it has afterwards is what counts.
import { expect, it } from 'vitest';
import { keptRegistrations } from '../../src/admin/webhooks/kept-registrations.ts';
import { runAdmin } from '../support/admin-command.ts';
import { adminWorld, type AdminWorld } from '../support/admin-world.ts';

/** The secrets that are kept, by event. */
async function kept(around: AdminWorld) {
  const store = await around.openStore();
  const { authorized, deauthorized } = await keptRegistrations(store);
  await store.close();
  return { authorized: authorized?.current, deauthorized: deauthorized?.current };
}

it('R-23 registers both and mends them, and says what was done for each', async () => {
  const around = await adminWorld();
  const { api, run, json } = around;
  const created = await run('webhooks', 'ensure');
  expect(created).toMatchObject({ code: 0, err: '' });
  expect(created.out).toMatch(/^DONE +EVENT +ID\ncreated +authorized +\S+\ncreated +deauthorized +\S+\n$/u);
  expect(api.webhooks().map(({ secret }) => secret)).toEqual(Object.values(await kept(around)));
  api.deactivateWebhook(api.webhooks()[1]?.id ?? '');
  expect(await json('webhooks', 'ensure')).toMatchObject([
    { event: 'authorized', outcome: 'kept' },
    { event: 'deauthorized', outcome: 'reactivated', webhookId: api.ids.encode('WEBHOOK', api.webhooks()[1]?.id ?? '') },
  ]);
  const unwanted = await run(
    'webhooks',
    'ensure',
    '--admin.webhooks.target_url=',
    '--admin.organizations=["ce861fba-6e2f-49f9-9a84-b354008fac9e"]',
  );
  expect(unwanted).toMatchObject({ code: 2, out: '' });
  expect(unwanted.err).toContain('admin.webhooks.target_url');
});

it('R-24 says what failed, and what did not', async () => {
  const { api, run } = await adminWorld();
  api.faults.add('POST /webhooks', { kind: 'answer', status: 403, message: 'not you' });
  const end = await run('webhooks', 'ensure', '--json');
  expect(end.code).toBe(1);
  expect(JSON.parse(end.out)).toMatchObject([
    { event: 'authorized', outcome: 'failed', error: 'platform_refused' },
    { event: 'deauthorized', outcome: 'created' },
  ]);
  expect(end.err).toMatch(/^error platform_refused .*not you \(tracking id \S+\)$/mu);
});

it('lists all of them, with whose they are and every member that is not secret', async () => {
  const around = await adminWorld();
  const { api, run, json } = around;
  expect(await run('webhooks', 'list')).toMatchObject({ code: 0, out: 'there are no webhooks\n', err: '' });
  await run('webhooks', 'ensure');
  const elsewhere = '--admin.webhooks.target_url=http://127.0.0.1:9/elsewhere';
  const ids = api.webhooks().map(({ id }) => api.ids.encode('WEBHOOK', id));
  const { out } = await run('webhooks', 'list');
  expect(out).toMatch(/^ID +NAME +RESOURCE +EVENT +STATUS +OWNER +OWNED BY +CREATED +FILTER +TARGET\n/u);
  expect(out).toMatch(
    new RegExp(
      `^${ids[0] ?? ''} +Parley: service app authorized +serviceApp +authorized +active +ours +creator +\\S+Z +id=\\S+ +http`,
      'mu',
    ),
  );
  expect(await json('webhooks', 'list', elsewhere)).toMatchObject(
    ids.map((id) => ({
      id,
      owner: 'ours',
      filter: expect.stringMatching(/^id=/u) as string,
      ownedBy: 'creator',
      created: expect.any(String) as string,
    })),
  );
  const another = await json('webhooks', 'list', '--admin.service_app.client_id=C0123456789abcdef');
  expect(another).toMatchObject([{ owner: 'other' }, { owner: 'other' }]);
  // Without its secret a webhook is known by what it looks like.
  const store = await around.openStore();
  for (const key of await store.keys('webhooks/')) await store.delete(key);
  await store.close();
  expect(await json('webhooks', 'list')).toMatchObject([{ owner: 'ours' }, { owner: 'ours' }]);
  expect(await json('webhooks', 'list', elsewhere)).toMatchObject([{ owner: 'same_app' }, { owner: 'same_app' }]);
});

it('deletes one that is confirmed, and forgets its secret', async () => {
  const around = await adminWorld();
  const { api, run } = around;
  await run('webhooks', 'ensure');
  const [first, second] = api.webhooks();
  const id = api.ids.encode('WEBHOOK', first?.id ?? '');
  const unasked = await run('webhooks', 'delete', id);
  expect(unasked).toMatchObject({ code: 2, out: '' });
  const nobody = await run('webhooks', 'delete', 'nobody', '--yes');
  expect(nobody).toMatchObject({ code: 1, out: '' });
  expect(nobody.err).toContain('no such webhook');
  expect(api.webhooks()).toHaveLength(2);

  const yes = { isThere: true, confirms: () => Promise.resolve(true) };
  const deleted = await runAdmin(['webhooks', 'delete', id, '--json', ...around.flags], { person: yes });
  expect(deleted.code).toBe(0);
  expect(JSON.parse(deleted.out)).toMatchObject({ outcome: 'deleted', webhook: { id, event: 'authorized', owner: 'ours' } });
  expect(deleted.err).toContain('registers another one');
  expect(api.webhooks()).toEqual([second]);
  expect(await kept(around)).toEqual({ authorized: undefined, deauthorized: second?.secret });
  // In its bare spelling (H-04).
  expect((await run('webhooks', 'delete', second?.id ?? '', '--yes')).code).toBe(0);
  expect(api.webhooks()).toEqual([]);
});

it('while a server holds the store they can be looked at, and ours are left to it', async () => {
  const around = await adminWorld();
  const { api, run, json } = around;
  await run('webhooks', 'ensure');
  const id = api.ids.encode('WEBHOOK', api.webhooks()[0]?.id ?? '');
  const held = await around.openStore();
  try {
    expect(await json('webhooks', 'list')).toHaveLength(2);
    for (const argv of [['ensure'], ['delete', id, '--yes']]) {
      const end = await run('webhooks', ...argv);
      expect(end).toMatchObject({ code: 1, out: '' });
      expect(end.err).toMatch(/error store_failed .*a running server/u);
    }
    expect(api.webhooks()).toHaveLength(2);
  } finally {
    await held.close();
  }
});
