import { expect, it } from 'vitest';
import { HeldWhileNeeded } from '../../../src/app/held-while-needed.ts';

function open(failure?: Error) {
  const steps: string[] = [];
  const held = new HeldWhileNeeded(
    () => {
      steps.push('taken');
      return failure === undefined ? Promise.resolve('it') : Promise.reject(failure);
    },
    () => {
      steps.push('given back');
      return Promise.resolve();
    },
  );
  return { held, steps };
}

it('is taken once for all who use it at the same time, and given back after the last', async () => {
  const { held, steps } = open();
  const use = (what: string) => held.use((it) => Promise.resolve(steps.push(`${what} uses ${it}`)));
  await Promise.all([use('one'), use('another')]);
  expect(steps).toEqual(['taken', 'one uses it', 'another uses it', 'given back']);
  await use('one more');
  expect(steps.slice(4)).toEqual(['taken', 'one more uses it', 'given back']);
});

it('is given back when the work fails', async () => {
  const { held, steps } = open();
  await expect(held.use(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(steps).toEqual(['taken', 'given back']);
});

it('that is held for good is given back at the end alone', async () => {
  const { held, steps } = open();
  await held.hold();
  await held.use(() => Promise.resolve());
  expect(steps).toEqual(['taken']);
  await held.close();
  expect(steps).toEqual(['taken', 'given back']);
});

it('that cannot be taken says why, and leaves nothing behind', async () => {
  const { held, steps } = open(new Error('somebody else has it'));
  await expect(held.hold()).rejects.toThrow('somebody else');
  await held.close();
  expect(steps).toEqual(['taken']);
});
