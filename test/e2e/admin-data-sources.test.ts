// `parley admin data-sources` and `schemas` over sockets: what is shown, what is refused, and what a running server means for
// it. What the changes do has a file of its own.
import { expect, it } from 'vitest';
import { tokensKey } from '../../src/admin/organizations.ts';
import { writeKeptEvent } from '../../src/admin/webhooks/kept-events.ts';
import { ADDRESS, ORG, servedWorld, type AdminWorld } from '../support/admin-world.ts';

const OTHER_ORG = '0a5e9a2c-9a3e-4a0e-8a53-1f2a3b4c5d6e';

/** The access token that is kept for the organization. */
async function keptToken(around: AdminWorld): Promise<string> {
  const store = await around.openStore();
  const text = await store.get(tokensKey(ORG));
  await store.close();
  return /"accessToken":"(?<token>[^"]+)"/u.exec(text ?? '')?.groups?.['token'] ?? '';
}

it('lists all that the known organizations have, with whose they are and which is in use', async () => {
  const { run, json, api, only } = await servedWorld();
  const empty = await run('data-sources', 'list', '--org', OTHER_ORG);
  expect(empty).toMatchObject({ code: 1, out: '' });
  expect(empty.err).toContain('error org_not_registered');

  const listed = await run('data-sources', 'list');
  expect(listed).toMatchObject({ code: 0, err: '' });
  const lines = listed.out.trimEnd().split('\n');
  expect(lines[0]).toMatch(/^ID +ORGANIZATION +TRANSPORT +STATUS +TOKEN ENDS +OWNER +IN USE +URL$/u);
  expect(lines.slice(1).map((line) => line.split(/ {2,}/u))).toEqual([
    [only().id, ORG, 'grpc', 'active', expect.stringContaining(`${only().tokenExpiryTime.slice(0, 19)}Z (in `), 'ours', 'yes', ADDRESS],
  ]);
  const { id, url } = only();
  expect(await json('data-sources', 'list')).toMatchObject([{ id, url, transport: 'grpc', owner: 'ours', isInUse: true, differences: [] }]);

  // One that fails keeps nobody else from being shown.
  const both = await run('data-sources', 'list', `--admin.organizations=${JSON.stringify([OTHER_ORG, ORG])}`);
  expect(both.code).toBe(1);
  expect(both.out).toContain(id);
  expect(both.err).toContain(`organization ${OTHER_ORG}:`);
  api.switches.drift.sparseItems = 'with_id';
  expect(await json('data-sources', 'list')).toMatchObject([{ id, status: 'active' }]);
});

it('knows organizations by their events, and leaves out those that took their authorization back', async () => {
  const around = await servedWorld({ isRegistered: false });
  const store = await around.openStore();
  const event = { version: 1 as const, generation: 1, done: 1, authorizerOrgId: ORG, authorizedAtMs: 1, seen: [] };
  await writeKeptEvent(store, ORG, { ...event, event: 'authorized' });
  await writeKeptEvent(store, OTHER_ORG, { ...event, event: 'deauthorized' });
  await store.close();
  const meant = await around.run('data-sources', 'list');
  expect(meant).toMatchObject({ code: 1, out: '' });
  expect(meant.err).toContain(`error org_not_registered  organization ${ORG}: no token of the app is kept for it`);
});

it.each(['while a server holds the store', 'while no server runs'])(
  'says %s that no token is kept for an organization whose event never came, and asks for none',
  async (when) => {
    const around = await servedWorld();
    around.api.authorize(OTHER_ORG);
    const asked = around.api.journal.entries.length;
    const held = when.includes('holds') ? await around.openStore() : undefined;
    try {
      const looks = [['list'], ['get', 'some-id'], ['update', 'some-id', '--set', 'status=active'], ['delete', 'some-id', '--yes']];
      for (const argv of [...looks.map((look) => ['data-sources', ...look]), ['schemas', 'list']]) {
        const end = await around.run(...argv, '--org', OTHER_ORG);
        expect(end).toMatchObject({ code: 1, out: '' });
        expect(end.err).toContain(`error org_not_registered  organization ${OTHER_ORG}: no token of the app is kept for it`);
      }
    } finally {
      await held?.close();
    }
    expect(around.api.journal.entries).toHaveLength(asked);
  },
);

it('shows one with what is not as the configuration wants it, and the word of the platform', async () => {
  const { run, json, api, only } = await servedWorld();
  api.disableDataSource(only().id, `\u001b[31mtoo\nmany ${only().nonce} failures`);
  const shown = await run('data-sources', 'get', only().id, '--org', ORG, '--admin.data_sources.subject=another');
  expect(shown).toMatchObject({ code: 0, err: '' });
  expect(shown.out).toMatch(/^status +disabled$/mu);
  expect(shown.out).toMatch(/^error message +.*many \[hidden\] failures$/mu);
  expect(shown.out).toMatch(/^differs +subject is sub, the configuration wants another$/mu);
  expect(shown.out).toMatch(/^differs +status is disabled, the configuration wants active$/mu);
  expect(shown.out).not.toContain('\u001b');
  const differences = [{ member: 'status', is: 'disabled', wanted: 'active' }];
  expect(await json('data-sources', 'get', only().id, '--org', ORG)).toMatchObject({ owner: 'ours', isInUse: true, differences });
});

