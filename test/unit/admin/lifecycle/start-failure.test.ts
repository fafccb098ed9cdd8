import { expect, it } from 'vitest';
import { failureOfStart } from '../../../../src/admin/lifecycle/start-failure.ts';
import { AppError } from '../../../../src/base/errors.ts';

const tooLong = { error: new AppError('platform_unavailable', 'it takes too long'), of: 'organizations' } as const;

it.each([
  ['one organization is served and others are slow', false, ['one'], undefined],
  ['none is served', false, [], tooLong.error],
  ['none is served yet, and calls come in with the tokens of before', true, [], undefined],
] as const)('a first look that takes too long, when %s, ends the start or not', (_, isServing, served, expected) => {
  expect(failureOfStart([tooLong], { waitsForLogin: false, isServing, served })).toBe(expected);
});

it('a first look that takes too long ends the start when the only organization that is served is in trouble', () => {
  const unclear = { error: new AppError('data_source_unclear', 'two of them'), of: { organizationId: 'one' } };
  expect(failureOfStart([unclear, tooLong], { waitsForLogin: false, isServing: false, served: ['one'] })).toBe(unclear.error);
});

it('a missing login ends the start unless somebody can log in meanwhile; anything else beside it ends it', () => {
  const noLogin = new AppError('login_needed', 'nobody has logged in');
  const failures = [
    { error: noLogin, of: 'app' },
    { error: noLogin, of: { organizationId: 'one' } },
  ] as const;
  const unclear = { error: new AppError('platform_refused', 'no'), of: 'app' } as const;
  const nobody = { isServing: false, served: [] };
  expect(failureOfStart(failures, { waitsForLogin: false, ...nobody })).toBe(noLogin);
  expect(failureOfStart(failures, { waitsForLogin: true, ...nobody })).toBeUndefined();
  expect(failureOfStart([...failures, unclear], { waitsForLogin: true, ...nobody })).toBe(unclear.error);
});
