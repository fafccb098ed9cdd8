import { expect, it, onTestFinished } from 'vitest';
import { AuthorizationHooks, type NamedHook } from '../../../../src/admin/webhooks/authorization-hooks.ts';
import type { AuthorizationResult } from '../../../../src/admin/webhooks/authorization-result.ts';
import { FakeClock, flushMicrotasks } from '../../../support/fake-clock.ts';

const RESULTS: readonly AuthorizationResult[] = ['1', '2', '3'].map((organizationId) => ({
  event: 'deauthorized',
  organizationId,
  authorizedAtMs: 1,
}));

function open(...hooks: readonly NamedHook[]) {
  const clock = new FakeClock();
  const failed: string[] = [];
  const all = new AuthorizationHooks({
    ...{ hooks, limitMs: 1000, clock },
    onFailed: (name, { organizationId }, { code, message }) => failed.push(`${name} ${organizationId} ${code}: ${message}`),
  });
  onTestFinished(async () => {
    await all.close();
    expect(clock.pendingTimers).toBe(0);
  });
  const tell = async (): Promise<void> => {
    for (const result of RESULTS) all.notify(result);
    await flushMicrotasks();
  };
  return { all, clock, failed, tell };
}

it('every hook is notified of each result in order, whatever another one throws', async () => {
  const told: string[] = [];
  const { tell, failed } = open(
    { name: 'callback', run: ({ organizationId }) => void told.push(organizationId) },
    {
      name: 'command',
      run: ({ organizationId }) => {
        if (organizationId !== '2') throw new Error('CANARY');
      },
    },
  );
  await tell();
  await flushMicrotasks();
  expect(told).toEqual(['1', '2', '3']);
  expect(failed).toEqual(['command 1 hook_failed: it failed', 'command 3 hook_failed: it failed']);
});

it('a hook that never ends is given up, and its signal aborts', async () => {
  const signals: AbortSignal[] = [];
  const { tell, failed, clock } = open({ name: 'url', run: (_, signal) => new Promise(() => void signals.push(signal)) });
  await tell();
  expect(signals).toHaveLength(1);
  await clock.advanceAsync(1000);
  await flushMicrotasks();
  expect([signals[0]?.aborted, signals.length, failed]).toEqual([true, 2, ['url 1 hook_failed: it took longer than 1000 ms']]);
});

it('closing aborts running hooks, notifies nobody any more, and reports none of that as a failure', async () => {
  const signals: AbortSignal[] = [];
  const { tell, all, failed } = open({ name: 'url', run: (_, signal) => new Promise(() => void signals.push(signal)) });
  await tell();
  await all.close();
  all.notify({ event: 'deauthorized', organizationId: '4', authorizedAtMs: 1 });
  await flushMicrotasks();
  expect([signals.map(({ aborted }) => aborted), failed]).toEqual([[true], []]);
});
