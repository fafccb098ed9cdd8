// One step of a reconciler for a command, with the platform in memory and a store that fails when a test says so.
import { describe, expect, it } from 'vitest';
import { keepOnce } from '../../../../src/admin/manual/keep-once.ts';
import { journalledDataSource, journalKey } from '../../../../src/admin/lifecycle/nonce-journal.ts';
import type { WantedDataSource } from '../../../../src/admin/lifecycle/ports.ts';
import { linkAbort } from '../../../../src/base/abort.ts';
import { AppError } from '../../../../src/base/errors.ts';
import { failureOf, MemorySecrets } from '../../../support/admin-server.ts';
import { MemoryDataSources } from '../../../support/data-sources-api.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { never } from '../../../support/voice.ts';

const BODY = { url: 'https://voice.example.org', schemaId: 'schema', audience: 'audience', subject: 'subject', tokenLifetimeMinutes: 60 };
const WANTED: WantedDataSource = { ...BODY, organizationId: 'org', transport: 'grpc' };

/** A store whose disk is full from some write on. */
class FullStore extends MemorySecrets {
  left = Infinity;

  override set(key: string, value: string): Promise<void> {
    this.left -= 1;
    return this.left < 0 ? Promise.reject(new AppError('store_failed', 'the disk is full')) : super.set(key, value);
  }
}

function surroundings() {
  const clock = new FakeClock();
  const api = new MemoryDataSources(clock);
  const store = new FullStore();
  const keep = (isRenewed: boolean, signal = never(), isJournalled = true) =>
    keepOnce(WANTED, { api, store, clock, times: { leadMs: 60_000, retryMs: 60_000, checkMs: 60_000 }, isRenewed, isJournalled }, signal);
  const journal = () => journalledDataSource(store, journalKey(WANTED));
  return { api, clock, store, keep, journal };
}

describe('one step of a reconciler', () => {
  it('registers, adopts and renews, and leaves nothing behind', async () => {
    const { api, clock, keep, journal } = surroundings();
    const { id, outcome } = await keep(false);
    expect(outcome).toBe('created');
    expect(await journal()).toBe(id);
    expect(await keep(false)).toEqual({ id, outcome: 'adopted' });
    expect(await keep(true)).toEqual({ id, outcome: 'renewed' });
    expect([api.count('create'), api.count('update')]).toEqual([1, 1]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('L-09 sends no nonce that could not be written down', async () => {
    const { api, store, keep } = surroundings();
    store.left = 0;
    expect(await failureOf(keep(false))).toMatchObject({ code: 'store_failed' });
    expect(api.records.size).toBe(0);
    store.left = Infinity;
    await keep(false);
    store.left = 0;
    expect(await failureOf(keep(true))).toMatchObject({ code: 'store_failed' });
    expect(api.count('update')).toBe(0);
  });

  it('says what was done when only its end could not be written down', async () => {
    const { api, store, keep } = surroundings();
    store.left = 1;
    const failure = await failureOf(keep(false));
    const [id = ''] = api.records.keys();
    expect(failure).toMatchObject({ code: 'store_failed' });
    expect(failure.message).toContain(`the data source ${id} was created, but its nonce could not be saved`);
    store.left = Infinity;
    expect(await keep(false)).toEqual({ id, outcome: 'adopted' });
  });

  it('R-12 makes a fresh token although the answer to an earlier try was lost', async () => {
    const { api, keep } = surroundings();
    await keep(false);
    api.mishaps.push(['update', 'answer_lost']);
    expect(await failureOf(keep(true))).toMatchObject({ code: 'platform_unavailable' });
    const [{ nonce } = { nonce: '' }] = api.records.values();
    expect(await keep(true)).toMatchObject({ outcome: 'renewed' });
    expect([...api.records.values()][0]?.nonce).not.toBe(nonce);
    expect(api.count('update')).toBe(2);
  });

  it('leaves the store alone for a data source that it does not look after', async () => {
    const { store, keep, journal } = surroundings();
    store.left = 0;
    expect(await keep(true, never(), false)).toMatchObject({ outcome: 'created' });
    expect(await journal()).toBeUndefined();
  });

  it.each([
    ['before it begins', true],
    ['while it waits', false],
  ])('ends when it is aborted %s', async (_when, isBefore) => {
    const { api, clock, keep } = surroundings();
    const whole = linkAbort();
    api.list = () =>
      new Promise((_, reject) => {
        whole.signal.addEventListener('abort', () => {
          reject(new AppError('platform_unavailable', 'x'));
        });
      });
    if (isBefore) whole.abort('shutdown');
    const failing = failureOf(keep(true, whole.signal));
    whole.abort('shutdown');
    expect(await failing).toMatchObject({ code: 'platform_unavailable' });
    expect(api.count('create')).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });
});
