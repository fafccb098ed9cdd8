// What becomes of an event on its way from the server that took its delivery to the leader, with a queue that a test plays.
import { expect, it } from 'vitest';
import type { ServiceAppEvent } from '../../../src/admin/webhooks/delivery.ts';
import type { Received } from '../../../src/admin/webhooks/inbox.ts';
import { SharedDeliveries } from '../../../src/app/shared-deliveries.ts';
import { AppError } from '../../../src/base/errors.ts';
import { keptLog } from '../../support/admin-server.ts';

const eventOf = (idempotencyKey: string): ServiceAppEvent => ({
  ...{ event: 'authorized', organizationId: 'org', authorizerOrgId: 'ORG', authorizedAtMs: 1, idempotencyKey },
});

/** Servers with one queue. */
function open() {
  const waiting = new Map<string, string>();
  const done: string[] = [];
  const state = { isAway: false, leads: false, failure: undefined as ((event: ServiceAppEvent) => AppError | undefined) | undefined };
  const demand = (): void => {
    if (state.isAway) throw new AppError('store_unavailable', 'away');
  };
  const queue = {
    add: (id: string, text: string) =>
      new Promise<boolean>((resolve) => {
        demand();
        resolve(!waiting.has(id));
        waiting.set(id, text);
      }),
    waiting: () =>
      new Promise<{ id: string; text: string }[]>((resolve) => {
        demand();
        resolve([...waiting].map(([id, text]) => ({ id, text })));
      }),
    remove: (id: string) => Promise.resolve(void waiting.delete(id)),
  };
  const receive = (event: ServiceAppEvent): Promise<Received> => {
    const failure = state.failure?.(event);
    if (failure !== undefined) return Promise.reject(failure);
    if (done.includes(event.idempotencyKey)) return Promise.resolve('known');
    done.push(event.idempotencyKey);
    return Promise.resolve('taken');
  };
  const server = (): SharedDeliveries =>
    new SharedDeliveries({ queue, leader: () => (state.leads ? { receive } : undefined), log: keptLog().log });
  return { server, state, waiting, done };
}

it('the leader does it at once', async () => {
  const { server, state, waiting, done } = open();
  state.leads = true;
  expect([await server().receive(eventOf('a')), done, waiting.size]).toEqual(['taken', ['a'], 0]);
});

it('that another server took waits for the leader, which does it once however often it is delivered', async () => {
  const { server, state, waiting, done } = open();
  const [one, other] = [server(), server()];
  expect([await one.receive(eventOf('a')), await other.receive(eventOf('a'))]).toEqual(['taken', 'known']);
  await one.tend();
  expect([done, waiting.size]).toEqual([[], 1]);
  state.leads = true;
  await one.tend();
  expect([await other.receive(eventOf('a')), done, waiting.size]).toEqual(['known', ['a'], 0]);
});

it('H-24 that could not be written down is not acknowledged, and written down later all the same', async () => {
  const { server, state, waiting } = open();
  const one = server();
  state.isAway = true;
  await expect(one.receive(eventOf('a'))).rejects.toMatchObject({ code: 'store_unavailable' });
  await one.tend();
  state.isAway = false;
  await one.tend();
  expect([...waiting.keys()]).toEqual(['a']);
});

it('that cannot be done keeps no other one from being done, and waits on', async () => {
  const { server, state, waiting, done } = open();
  const one = server();
  for (const id of ['a', 'b', 'c']) await one.receive(eventOf(id));
  state.leads = true;
  state.failure = ({ idempotencyKey }) => (idempotencyKey === 'a' ? new AppError('overloaded', 'too many organizations') : undefined);
  await one.tend();
  expect([done, [...waiting.keys()]]).toEqual([['b', 'c'], ['a']]);
});

it('waits while the store cannot be written, and is tried no further for that time', async () => {
  const { server, state, waiting, done } = open();
  const one = server();
  for (const id of ['a', 'b']) await one.receive(eventOf(id));
  state.leads = true;
  let tries = 0;
  state.failure = () => {
    tries += 1;
    return new AppError('store_failed', 'another server leads by now');
  };
  await one.tend();
  expect([done, tries, waiting.size]).toEqual([[], 1, 2]);
});
