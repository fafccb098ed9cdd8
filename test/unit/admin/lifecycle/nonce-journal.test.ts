import { expect, it } from 'vitest';
import { NonceJournal } from '../../../../src/admin/lifecycle/nonce-journal.ts';
import { MemorySecrets } from '../../../support/admin-server.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const CONFIGURED = { url: 'https://voice.example.org', schemaId: 'schema', audience: 'audience', subject: 'subject' };
const BEFORE = { ...CONFIGURED, audience: 'audience of before' };

function surroundings() {
  const clock = new FakeClock();
  const store = new MemorySecrets();
  const open = (configured = CONFIGURED) => NonceJournal.open({ key: 'k', store, configured, clock, onUnsaved: () => undefined });
  return { clock, store, open };
}

it('J-05 J-16 a replaced nonce is good until its token ends by a clock that is half a minute behind ours', async () => {
  const { clock, open } = surroundings();
  const journal = await open();
  const endMs = clock.nowMs() + 600_000;
  await journal.confirm('ds', { nonce: 'old', values: CONFIGURED }, endMs);
  clock.advance(300_000);
  await journal.confirm('ds', { nonce: 'new', values: CONFIGURED }, endMs + 300_000);
  const isGood = ({ known }: NonceJournal): boolean => known.replaced.some(({ nonce }) => nonce === 'old');
  // The platform presents it as long as its own clock says that it has not ended; ours is ahead of it.
  clock.advance(endMs + 29_000 - clock.nowMs());
  const restarted = await open();
  expect([isGood(journal), isGood(restarted)]).toEqual([true, true]);
  clock.advance(1000);
  expect([isGood(journal), isGood(restarted)]).toEqual([false, false]);
});

it('J-05 nonces that may still be taken push none out whose token is used', async () => {
  const { clock, open } = surroundings();
  const journal = await open();
  const endMs = clock.nowMs() + 600_000;
  await journal.confirm('ds', { nonce: 'old', values: CONFIGURED }, endMs);
  await journal.confirm('ds', { nonce: 'new', values: CONFIGURED }, endMs);
  for (const nonce of ['a', 'b', 'c', 'd', 'e']) {
    await journal.announce(nonce, CONFIGURED, false);
    await journal.withdraw(false);
  }
  expect(journal.known.replaced.map(({ nonce }) => nonce)).toEqual(['c', 'b', 'a', 'old']);
  expect(journal.known.announced).toBeUndefined();
  await journal.announce('f', CONFIGURED, false);
  await journal.withdraw(true);
  expect((await open()).known).toEqual(journal.known);
  expect(journal.known.replaced).toHaveLength(4);
});

it('J-05 each nonce keeps the values that its token carries, whatever is configured later', async () => {
  const { clock, open } = surroundings();
  const journal = await open(BEFORE);
  const endMs = clock.nowMs() + 600_000;
  await journal.confirm('ds', { nonce: 'old', values: BEFORE }, endMs);
  await journal.announce('new', CONFIGURED, false);
  expect((await open()).known).toMatchObject({
    current: { nonce: 'old', values: BEFORE },
    announced: { nonce: 'new', values: CONFIGURED },
  });
  await journal.confirm('ds', { nonce: 'new', values: CONFIGURED }, endMs);
  expect((await open({ ...CONFIGURED, subject: 'a third' })).known).toEqual({
    current: { nonce: 'new', values: CONFIGURED, validUntilMs: endMs },
    replaced: [{ nonce: 'old', values: BEFORE, validUntilMs: endMs + 30_000 }],
  });
});

it('J-05 a nonce that was sent with other values before is known with both', async () => {
  const { clock, open } = surroundings();
  const journal = await open();
  await journal.announce('sent', BEFORE, false);
  await journal.announce('sent', CONFIGURED, false);
  const validUntilMs = clock.nowMs() + 24 * 3_600_000 + 30_000;
  const known = { announced: { nonce: 'sent', values: CONFIGURED }, replaced: [{ nonce: 'sent', values: BEFORE, validUntilMs }] };
  expect([journal.known, (await open()).known]).toEqual([known, known]);
});

it('L-15 nonces that were written without values belong to those of the configuration, and are written with them soon', async () => {
  const { clock, store, open } = surroundings();
  const validUntilMs = clock.nowMs() + 60_000;
  const replaced = [{ nonce: 'old', validUntilMs }];
  const written = { version: 1, dataSourceId: 'ds', current: { nonce: 'new', validUntilMs }, announced: 'next', replaced };
  await store.set('k', JSON.stringify(written));
  const journal = await open();
  const known = {
    current: { nonce: 'new', values: CONFIGURED, validUntilMs },
    announced: { nonce: 'next', values: CONFIGURED },
    replaced: [{ nonce: 'old', values: CONFIGURED, validUntilMs }],
  };
  expect([journal.dataSourceId, journal.known]).toEqual(['ds', known]);
  // The platform says nothing new, and the configuration is changed after that.
  await journal.confirm('ds', { nonce: 'new', values: CONFIGURED }, validUntilMs);
  expect((await open(BEFORE)).known).toEqual(known);
});

it('L-09 says that a nonce could not be written, and writes with the next call what is missing, although nothing is new', async () => {
  const { clock, store, open } = surroundings();
  const journal = await open();
  const endMs = clock.nowMs() + 600_000;
  store.isFull = true;
  expect(await journal.announce('next', CONFIGURED, false)).toMatchObject({ code: 'store_failed' });
  expect(await journal.announce('next', CONFIGURED, false)).toMatchObject({ code: 'store_failed' });
  store.isFull = false;
  expect(await journal.announce('next', CONFIGURED, false)).toBeUndefined();
  expect((await open()).known.announced).toMatchObject({ nonce: 'next' });
  store.isFull = true;
  const confirm = () => journal.confirm('ds', { nonce: 'next', values: CONFIGURED }, endMs);
  await confirm();
  store.isFull = false;
  await confirm();
  expect((await open()).known).toEqual(journal.known);
});
