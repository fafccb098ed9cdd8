// `parley admin orgs` against stores that real servers have written: who has authorized the app, what is kept, and forgetting it.
import { expect, it, onTestFinished } from 'vitest';
import { ownTokensKey } from '../../src/admin/own-tokens.ts';
import type { Person } from '../../src/cli/admin/person.ts';
import { runAdmin } from '../support/admin-command.ts';
import { adminWorld, ORG, servedWorld, type AdminWorld } from '../support/admin-world.ts';
import { RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import { until } from '../support/until.ts';

const OTHER_ORG = '0a5e9a2c-9a3e-4a0e-8a53-1f2a3b4c5d6e';
const AGAIN = 'A server begins with it again when the platform says that it has authorized the app.';
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/u) as string;

/** A server that has served an organization from its authorization on; it is closed with the test, if not before. */
async function served(around: AdminWorld): Promise<{ readonly server: RunningServer; readonly close: () => Promise<void> }> {
  const server = await RunningServer.start({ flags: [...WITH_TEST_BOTS, ...around.flags], dataSources: () => [] });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= server.close());
  onTestFinished(close);
  around.api.authorize(ORG);
  await until('it is registered', () => server.logged({ event: 'data_source', transition: 'created' }).length > 0);
  await untilDone(around);
  return { server, close };
}

/** Waits until the newest event of the organization has had its effect. */
async function untilDone({ json }: AdminWorld): Promise<void> {
  await until('the event is done', async () => JSON.stringify(await json('orgs', 'show', ORG)).includes('"isOpen":false'));
}

/** How many requests the platform has had. */
function requests({ api }: AdminWorld): number {
  return api.journal.entries.length;
}

it('says that nobody is known', async () => {
  const { run, json } = await adminWorld();
  const end = await run('orgs', 'list');
  expect(end).toMatchObject({ code: 0, err: '' });
  expect(end.out).toMatch(/^no organization is known: admin\.organizations is empty/u);
  expect(await json('orgs', 'list')).toEqual([]);
  const none = await run('orgs', 'show', ORG);
  expect(none).toMatchObject({ code: 1, out: '' });
  expect(none.err).toContain(`error org_not_registered  nothing is known of organization ${ORG}\n`);
});

it('lists who has authorized the app, while the server runs and after it, and asks the platform for nothing', async () => {
  const around = await adminWorld();
  const { close } = await served(around);
  const [{ id } = { id: '' }] = around.api.dataSources(ORG);
  const before = requests(around);
  const configured = `--admin.organizations=${JSON.stringify([around.api.ids.encode('ORGANIZATION', OTHER_ORG)])}`;
  const running = await around.run('orgs', 'list', configured);
  expect(running).toMatchObject({ code: 0, err: '' });
  expect(
    running.out
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/u)),
  ).toEqual([
    ['ORGANIZATION', 'AUTHORIZED', 'TOKEN', 'DATA SOURCES'],
    [OTHER_ORG, 'by configuration', 'none', 'none'],
    [ORG, expect.stringMatching(/^since \S+Z by webhook$/u), expect.stringMatching(/^until \S+Z \(in 13 days\)$/u), `1: grpc ${id}`],
    [''],
    ['2 organizations, 2 authorized, 1 with a token, 1 data source'],
  ]);
  await close();
  expect(await around.json('orgs', 'list')).toEqual([
    {
      ...{ organizationId: ORG, isConfigured: false },
      event: { isAuthorized: true, authorizedAt: time, isOpen: false },
      tokens: { accessTokenEnds: time, refreshTokenEnds: time },
      dataSources: [{ transport: 'grpc', dataSourceId: id, isRenewalOpen: false, tokenEnds: time }],
    },
  ]);
  expect(requests(around)).toBe(before);
});

it('shows one, in any spelling of its id, also after the authorization was taken back', async () => {
  const around = await adminWorld();
  const { server } = await served(around);
  const shown = await around.run('orgs', 'show', ORG);
  expect(shown.out).toMatch(/^authorized +since \S+Z by webhook$/mu);
  expect(shown.out).toMatch(/^access token +until /mu);
  expect(shown.out).toMatch(/^refresh token +until /mu);
  expect(shown.out).toContain(`grpc data source  ${around.api.dataSources(ORG)[0]?.id ?? ''}\n`);
  for (const written of [around.api.ids.encode('ORGANIZATION', ORG), ORG.toUpperCase(), Buffer.from(ORG).toString('base64')]) {
    expect((await around.run('orgs', 'show', written)).out).toBe(shown.out);
  }
  around.api.deauthorize(ORG);
  await until('it is forgotten', () => server.logged({ event: 'data_source', transition: 'forgotten' }).length > 0);
  await untilDone(around);
  const after = await around.run('orgs', 'show', ORG);
  expect(after.out).toMatch(/^authorized +taken back by webhook\naccess token +none is kept\ndata sources +none is managed\n$/mu);
  expect((await around.run('orgs', 'list')).out).toContain('1 organization, 0 authorized, 0 with a token, 0 data sources');
});

it.each(['show', 'forget'])('%s refuses what is no organization, and does not repeat it', async (name) => {
  const { run } = await adminWorld();
  const end = await run('orgs', name, 'CANARY-no-organization', ...(name === 'forget' ? ['--yes'] : []));
  expect(end).toMatchObject({ code: 2, out: '' });
  expect(end.err).toMatch(/^error config_invalid {2}this is no id of an organization: write its UUID/u);
  expect(end.err).not.toContain('CANARY');
});

