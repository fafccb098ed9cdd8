// `parley admin data-sources create`, `renew`, `update` and `delete` over sockets against the fake platform: what it has
// afterwards is what counts.
import { copyFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { DurableStore } from '../../src/store/durable-store.ts';
import { Seal } from '../../src/store/seal.ts';
import { runAdmin } from '../support/admin-command.ts';
import { ADDRESS, ORG, servedWorld, type AdminWorld } from '../support/admin-world.ts';

/** The journals of a store, as one text; erased with `isErased`. */
async function journals({ storeFile: file, key }: Pick<AdminWorld, 'storeFile' | 'key'>, isErased = false): Promise<string> {
  const store = await DurableStore.open({ file, seal: new Seal(Buffer.from(key, 'hex')) });
  try {
    const keys = await store.keys('data-sources/');
    const texts = await Promise.all(keys.map((each) => store.get(each)));
    if (isErased) await store.apply(keys.map((each) => ({ key: each, value: undefined })));
    return texts.join('\n');
  } finally {
    await store.close();
  }
}

it('R-01 creates what the configuration wants, with a nonce that a server will know, and once only', async () => {
  const around = await servedWorld({ isRegistered: false });
  const { run, only, json, api } = around;
  const created = await run('data-sources', 'create', '--org', api.ids.encode('ORGANIZATION', ORG));
  expect(created).toMatchObject({ code: 0, err: '' });
  expect(only()).toMatchObject({ url: ADDRESS, audience: 'aud', subject: 'sub', tokenLifetimeMinutes: 60, status: 'active' });
  const [heading = '', line = ''] = created.out.split('\n');
  expect(heading).toMatch(/^DONE +ID +STATUS +TOKEN ENDS$/u);
  expect(line.split(/ {2,}/u)).toEqual([
    'created',
    only().id,
    'active',
    expect.stringContaining(`${only().tokenExpiryTime.slice(0, 19)}Z (in `),
  ]);
  expect(await journals(around)).toContain(only().nonce);

  const again = await run('data-sources', 'create', '--org', ORG);
  expect(again).toMatchObject({ code: 1, out: '' });
  expect(again.err).toContain('error data_source_unclear');
  expect(again.err).toContain(only().id);
  expect(await json('data-sources', 'list', '--org', ORG)).toMatchObject([{ id: only().id }]);
  expect(await run('data-sources', 'create', '--org', ORG, '--transport', 'websocket')).toMatchObject({ code: 2 });
});

it('R-04 renews with a fresh nonce that the journal knows beside the one before', async () => {
  const around = await servedWorld();
  const { run, json, only, api } = around;
  const before = only();
  const renewed = await run('data-sources', 'renew');
  expect(renewed).toMatchObject({ code: 0, err: '' });
  expect(renewed.out).toContain(`renewed  ${before.id}  active`);
  expect(only().nonce).not.toBe(before.nonce);
  expect(only().jwsToken).not.toBe(before.jwsToken);
  const journal = await journals(around);
  for (const nonce of [before.nonce, only().nonce]) expect(journal).toContain(nonce);
  expect(await json('data-sources', 'renew', before.id)).toMatchObject([{ outcome: 'renewed', dataSource: { id: before.id } }]);
  // Put back as the configuration wants it, in one change.
  api.disableDataSource(before.id, 'failures');
  const puts = api.journal.count('PUT /dataSources/:id');
  expect(await json('data-sources', 'renew', before.id, '--org', ORG)).toMatchObject([
    { outcome: 'repaired', dataSource: { status: 'active' } },
  ]);
  expect(api.journal.count('PUT /dataSources/:id')).toBe(puts + 1);
});

it('renews nothing that is not there, or not in use', async () => {
  const { run, api, only } = await servedWorld();
  await run('data-sources', 'delete', only().id, '--org', ORG, '--yes');
  const none = await run('data-sources', 'renew', '--org', ORG);
  expect(none).toMatchObject({ code: 1, out: '' });
  expect(none.err).toContain('error data_source_unclear');
  expect(api.dataSources(ORG)).toEqual([]);
  await run('data-sources', 'create', '--org', ORG, '--admin.data_sources.url=http://127.0.0.1:1');
  const { nonce } = only();
  // The journal knows it: it is the one, whatever its address.
  const repaired = await run('data-sources', 'renew', '--org', ORG);
  expect(repaired.out).toContain('repaired');
  expect(only()).toMatchObject({ url: ADDRESS });
  expect(only().nonce).not.toBe(nonce);
});

it('R-12 a renewal whose answer is lost is known, and the next one is fresh', async () => {
  const around = await servedWorld();
  const { run, only, api } = around;
  const { id, nonce } = only();
  api.faults.add('PUT /dataSources/:id', { kind: 'lost_answer' }, 4);
  const lost = await run('data-sources', 'renew');
  expect(lost).toMatchObject({ code: 1, out: '' });
  expect(lost.err).toContain('it may have been done nevertheless');
  const taken = only().nonce;
  expect(taken).not.toBe(nonce);
  expect(await journals(around)).toContain(taken);
  expect((await run('data-sources', 'renew', id)).out).toContain(`renewed  ${id}`);
  expect([nonce, taken]).not.toContain(only().nonce);
}, 120_000);

it('R-12 a registration whose answer is lost is found and not repeated', async () => {
  const { run, only, api } = await servedWorld({ isRegistered: false });
  api.faults.add('POST /dataSources', { kind: 'lost_answer' });
  expect((await run('data-sources', 'create', '--org', ORG)).err).toContain('it may have been done nevertheless');
  const again = await run('data-sources', 'create', '--org', ORG);
  expect(again.code).toBe(1);
  expect(again.err).toContain(only().id);
});

it('R-02 R-03 changes the status and nothing else, and says what a server makes of it', async () => {
  const { run, only } = await servedWorld();
  const { id, nonce, jwsToken } = only();
  const disabled = await run('data-sources', 'update', id, '--org', ORG, '--set', 'status=disabled', 'message=We are moving');
  expect(disabled).toMatchObject({ code: 0, err: 'note: a server with this configuration changes this back: status\n' });
  expect(disabled.out).toContain(`updated  ${id}  disabled`);
  expect(only()).toMatchObject({ status: 'disabled', errorMessage: 'We are moving', nonce, jwsToken });
  const active = await run('data-sources', 'update', id, '--org', ORG, '--set', 'status=active');
  expect(active).toMatchObject({ code: 0, err: '' });
  expect(only()).toMatchObject({ status: 'active', nonce, jwsToken });
});

it('R-04 changes the rest with a fresh nonce, in the journal for the one in use', async () => {
  const around = await servedWorld();
  const { run, only } = around;
  const { id, nonce } = only();
  const changed = await run('data-sources', 'update', id, '--org', ORG, '--set', 'audience=Another', 'lifetime=30', '--json');
  expect(changed.code).toBe(0);
  expect(changed.err).toBe('note: a server with this configuration changes this back: audience, tokenLifetimeMinutes\n');
  expect(JSON.parse(changed.out)).toMatchObject({ outcome: 'updated', dataSource: { id, audience: 'Another', tokenLifetimeMinutes: 30 } });
  expect(only()).toMatchObject({ audience: 'Another', subject: 'sub', url: ADDRESS, tokenLifetimeMinutes: 30, status: 'active' });
  expect(only().nonce).not.toBe(nonce);
  expect(await journals(around)).toContain(only().nonce);
});

it('gives a data source that is not in use a fresh nonce only with --yes, and leaves the journal alone', async () => {
  const around = await servedWorld();
  const { run, json, api, storeFile } = around;
  // Of another server, which has a store of its own.
  copyFileSync(storeFile, `${storeFile}.other`);
  const there = [`--admin.store.file=${storeFile}.other`, '--admin.data_sources.url=http://127.0.0.1:2'];
  await journals({ ...around, storeFile: `${storeFile}.other` }, true);
  expect((await run('data-sources', 'create', '--org', ORG, ...there)).code).toBe(0);
  const [ours, theirs] = api.dataSources(ORG);
  if (ours === undefined || theirs === undefined) throw new Error('there are not two');
  expect(await json('data-sources', 'list')).toMatchObject([
    { id: ours.id, isInUse: true },
    { id: theirs.id, isInUse: false },
  ]);
  const renewed = await run('data-sources', 'renew', theirs.id, '--org', ORG);
  expect(renewed.code).toBe(1);
  expect(renewed.err).toContain('is not the one that the configuration uses');
  const journal = await journals(around);
  const update = ['data-sources', 'update', theirs.id, '--org', ORG, '--set', 'subject=Changed'];
  expect(await run(...update)).toMatchObject({ code: 1, out: '' });
  expect(api.dataSources(ORG)).toMatchObject([ours, theirs]);
  expect(await run(...update, '--yes')).toMatchObject({ code: 0 });
  expect(api.dataSources(ORG)).toMatchObject([ours, { id: theirs.id, subject: 'Changed', url: theirs.url }]);
  expect(api.dataSources(ORG)[1]?.nonce).not.toBe(theirs.nonce);
  expect(await journals(around)).toBe(journal);
});

it.each([
  [['status=disabled'], 'only with a message'],
  [['message=x'], 'for a data source that is disabled'],
  [['status=disabled', 'message=x', 'url=http://127.0.0.1:1'], 'needs no fresh token'],
  [['status=off'], 'active or disabled'],
  [['lifetime=1441'], '1 to 1440'],
  [['url=nonsense'], 'no address'],
  [['secret=x'], 'What can be set'],
  [['schema=recordings'], 'A schema is a UUID'],
  [['subject'], 'name=value'],
])('--set %j is wrong usage: %s', async (set, why) => {
  const end = await runAdmin(['data-sources', 'update', 'id', '--org', ORG, '--set', ...set]);
  expect(end).toMatchObject({ code: 2, out: '' });
  expect(end.err).toContain(why);
});

it('R-03 gives one that is disabled a fresh token only when it becomes active as well', async () => {
  const { run, only, api } = await servedWorld();
  const { id, nonce } = only();
  api.disableDataSource(id, 'failures');
  const refused = await run('data-sources', 'update', id, '--org', ORG, '--set', 'subject=Another');
  expect(refused).toMatchObject({ code: 2, out: '' });
  expect(refused.err).toContain('set status=active as well');
  expect(only()).toMatchObject({ status: 'disabled', nonce });
  expect(await run('data-sources', 'update', id, '--org', ORG, '--set', 'subject=Another', 'status=active')).toMatchObject({ code: 0 });
  expect(only()).toMatchObject({ status: 'active', subject: 'Another' });
});

it('L-02 L-04 chooses none of several that fit, and registers none beside a pinned one', async () => {
  const around = await servedWorld();
  const { run, json, only, api } = around;
  const { id } = only();
  await journals(around, true);
  expect((await run('data-sources', 'create', '--org', ORG, '--admin.data_sources.url=http://127.0.0.1:2')).code).toBe(0);
  const other = api.dataSources(ORG)[1]?.id ?? '';
  await run('data-sources', 'update', other, '--org', ORG, '--set', `url=${ADDRESS}`);
  await journals(around, true);
  const ambiguous = await run('data-sources', 'renew', '--org', ORG);
  expect(ambiguous).toMatchObject({ code: 1, out: '' });
  for (const each of [id, other]) expect(ambiguous.err).toContain(each);
  expect(await json('data-sources', 'list')).toMatchObject([{ isInUse: false }, { isInUse: false }]);

  const pinned = `--admin.data_sources.pinned=${JSON.stringify([{ organization_id: ORG, transport: 'grpc', id: other }])}`;
  expect(await json('data-sources', 'list', pinned)).toMatchObject([{ isInUse: false }, { isInUse: true }]);
  expect(await json('data-sources', 'renew', pinned)).toMatchObject([{ outcome: 'renewed', dataSource: { id: other } }]);
  const refused = await run('data-sources', 'create', '--org', ORG, pinned);
  expect(refused.code).toBe(1);
  expect(refused.err).toContain('admin.data_sources.pinned names it');
  expect(api.dataSources(ORG)).toHaveLength(2);
});

it('deletes only when it is confirmed, and says what a server makes of it', async () => {
  const around = await servedWorld();
  const { run, only, api } = around;
  const { id } = only();
  const argv = ['data-sources', 'delete', id, '--org', ORG];
  const unasked = await run(...argv);
  expect(unasked).toMatchObject({ code: 2, out: '' });
  expect(unasked.err).toContain('add --yes');
  const asked: string[] = [];
  const person = {
    isThere: true,
    confirms: (question: string) => {
      asked.push(question);
      return Promise.resolve(false);
    },
  };
  expect(await runAdmin([...argv, ...around.flags], { person })).toEqual({ code: 1, out: '', err: 'nothing was done\n' });
  expect(asked).toEqual([`Really delete the data source ${id}?`]);
  expect(only().id).toBe(id);
  const deleted = await run(...argv, '--yes', '--json');
  expect(deleted.code).toBe(0);
  expect(deleted.err).toContain('registers another one');
  expect(JSON.parse(deleted.out)).toMatchObject({ outcome: 'deleted', dataSource: { id, status: 'active' } });
  expect(api.dataSources(ORG)).toEqual([]);
  // What the journal knows is gone: another one can be registered.
  expect((await run('data-sources', 'create', '--org', ORG)).code).toBe(0);
  expect(only().id).not.toBe(id);
});

it('registers one as it is given, with its nonce, which only --show-nonce shows', async () => {
  const { run, json, only, api } = await servedWorld({ isRegistered: false });
  const fields = ['audience=another', 'subject=other', 'lifetime=30', 'nonce=given-by-hand'];
  const created = await run('data-sources', 'create', '--org', ORG, '--json', '--set', ...fields);
  expect(created.err).toContain('a server with this configuration changes this back');
  expect(JSON.parse(created.out)).toMatchObject({
    outcome: 'created',
    dataSource: { audience: 'another', subject: 'other', tokenLifetimeMinutes: 30 },
  });
  expect(only()).toMatchObject({ nonce: 'given-by-hand', url: ADDRESS });
  const { id } = only();
  const hidden = await run('data-sources', 'get', id, '--org', ORG);
  expect(hidden.out).not.toContain('given-by-hand');
  expect(await json('data-sources', 'get', id, '--org', ORG, '--show-nonce')).toMatchObject({ id, nonce: 'given-by-hand' });
  const again = await run('data-sources', 'create', '--org', ORG, '--set', 'subject=x');
  expect([again.code, api.dataSources(ORG).length]).toEqual([1, 1]);
});
