import { expect, it } from 'vitest';
import { loadRedisPackage } from '../../../../src/store/redis/client-package.ts';

it('a server without the package names the package to install', async () => {
  const missing = (): Promise<never> =>
    Promise.reject(Object.assign(new Error("Cannot find package '@redis/client'"), { code: 'ERR_MODULE_NOT_FOUND' }));
  await expect(loadRedisPackage(missing)).rejects.toMatchObject({
    name: 'AppError',
    code: 'config_invalid',
    message: expect.stringMatching(/@redis\/client is not installed/u) as string,
  });
});

it('a package that is broken is no package that is missing', async () => {
  const broken = (): Promise<never> => Promise.reject(new SyntaxError('unexpected token'));
  await expect(loadRedisPackage(broken)).rejects.toMatchObject({ name: 'AppError', code: 'internal' });
});

it('makes what clients have in common once: it is hundreds of commands, and a search for the primary makes a client for each sentinel', async () => {
  const redis = await loadRedisPackage();
  const made = [6379, 6380].map((port) =>
    redis.createClient({
      host: '127.0.0.1',
      port,
      tls: undefined,
      database: 0,
      user: undefined,
      password: undefined,
      connectTimeoutMs: 1000,
    }),
  );
  const [first, second] = made.map((client): unknown => client.constructor);
  expect(first).toBe(second);
});
