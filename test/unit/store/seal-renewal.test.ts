// New keys for a seal that is in use.
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { Seal } from '../../../src/store/seal.ts';

const key = (): Buffer => randomBytes(32);

it('seals with the new first key, and opens what earlier ones have sealed', () => {
  const [old, fresh] = [key(), key()];
  const seal = new Seal(old);
  const sealed = seal.close('text', 'a');
  expect(seal.renew(fresh)).toBe(true);
  expect(seal.open(sealed, 'a')).toBe('text');
  expect(new Seal(fresh).open(seal.close('new', 'a'), 'a')).toBe('new');
  expect(() => new Seal(old).open(seal.close('new', 'a'), 'a')).toThrow(expect.objectContaining({ code: 'internal' }));
});

it('says whether anything is different', () => {
  const [one, two] = [key(), key()];
  const seal = new Seal(one, two);
  expect([seal.renew(one, two), seal.renew(two, one), seal.renew(two, one), seal.renew(two)]).toEqual([false, true, false, false]);
});

it('lets the oldest of its keys go when there are more than five', () => {
  const keys = Array.from({ length: 6 }, key);
  const [first = key(), ...later] = keys;
  const seal = new Seal(first);
  const sealed = [seal.close('text', 'a')];
  for (const next of later) {
    seal.renew(next);
    sealed.push(seal.close('text', 'a'));
  }
  expect(() => seal.open(sealed[0] ?? '', 'a')).toThrow(expect.objectContaining({ code: 'internal' }));
  expect(sealed.slice(1).map((text) => seal.open(text, 'a'))).toEqual(Array.from({ length: 5 }, () => 'text'));
});

it('stays as it was when the new keys are none', () => {
  const seal = new Seal(key());
  const sealed = seal.close('text', 'a');
  for (const keys of [[], [randomBytes(16)], Array.from({ length: 6 }, key)]) expect(() => seal.renew(...keys)).toThrow(TypeError);
  expect(seal.open(sealed, 'a')).toBe('text');
});
