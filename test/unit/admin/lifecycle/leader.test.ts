// The one process that renews for several: nothing goes to the platform that the others could not know, and nothing when it is not
// the one any more.
import { expect, it, onTestFinished } from 'vitest';
import { confirmedDataSources, confirmedRenewing, confirmedWebhooks } from '../../../../src/admin/lifecycle/confirmed.ts';
import type { WantedDataSource } from '../../../../src/admin/lifecycle/ports.ts';
import { ServedDataSource } from '../../../../src/admin/lifecycle/served-data-source.ts';
import { AppError } from '../../../../src/base/errors.ts';
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

it('L-10 a deposed leader changes nothing at the platform, and still may look', async () => {
  const { world, leader, depose } = await leading();
  const signal = never();
  const record = world.api.add({ ...BODY, nonce: 'n' });
  const api = confirmedDataSources(world.api, leader);
  depose();
  await expect(api.create({ ...BODY, nonce: 'm' }, signal)).rejects.toMatchObject({ code: 'store_failed' });
  await expect(api.update(record.id, { nonce: 'm' }, signal)).rejects.toMatchObject({ code: 'store_failed' });
  await expect(api.delete(record.id, signal)).rejects.toMatchObject({ code: 'store_failed' });
  expect([await api.list(signal), await api.get(record.id, signal)]).toEqual([[record], record]);
  expect([world.api.count('create'), world.api.count('update'), world.api.count('delete')]).toEqual([0, 0, 0]);
});

it('L-10 a deposed leader registers no webhook and renews no token', async () => {
  const asked: string[] = [];
  const told = <T>(what: string, answer: T): Promise<T> => {
    asked.push(what);
    return Promise.resolve(answer);
  };
  const leader = { served: () => nobody(), confirm: () => Promise.reject(deposed()) };
  const api = confirmedWebhooks(
    {
      list: () => told('list', []),
      create: () => told('create', { id: 'w' }),
      update: () => told('update', { id: 'w' }),
      delete: () => told('delete', undefined),
    },
    leader,
  );
  const signal = never();
  const create = { name: 'n', targetUrl: 'https://bots.example/', resource: 'r', event: 'authorized' };
  await expect(api.create(create, signal)).rejects.toMatchObject({ code: 'store_failed' });
  await expect(api.update('w', create, signal)).rejects.toMatchObject({ code: 'store_failed' });
  await expect(api.delete('w', signal)).rejects.toMatchObject({ code: 'store_failed' });
  await api.list(signal);
  await expect(confirmedRenewing(leader)?.(() => told('renewal', 'token'))).rejects.toMatchObject({ code: 'store_failed' });
  expect(asked).toEqual(['list']);
});

function nobody(): never {
  throw new Error('nobody asks for it');
}
