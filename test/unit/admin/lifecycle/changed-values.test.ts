// Tokens outlive the values they were made with: the platform may present one until it ends, whoever has changed the data
// source meanwhile (J-05).
import { afterEach, describe, expect, it } from 'vitest';
import { BODY, HOUR, MINUTE, World } from './reconciler-world.ts';

const CHANGES = [
  ['audience', { audience: 'another audience' }],
  ['subject', { subject: 'another subject' }],
  ['url', { url: 'https://another.example.org' }],
  ['schema', { schemaId: 'another schema' }],
] as const;

let world = new World();
afterEach(async () => {
  await Promise.all(world.started.map((reconciler) => reconciler.stop()));
  expect(world.clock.pendingTimers).toBe(0);
  world = new World();
});

describe.each(CHANGES)('J-05 a change of the %s', (_, changed) => {
  it('in the configuration refuses no token of before: at the start, during the repair, after it, until it ends', async () => {
    const first = await world.reconciler();
    await first.start();
    const old = world.record.nonce;
    await first.stop();

    const second = await world.reconciler(changed);
    second.serveKnown();
    expect([world.lets(old), world.lets(old, changed)]).toEqual([true, false]);
    const meanwhile: boolean[] = [];
    world.api.onTaken = (nonce) => meanwhile.push(world.lets(old), world.lets(nonce, changed));
    await second.start();
    expect(world.transitions).toEqual(['created', 'repaired']);
    expect(meanwhile).toEqual([true, true]);
    world.api.onTaken = () => undefined;
    const fresh = world.record.nonce;
    expect([world.lets(old), world.lets(fresh, changed)]).toEqual([true, true]);
    // The platform makes no such token.
    expect([world.lets(fresh), world.lets(old, changed), world.lets('another'), world.lets('another', changed)]).toEqual([
      false,
      false,
      false,
      false,
    ]);

    await second.stop();
    (await world.reconciler(changed)).serveKnown();
    expect([world.lets(old), world.lets(fresh, changed)]).toEqual([true, true]);
    world.clock.advance(24 * HOUR + MINUTE);
    expect(world.lets(old)).toBe(false);
  });

  it('by somebody else refuses neither the tokens of before nor, when it is put right, those made with it', async () => {
    const reconciler = await world.reconciler();
    await reconciler.start();
    const { id, nonce: old } = world.record;
    await world.api.update(id, { ...changed, nonce: 'theirs' });
    const meanwhile: boolean[] = [];
    world.api.onTaken = () => meanwhile.push(world.lets(old), world.lets('theirs', changed));
    await world.pass(15 * MINUTE);
    expect(world.transitions.at(-1)).toBe('repaired');
    expect(world.record).toMatchObject(BODY);
    expect(meanwhile).toEqual([true, true]);
    expect([world.lets(old), world.lets('theirs', changed), world.lets(world.record.nonce)]).toEqual([true, true, true]);
    expect([world.lets('theirs'), world.lets(old, changed)]).toEqual([false, false]);
    await world.pass(24 * HOUR, 5 * MINUTE);
    expect([world.lets(old), world.lets('theirs', changed), world.lets(world.record.nonce)]).toEqual([false, false, true]);
  });
});

describe('J-05 a change of values', () => {
  const changed = { audience: 'another audience' };

  it('back and forth within a day refuses no token of that day', async () => {
    const made: { readonly nonce: string; readonly values: Partial<typeof BODY> }[] = [];
    for (const values of [{}, changed, {}]) {
      const reconciler = await world.reconciler(values);
      reconciler.serveKnown();
      await reconciler.start();
      await reconciler.stop();
      made.push({ nonce: world.record.nonce ?? '', values });
    }
    expect(made.map(({ nonce, values }) => world.lets(nonce, values))).toEqual([true, true, true]);
  });

  it('without a fresh nonce lets the tokens of before and after in', async () => {
    const reconciler = await world.reconciler();
    await reconciler.start();
    const { id, nonce: old } = world.record;
    world.api.records.set(id, { ...world.record, ...changed });
    await world.pass(15 * MINUTE);
    expect([world.lets(old), world.lets(old, changed), world.lets(world.record.nonce)]).toEqual([true, true, true]);
  });

  it('L-15 while the answer to a change is not known lets the tokens of both configurations in', async () => {
    const first = await world.reconciler();
    await first.start();
    const old = world.record.nonce;
    await first.stop();
    const second = await world.reconciler(changed);
    world.api.mishaps.push(['update', 'answer_lost']);
    world.api.onTaken = () => void second.stop();
    await second.start().catch(() => undefined);
    world.api.onTaken = () => undefined;
    const sent = world.record.nonce;
    expect(sent).not.toBe(old);
    // The operator has changed it back meanwhile.
    const third = await world.reconciler();
    third.serveKnown();
    expect([world.lets(old), world.lets(sent, changed)]).toEqual([true, true]);
    await third.start();
    expect([world.lets(old), world.lets(sent, changed), world.lets(world.record.nonce)]).toEqual([true, true, true]);
  });

  it('of an organization that is forgotten lets none of them in', async () => {
    const first = await world.reconciler();
    await first.start();
    const old = world.record.nonce;
    await first.stop();
    const second = await world.reconciler(changed);
    second.serveKnown();
    await second.start();
    await second.forget();
    expect([world.lets(old), world.lets(world.record.nonce, changed), world.texts.size]).toEqual([false, false, 0]);
  });
});
