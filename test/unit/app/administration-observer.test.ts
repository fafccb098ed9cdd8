import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { observerOf } from '../../../src/app/administration.ts';
import { watchedStore } from '../../../src/app/watched-store.ts';
import { AppError, type ErrorCode } from '../../../src/base/errors.ts';
import { adminMetrics } from '../../../src/telemetry/admin-metrics.ts';
import { keptLog, MemorySecrets } from '../../support/admin-server.ts';

function observed() {
  const registry = new Registry();
  const { log, lines } = keptLog();
  const metrics = adminMetrics(registry);
  const value = async (name: string) => (await registry.getSingleMetric(name)?.get())?.values[0]?.value;
  return { metrics, lines, value, observer: observerOf(metrics, log) };
}

it.each<[ErrorCode, number]>([
  ['login_needed', 0],
  ['authorization_needed', 0],
  ['platform_unavailable', 1],
  ['platform_answer_invalid', 1],
  ['platform_refused', 1],
])('a check of the login that fails with %s leaves its gauge at %i', async (code, expected) => {
  const { observer, lines, value } = observed();
  observer.loginChecked(new AppError(code, 'no'));
  expect(await value('parley_integration_login')).toBe(expected);
  expect(lines.join('').includes('is of no use now')).toBe(expected === 0);
  expect(lines).toHaveLength(1);
});

it('an outage does not make a dead login good, and a check that goes well does', async () => {
  const { observer, value } = observed();
  observer.loginChecked(new AppError('login_needed', 'no'));
  observer.loginChecked(new AppError('platform_unavailable', 'no'));
  expect(await value('parley_integration_login')).toBe(0);
  observer.loginChecked(undefined);
  expect(await value('parley_integration_login')).toBe(1);
});

it('the store counts as writable or not by what became of its last change', async () => {
  const { metrics, value } = observed();
  const secrets = new MemorySecrets();
  const store = watchedStore(secrets, (isWritten) => {
    metrics.storeWritten(isWritten);
  });
  const isWritable = () => value('parley_admin_store_writable');
  expect(await isWritable()).toBe(1);
  secrets.isFull = true;
  await expect(store.set('a', 'x')).rejects.toMatchObject({ code: 'store_failed' });
  expect(await isWritable()).toBe(0);
  secrets.isFull = false;
  await store.set('a', 'x');
  expect([await isWritable(), await store.get('a'), await store.keys('')]).toEqual([1, 'x', ['a']]);
});