it.each([
  ['get', 404],
  ['get', 410],
  ['renew', 404],
  ['delete', 404],
  ['update', 404],
] as const)('%s says that there is none of an id (%i)', async (name, status) => {
  const { run, api } = await servedWorld();
  if (status === 410) api.faults.add('GET /dataSources/:id', { kind: 'answer', status });
  const more = name === 'update' ? ['--set', 'status=active'] : name === 'delete' ? ['--yes'] : [];
  const end = await run('data-sources', name, 'nobody', '--org', ORG, ...more);
  expect(end).toMatchObject({ code: 1, out: '' });
  expect(end.err).toMatch(/^error platform_refused {2}organization \S+ has no such data source: .*tracking id/mu);
  expect(end.err).toContain('what to do');
});

it('L-11 leaves the data sources of another app alone', async () => {
  const { run, only, json } = await servedWorld();
  const { id } = only();
  const another = '--admin.service_app.client_id=C0123456789abcdef';
  for (const argv of [
    ['update', id, '--set', 'status=active'],
    ['update', id, '--set', 'subject=x', '--yes'],
    ['delete', id, '--yes'],
  ]) {
    const end = await run('data-sources', ...argv, '--org', ORG, another);
    expect(end).toMatchObject({ code: 1, out: '' });
    expect(end.err).toContain('belongs to another app');
  }
  expect(await json('data-sources', 'list', another)).toMatchObject([{ id, owner: 'other_app', isInUse: false }]);
  expect(only().subject).toBe('sub');
});

it('while a server holds the store everything can be looked at, and no nonce changed', async () => {
  const around = await servedWorld();
  const { run, only, json } = around;
  const { id, nonce } = only();
  const held = await around.openStore();
  try {
    const refused = await run('data-sources', 'update', id, '--org', ORG, '--set', 'subject=x');
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain('a running server or another command holds the sealed store');
    expect(only()).toMatchObject({ nonce, subject: 'sub' });
    expect(await json('data-sources', 'list')).toMatchObject([{ id, isInUse: true }]);
    expect(await json('schemas', 'list')).toHaveLength(2);
    const disabled = await run('data-sources', 'update', id, '--org', ORG, '--set', 'status=disabled', 'message=x');
    expect(disabled.err).toContain('changes this back: status');
    expect(only()).toMatchObject({ status: 'disabled', nonce });
    expect((await run('data-sources', 'delete', id, '--org', ORG, '--yes')).code).toBe(0);
  } finally {
    await held.close();
  }
});

it('says what the platform said, with its tracking id', async () => {
  const { run, only, api } = await servedWorld();
  const { id, nonce } = only();
  const commands: readonly (readonly string[])[] = [
    ['data-sources', 'list'],
    ['data-sources', 'get', id, '--org', ORG],
    ['data-sources', 'renew'],
    ['data-sources', 'update', id, '--org', ORG, '--set', 'status=active'],
    ['data-sources', 'delete', id, '--org', ORG, '--yes'],
    ['schemas', 'list'],
    ['webhooks', 'list'],
  ];
  for (const argv of commands) {
    // What was sent and comes back is hidden; what was not sent is no news to whoever reads the answer.
    const quoted = argv.includes('update') ? nonce : 'nothing';
    api.faults.add(argv.includes('update') ? 'PUT /dataSources/:id' : 'any', {
      kind: 'answer',
      status: 409,
      message: `a rule \u001b[2J of ${quoted}`,
    });
    const end = await run(...argv);
    expect(end).toMatchObject({ code: 1, out: '' });
    expect(end.err).toMatch(/^error platform_refused {2}.*: a rule .*\(tracking id \S+\)$/mu);
    expect(end.err).not.toContain('\u001b');
    api.faults.clear();
  }
  expect(only()).toMatchObject({ id, nonce });
});

it('the schemas with the transport that each stands for, and every member of their records', async () => {
  const { run, json } = await servedWorld();
  const { out } = await run('schemas', 'list', '--org', ORG);
  expect(out.split('\n')[0]).toMatch(/^ID +TRANSPORT +PROTOCOL +SERVICE +APP TYPE +CREATED +NAME +URL$/u);
  expect(out).toMatch(/^\S+ +grpc +gRPC +webService +serviceApp +\S+Z +Voice agent on gRPC +https:\S+$/mu);
  expect(await json('schemas', 'list')).toMatchObject([
    { transport: 'grpc' },
    { transport: 'websocket', serviceType: 'webService', appType: 'serviceApp', createdAt: expect.any(String) as string },
  ]);
});

it('tokens of their own are those of one organization', async () => {
  const around = await servedWorld();
  const { run, json } = around;
  const token = await keptToken(around);
  const own = ['--admin.login=static_token', `--admin.static_token.access_token=${token}`, `--admin.organizations=["${ORG}"]`];
  expect(await json('data-sources', 'list', ...own)).toMatchObject([{ owner: 'unknown', isInUse: true }]);
  const other = await run('data-sources', 'list', '--org', OTHER_ORG, ...own);
  expect(other).toMatchObject({ code: 2, out: '' });
  expect(other.err).toContain('the only organization');
  expect((await run('data-sources', 'list', '--org', 'nonsense', ...own)).code).toBe(2);
  const webhooks = await run('webhooks', 'list', ...own);
  expect(webhooks).toMatchObject({ code: 2, out: '' });
  expect(webhooks.err).toContain('admin.login is static_token');
});

it('flags of settings are not taken for ids', async () => {
  const { run } = await servedWorld();
  expect(await run('data-sources', 'renew', '--admin.retry_interval_s=1')).toMatchObject({ code: 2 });
  expect((await run('data-sources', 'renew', '--admin.data_sources.retry_interval_s=1')).out).toContain('renewed');
  const missing = await run('data-sources', 'get', '--org', ORG);
  expect(missing).toMatchObject({ code: 2, out: '' });
  expect(missing.err).toContain('the id is missing');
});
