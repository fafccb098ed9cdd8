import { expect, it } from 'vitest';
import { isExpectedHost } from '../../../src/ops/host-names.ts';

it.each([
  '127.0.0.1:8087',
  '10.1.2.3',
  '[::1]:8087',
  '[fd00::5]',
  'localhost',
  'LocalHost:8087',
  'ops.example',
  'OPS.example.:9',
  undefined,
])('takes %s', (host) => {
  expect(isExpectedHost(host, ['Ops.Example'])).toBe(true);
});

it.each(['evil.example', 'evil.example:8087', 'localhost.evil.example', '127.0.0.1.evil.example', '', '[x]', 'a:b:c', 'ops.example@evil'])(
  'refuses %j',
  (host) => {
    expect(isExpectedHost(host, ['ops.example'])).toBe(false);
  },
);
