// The suite "settle": going on with what is there, or with what comes.
import { describe, expect, it } from 'vitest';
import { settle } from '../../../src/base/settle.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';

function settled(work: () => string | Promise<string>, next: (value: string) => void = () => undefined): string[] {
  const seen: string[] = [];
  settle(
    work,
    (value) => {
      seen.push(value);
      next(value);
    },
    (thrown) => {
      seen.push(`failed: ${String(thrown)}`);
    },
  );
  return seen;
}

function throws(): never {
  // oxlint-disable-next-line typescript/only-throw-error -- whatever was thrown is passed on
  throw 'no';
}

describe('what may be there already', () => {
  it('is gone on with at once', () => {
    expect(settled(() => 'there')).toEqual(['there']);
  });

  it('is waited for where it is promised', async () => {
    const seen = settled(() => Promise.resolve('later'));
    expect(seen).toEqual([]);
    await flushMicrotasks();
    expect(seen).toEqual(['later']);
  });

  it('has failed when the work throws, or what goes on with it', () => {
    expect(settled(throws)).toEqual(['failed: no']);
    expect(settled(() => 'there', throws)).toEqual(['there', 'failed: no']);
  });

  it('has failed when the promise is rejected, or what goes on with it throws', async () => {
    const rejected = settled(() => Promise.resolve().then(throws));
    const thrown = settled(() => Promise.resolve('later'), throws);
    await flushMicrotasks();
    expect(rejected).toEqual(['failed: no']);
    expect(thrown).toEqual(['later', 'failed: no']);
  });
});