it('erases all that is kept of one, and of no other; a server begins anew with it', async () => {
  const around = await adminWorld();
  await (await served(around)).close();
  const keysOf = async (): Promise<readonly string[]> => {
    const store = await around.openStore();
    const keys = await store.keys('');
    await store.close();
    return keys;
  };
  const before = await keysOf();
  const [{ id } = { id: '' }] = around.api.dataSources(ORG);
  const asked = requests(around);
  const end = await around.run('orgs', 'forget', ORG, '--yes');
  expect(end).toMatchObject({ code: 0, err: '' });
  expect(end.out).toBe(
    `organization ${ORG}: erased its tokens, the nonces of its grpc data source ${id}, its event\n${AGAIN}\n` +
      'Nothing was changed at the platform: its authorization and its data sources stand there as before.\n',
  );
  expect(before.filter((key) => key.includes(ORG)).sort()).toEqual([
    `authorization/${ORG}`,
    `data-sources/${ORG}/grpc`,
    `organizations/${ORG}/tokens`,
  ]);
  expect(await keysOf()).toEqual(before.filter((key) => !key.includes(ORG)));
  expect([requests(around), around.api.dataSources(ORG).length]).toEqual([asked, 1]);

  const again = await around.run('orgs', 'forget', ORG, '--yes', `--admin.organizations=["${ORG}"]`);
  expect(again.out).toContain(`organization ${ORG}: nothing was kept\nIt stands in admin.organizations: the next start of the server`);
  const none = { organizationId: ORG, isConfigured: false, event: null, tokens: null, dataSources: [] };
  expect(await around.json('orgs', 'forget', ORG, '--yes')).toEqual({ erased: none });
});

it('asks before it erases, and erases nothing without a yes', async () => {
  const around = await servedWorld();
  const asked: string[] = [];
  const person = (answer: boolean): Partial<Person> => ({
    isThere: true,
    confirms: (question) => {
      asked.push(question);
      return Promise.resolve(answer);
    },
  });
  const argv = ['orgs', 'forget', ORG, ...around.flags];
  const nobody = await runAdmin(argv);
  expect(nobody).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringMatching(/^error: nobody is there to be asked: add --yes/u) as string,
  });
  expect(await runAdmin(argv, { person: person(false) })).toEqual({ code: 1, out: '', err: 'nothing was done\n' });
  expect(await around.json('orgs', 'list')).toMatchObject([{ organizationId: ORG, tokens: { accessTokenEnds: time } }]);
  expect((await runAdmin(argv, { person: person(true) })).out).toContain('erased its tokens');
  expect(asked).toEqual(Array.from({ length: 2 }, () => `Really erase tokens, nonces and event of organization ${ORG}?`));
  expect(await around.json('orgs', 'list')).toEqual([]);
});

it('does not erase while a server holds the store', { timeout: 180_000 }, async () => {
  const around = await servedWorld();
  const store = await around.openStore();
  const end = await runAdmin(['orgs', 'forget', ORG, '--yes', ...around.flags]);
  await store.close();
  expect(end).toMatchObject({ code: 1, out: '' });
  expect(end.err).toContain('holds the sealed store: stop it first; a server forgets by itself whoever takes the authorization back');
  expect(await around.json('orgs', 'list')).toMatchObject([{ tokens: { accessTokenEnds: time } }]);
});

it('knows the tokens of the one organization that logs in with a refresh token of its own', async () => {
  const around = await adminWorld();
  const own = { login: 'oauth_refresh', organizations: `["${ORG}"]`, 'webhooks.target_url': '', 'oauth.refresh_token': 'CANARY-r' };
  const settings = { ...own, 'oauth.client_id': 'C1', 'oauth.client_secret': 'CANARY-s' };
  const flags = Object.entries(settings).map(([name, value]) => `--admin.${name}=${value}`);
  expect(await around.json('orgs', 'list', ...flags)).toMatchObject([{ organizationId: ORG, isConfigured: true, tokens: null }]);
  const store = await around.openStore();
  const tokens = { accessToken: 'CANARY-a', refreshToken: 'CANARY-f', expiresAtMs: Date.UTC(2040, 0) };
  await store.set(ownTokensKey('CANARY-r'), JSON.stringify(tokens));
  await store.close();
  const ends = { accessTokenEnds: '2040-01-01T00:00:00Z', refreshTokenEnds: null };
  expect(await around.json('orgs', 'show', ORG, ...flags)).toMatchObject({ tokens: ends });
  const shown = await around.run('orgs', 'show', ORG, ...flags);
  expect(shown.out).toMatch(/^refresh token +kept, with no known end$/mu);
  // Of another organization they are none of its business.
  expect(await around.run('orgs', 'show', OTHER_ORG, ...flags)).toMatchObject({ code: 1, out: '' });
  expect(await around.json('orgs', 'forget', OTHER_ORG, '--yes', ...flags)).toMatchObject({ erased: { tokens: null } });
  expect(await around.json('orgs', 'show', ORG, ...flags)).toMatchObject({ tokens: ends });
  expect(await around.json('orgs', 'forget', ORG, '--yes', ...flags)).toMatchObject({ erased: { tokens: ends } });
  expect(await around.json('orgs', 'show', ORG, ...flags)).toMatchObject({ tokens: null });
});
