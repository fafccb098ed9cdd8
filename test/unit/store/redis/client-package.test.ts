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
