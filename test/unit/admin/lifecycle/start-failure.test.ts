import { expect, it } from 'vitest';
import { failureOfStart } from '../../../../src/admin/lifecycle/start-failure.ts';
import { AppError } from '../../../../src/base/errors.ts';

const tooLong = { error: new AppError('platform_unavailable', 'it takes too long'), of: 'organizations' } as const;

it.each([
  ['one organization is served and others are slow', false, ['one'], undefined],
  ['none is served', false, [], tooLong.error],
  ['none is served yet, and calls come in with the tokens of before', true, [], undefined],
] as const)('a first look that takes too long, when %s, ends the start or not', (_, isServing, served, expected) => {
  expect(failureOfStart([tooLong], { isServing, served })).toBe(expected);
});

it('a first look that takes too long ends the start when the only organization that is served is in trouble', () => {
  const unclear = { error: new AppError('data_source_unclear', 'two of them'), of: { organizationId: 'one' } };
  expect(failureOfStart([unclear, tooLong], { isServing: false, served: ['one'] })).toBe(unclear.error);
});
