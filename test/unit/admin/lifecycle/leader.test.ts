// The one process that renews for several: nothing goes to the platform that the others could not know, and nothing when it is not
// the one any more.
import { expect, it, onTestFinished } from 'vitest';
import { renewingAfter } from '../../../../src/admin/kept-tokens.ts';
import type { WantedDataSource } from '../../../../src/admin/lifecycle/ports.ts';
import { ServedDataSource } from '../../../../src/admin/lifecycle/served-data-source.ts';
import { DataSources } from '../../../../src/admin/rest/data-sources.ts';
import { RestClient } from '../../../../src/admin/rest/rest-client.ts';
import { Webhooks } from '../../../../src/admin/rest/webhooks.ts';
import { AppError } from '../../../../src/base/errors.ts';
import type { SendRequest } from '../../../../src/base/http-exchange.ts';
import { loadProfile } from '../../../../src/contract/profile.ts';
import { addressAt, countedTokens, keptLog } from '../../../support/admin-server.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { never } from '../../../support/voice.ts';
import { BODY, HOUR, World } from './reconciler-world.ts';

const deposed = (): AppError => new AppError('store_failed', 'another process renews by now');

/** A reconciler of the leader, with what is written down. */
async function leading() {
  const world = new World();
  onTestFinished(async () => {
    await Promise.all(world.started.map((reconciler) => reconciler.stop()));
  });
  let isDeposed = false;
  const leader = {
    served: (wanted: WantedDataSource) => new ServedDataSource(wanted, { sources: world.sources, nonces: world.nonces }),
    confirm: () => (isDeposed ? Promise.reject(deposed()) : Promise.resolve()),
  };
  const reconciler = await world.reconciler({}, {}, leader);
  const depose = (): void => {
    isDeposed = true;
  };
  return { world, reconciler, leader, depose };
}

it('L-10 each nonce is written down before the platform hears of it', async () => {
  const { world, reconciler } = await leading();
  const written: boolean[] = [];
  world.api.onTaken = (nonce) => written.push((world.texts.get('nonces') ?? '').includes(nonce));
  await reconciler.start();
  await reconciler.renew();
  expect(written).toEqual([true, true]);
});

it('L-10 a nonce that cannot be written down is never sent, not even when the token is about to end', async () => {
  const { world, reconciler } = await leading();
  await reconciler.start();
  const set = world.store.set.bind(world.store);
  Object.assign(world.store, { set: () => Promise.reject(new AppError('store_failed', 'the store is away')) });
  await world.pass(26 * HOUR, HOUR / 4);
  expect([world.api.count('update'), reconciler.state.error?.code]).toEqual([0, 'store_failed']);
  Object.assign(world.store, { set });
  await world.pass(HOUR, HOUR / 4);
  expect([world.api.count('update'), reconciler.state.error]).toEqual([1, undefined]);
});

/** The clients of a deposed leader, and the methods of what they sent. */
function deposedClient() {
  const sent: string[] = [];
  const send: SendRequest = (_url, { method }) => {
    sent.push(method);
    return Promise.resolve(Response.json({ id: 'x', items: [] }));
  };
  const parts = { address: addressAt('http://127.0.0.1:1'), tokens: countedTokens(), clock: new FakeClock(), log: keptLog().log };
  return { rest: new RestClient({ ...parts, send, confirm: () => Promise.reject(deposed()) }), sent };
}

it('L-10 a deposed leader changes no data source, and still may read them', async () => {
  const { rest, sent } = deposedClient();
  const signal = never();
  const api = new DataSources(rest, loadProfile('fake').jws.claims);
  const body = { ...BODY, schemaId: 'c0ffee00-0000-4000-8000-000000000000', nonce: 'm' };
  await expect(api.create(body, signal)).rejects.toMatchObject({ code: 'store_failed' });
  await expect(api.update('x', { nonce: 'm' }, signal)).rejects.toMatchObject({ code: 'store_failed' });
  await expect(api.delete('x', signal)).rejects.toMatchObject({ code: 'store_failed' });
  expect([await api.list(signal), await api.get('x', signal)]).toMatchObject([[], { id: 'x' }]);
  expect(sent).toEqual(['GET', 'GET']);
});

it('L-10 a deposed leader registers no webhook and renews no token', async () => {
  const { rest, sent } = deposedClient();
  const signal = never();
  const api = new Webhooks(rest);
  const change = { name: 'n', targetUrl: 'https://bots.example/' };
  await expect(api.create({ ...change, resource: 'r', event: 'authorized' }, signal)).rejects.toMatchObject({ code: 'store_failed' });
  await expect(api.update('w', change, signal)).rejects.toMatchObject({ code: 'store_failed' });
  await expect(api.delete('w', signal)).rejects.toMatchObject({ code: 'store_failed' });
  await api.list(signal);
  expect(sent).toEqual(['GET']);
  let renewals = 0;
  const renewal = (): Promise<number> => Promise.resolve((renewals += 1));
  await expect(renewingAfter(() => Promise.reject(deposed()))(renewal)).rejects.toMatchObject({ code: 'store_failed' });
  expect(renewals).toBe(0);
});
