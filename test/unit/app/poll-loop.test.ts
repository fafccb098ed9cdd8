import { afterEach, expect, it } from 'vitest';
import { PollLoop } from '../../../src/app/poll-loop.ts';
import { FakeClock, flushMicrotasks } from '../../support/fake-clock.ts';

const EVERY_MS = 5000;

let opened: { readonly loop: PollLoop; readonly clock: FakeClock } | undefined;
afterEach(async () => {
  await opened?.loop.close();
  expect(opened?.clock.pendingTimers).toBe(0);
});

function open(maxWaiting = 100) {
  const clock = new FakeClock();
  const begun: (() => void)[] = [];
  const poll = (): Promise<void> => new Promise((resolve) => begun.push(resolve));
  const loop = new PollLoop({ poll, everyMs: EVERY_MS, gapMs: 200, limitMs: 2000, maxWaiting, clock });
  opened = { loop, clock };
  const answered: number[] = [];
  const ask = (who: number): void => {
    void loop.now().then(() => answered.push(who));
  };
  return { clock, loop, begun, answered, ask };
}

it('polls again and again without a question', async () => {
  const { clock, begun } = open();
  await clock.advanceAsync(EVERY_MS - 1);
  expect(begun.length).toBe(0);
  await clock.advanceAsync(1);
  expect(begun.length).toBe(1);
  begun[0]?.();
  await clock.advanceAsync(EVERY_MS);
  expect(begun.length).toBe(2);
  begun[1]?.();
});

it('the first question is polled for at once, and its answer is the end of the poll', async () => {
  const { begun, answered, ask } = open();
  ask(1);
  await flushMicrotasks();
  expect([begun.length, answered]).toEqual([1, []]);
  begun[0]?.();
  await flushMicrotasks();
  expect(answered).toEqual([1]);
});

it('a question during a poll is answered by the next one, because that one may have read already', async () => {
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

it('a flood of questions is five polls in a second', async () => {
  const { clock, begun, ask } = open(100_000);
  for (let ms = 0; ms < 999; ms += 1) {
    for (let each = 0; each < 10; each += 1) ask(ms);
    await clock.advanceAsync(1);
    for (const end of begun) end();
  }
  expect(begun.length).toBe(5);
});

it('a poll that hangs keeps nobody waiting for longer than the limit', async () => {
  const { clock, begun, answered, ask } = open();
  ask(1);
  await clock.advanceAsync(1999);
  expect(answered).toEqual([]);
  await clock.advanceAsync(1);
  expect([begun.length, answered]).toEqual([1, [1]]);
  begun[0]?.();
});

it('more than may wait are not waited for', async () => {
  const { begun, answered, ask } = open(2);
  for (const who of [1, 2, 3]) ask(who);
  await flushMicrotasks();
  expect(answered).toEqual([3]);
  begun[0]?.();
});

it('the end answers whoever waits, and nothing is polled after it', async () => {
  const { loop, begun, answered, ask } = open();
  ask(1);
  await flushMicrotasks();
  ask(2);
  const closing = loop.close();
  begun[0]?.();
  await closing;
  ask(3);
  await flushMicrotasks();
  expect([begun.length, answered.sort()]).toEqual([1, [1, 2, 3]]);
});
