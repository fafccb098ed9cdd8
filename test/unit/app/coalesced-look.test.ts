import { afterEach, expect, it } from 'vitest';
import { CoalescedLook } from '../../../src/app/coalesced-look.ts';
import { FakeClock, flushMicrotasks } from '../../support/fake-clock.ts';

let opened: { readonly looks: CoalescedLook; readonly clock: FakeClock } | undefined;
afterEach(async () => {
  await opened?.looks.close();
  expect(opened?.clock.pendingTimers).toBe(0);
});

function open(maxWaiting = 100) {
  const clock = new FakeClock();
  const begun: ((failure?: Error) => void)[] = [];
  const look = (): Promise<void> =>
    new Promise((resolve, reject) => {
      begun.push((failure) => {
        if (failure === undefined) resolve();
        else reject(failure);
      });
    });
  const looks = new CoalescedLook({ look, gapMs: 200, limitMs: 2000, maxWaiting, clock });
  opened = { looks, clock };
  const answered: number[] = [];
  const ask = (who: number): void => {
    void looks.now().then(() => answered.push(who));
  };
  return { clock, looks, begun, answered, ask };
}

it('the first question is looked for at once, and its answer is the end of the look', async () => {
  const { begun, answered, ask } = open();
  ask(1);
  await flushMicrotasks();
  expect([begun.length, answered]).toEqual([1, []]);
  begun[0]?.();
  await flushMicrotasks();
  expect(answered).toEqual([1]);
});

it('a question during a look is answered by the next one, because that one may have read already', async () => {
  const { clock, begun, answered, ask } = open();
  ask(1);
  await flushMicrotasks();
  ask(2);
  begun[0]?.();
  await flushMicrotasks();
  expect([begun.length, answered]).toEqual([1, [1]]);
  await clock.advanceAsync(199);
  expect(begun.length).toBe(1);
  await clock.advanceAsync(1);
  begun[1]?.();
  await flushMicrotasks();
  expect([begun.length, answered]).toEqual([2, [1, 2]]);
});

it('a flood of questions is five looks in a second', async () => {
  const { clock, begun, ask } = open(100_000);
  for (let ms = 0; ms < 999; ms += 1) {
    for (let each = 0; each < 10; each += 1) ask(ms);
    await clock.advanceAsync(1);
    for (const end of begun) end();
  }
  expect(begun.length).toBe(5);
});

it('a look that fails or hangs answers all the same, in bounded time', async () => {
  const { clock, begun, answered, ask } = open();
  ask(1);
  await flushMicrotasks();
  begun[0]?.(new Error('the store is away'));
  await flushMicrotasks();
  expect(answered).toEqual([1]);
  await clock.advanceAsync(200);
  ask(2);
  await clock.advanceAsync(1999);
  expect(answered).toEqual([1]);
  await clock.advanceAsync(1);
  expect([begun.length, answered]).toEqual([2, [1, 2]]);
  begun[1]?.();
});

it('more than may wait are not waited for', async () => {
  const { begun, answered, ask } = open(2);
  for (const who of [1, 2, 3]) ask(who);
  await flushMicrotasks();
  expect(answered).toEqual([3]);
  begun[0]?.();
});

it('the end answers whoever waits, and nothing is looked for after it', async () => {
  const { looks, begun, answered, ask } = open();
  ask(1);
  await flushMicrotasks();
  ask(2);
  const closing = looks.close();
  begun[0]?.();
  await closing;
  ask(3);
  await flushMicrotasks();
  expect([begun.length, answered.sort()]).toEqual([1, [1, 2, 3]]);
});
