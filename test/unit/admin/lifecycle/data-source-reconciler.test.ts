import { afterEach, describe, expect, it } from 'vitest';
import type { AppError } from '../../../../src/base/errors.ts';
import { BODY, HOUR, MINUTE, World } from './reconciler-world.ts';

let world = new World();
afterEach(async () => {
  await Promise.all(world.started.map((reconciler) => reconciler.stop()));
  expect(world.clock.pendingTimers).toBe(0);
  world = new World();
});

describe('a data source at the start', () => {
  it('L-04 is registered when there is none, and its first token is let in before the answer is there', async () => {
    let wasLetIn: boolean | undefined;
    world.api.onTaken = (nonce) => (wasLetIn = world.lets(nonce));
    await (await world.reconciler()).start();
    expect(wasLetIn).toBe(true);
    expect(world.transitions).toEqual(['created']);
    expect(world.record).toMatchObject({ ...BODY, status: 'active' });
    expect(world.record.nonce).toMatch(/^[\w-]{43}$/u);
    expect(world.lets(world.record.nonce)).toBe(true);
    expect(world.lets('another')).toBe(false);
  });

  it('L-03 is adopted when one fits, and nothing is changed', async () => {
    world.api.add({ ...BODY, nonce: 'n', schemaId: 'another schema' });
    const ours = world.api.add({ ...BODY, nonce: 'of an operator' });
    const reconciler = await world.reconciler();
    await reconciler.start();
    expect(reconciler.state).toMatchObject({ dataSourceId: ours.id, isServed: true, error: undefined });
    expect(world.transitions).toEqual(['adopted']);
    expect(world.api.count('update') + world.api.count('create')).toBe(0);
    expect(world.lets('of an operator')).toBe(true);
    expect(world.lets('n')).toBe(false);
  });

  it('L-04 L-05 is repaired when audience or subject differ, and tokens of both forms are let in meanwhile', async () => {
    world.api.add({ ...BODY, subject: 'another', nonce: 'old' });
    const seen: boolean[] = [];
    world.api.onTaken = (nonce) => seen.push(world.lets(nonce));
    await (await world.reconciler()).start();
    expect(seen).toEqual([true]);
    expect(world.transitions).toEqual(['repaired']);
    expect(world.record).toMatchObject({ subject: 'subject', status: 'active' });
    expect(world.record.nonce).not.toBe('old');
  });

  it('L-05 is made active again when it was disabled', async () => {
    world.api.add({ ...BODY, nonce: 'old', status: 'disabled', errorMessage: 'maintenance' });
    await (await world.reconciler()).start();
    expect(world.record).toMatchObject({ status: 'active' });
    expect(world.transitions).toEqual(['repaired']);
  });

  it.each([
    ['L-03', {}],
    ['L-04', { subject: 'another' }],
  ])('%s is not chosen when two fit equally well', async (_, drift) => {
    world.api.add({ ...BODY, ...drift, nonce: 'a' });
    world.api.add({ ...BODY, ...drift, nonce: 'b' });
    const reconciler = await world.reconciler();
    await expect(reconciler.start()).rejects.toMatchObject({ code: 'data_source_unclear' });
    expect(world.api.count('create') + world.api.count('update')).toBe(0);
    expect(reconciler.state.isServed).toBe(false);
  });

  it('L-11 is not taken from another app', async () => {
    world.api.add({ ...BODY, nonce: 'theirs', applicationId: 'C-other' });
    await (await world.reconciler({ applicationId: 'C-ours' })).start();
    expect(world.transitions).toEqual(['created']);
    expect(world.lets('theirs')).toBe(false);
  });

  it('L-02 is the pinned one and no other', async () => {
    world.api.add({ ...BODY, nonce: 'a' });
    const pinned = world.api.add({ ...BODY, nonce: 'b', subject: 'another' });
    const reconciler = await world.reconciler({ pinnedId: pinned.id });
    await reconciler.start();
    expect(reconciler.state.dataSourceId).toBe(pinned.id);
    expect(world.api.count('list')).toBe(0);
  });

  it.each([404, 410])('L-02 is not registered anew when the pinned one is gone (%i)', async (status) => {
    world.api.goneStatus = status;
    const reconciler = await world.reconciler({ pinnedId: 'gone' });
    await expect(reconciler.start()).rejects.toMatchObject({
      code: 'data_source_unclear',
      message: expect.stringContaining('gone is not there') as string,
    });
    expect(world.api.asked).toEqual(['get']);
  });

  it('L-06 L-15 is renewed at once when neither nonce nor end of its token can be read', async () => {
    world.api.add({ ...BODY, nonce: 'hidden' });
    world.api.hidden.add('nonce').add('tokenExpiresAtMs');
    await (await world.reconciler()).start();
    expect(world.transitions).toEqual(['renewed']);
    expect(world.lets(world.record.nonce)).toBe(true);
    // After that the end is assumed, so nothing is renewed before it is due.
    await world.pass(22 * HOUR, 5 * MINUTE);
    expect(world.api.count('update')).toBe(1);
    await world.pass(2 * HOUR, 5 * MINUTE);
    expect(world.api.count('update')).toBe(2);
  });

  it('is tried again until it is there when the platform cannot be reached', async () => {
    world.api.isDown = true;
    const reconciler = await world.reconciler();
    await expect(reconciler.start()).rejects.toMatchObject({ code: 'platform_unavailable' });
    await world.pass(10 * MINUTE);
    expect(reconciler.state.isServed).toBe(false);
    world.api.isDown = false;
    await world.pass(2 * MINUTE);
    expect(reconciler.state).toMatchObject({ isServed: true, error: undefined });
    expect(world.api.records.size).toBe(1);
  });
});

describe('a renewal', () => {
  it('L-07 L-08 comes the lead time before the end, again and again, and no token is refused before its end', async () => {
    await (await world.reconciler()).start();
    const issued: { readonly nonce: string; readonly untilMs: number }[] = [];
    const issue = (): number => issued.push({ nonce: world.record.nonce ?? '', untilMs: world.clock.nowMs() + 24 * HOUR });
    issue();
    world.api.onTaken = issue;
    const startMs = world.clock.nowMs();
    for (let minute = 0; minute < 4 * 24 * 60; minute += 5) {
      await world.pass(5 * MINUTE);
      const good = issued.filter(({ untilMs }) => untilMs > world.clock.nowMs());
      expect(good.length).toBeGreaterThan(0);
      expect(good.map(({ nonce }) => world.lets(nonce))).toEqual(good.map(() => true));
    }
    expect(world.transitions).toEqual(['created', 'renewed', 'renewed', 'renewed', 'renewed']);
    expect((issued[1]?.untilMs ?? 0) - 24 * HOUR - startMs).toBeGreaterThanOrEqual(22.9 * HOUR);
    expect((issued[1]?.untilMs ?? 0) - 24 * HOUR - startMs).toBeLessThan(23 * HOUR);
    // Tokens that have ended are refused.
    expect(world.lets(issued[0]?.nonce)).toBe(false);
  });

  it('comes no more often than a retry when the platform’s clock is so far behind that every fresh token is due at once', async () => {
    world.api.skewMs = -23.5 * HOUR;
    await (await world.reconciler()).start();
    await world.pass(30 * MINUTE);
    expect(world.api.count('update')).toBeGreaterThan(0);
    expect(world.api.count('update')).toBeLessThanOrEqual(30);
    world.api.skewMs = 0;
    await world.pass(2 * MINUTE);
    const before = world.api.count('update');
    await world.pass(10 * HOUR);
    expect(world.api.count('update')).toBe(before);
  });

  it('L-09 lets the new token in before the answer, and the old one until it ends (J-05)', async () => {
    const reconciler = await world.reconciler();
    await reconciler.start();
    const old = world.record.nonce;
    let wasLetIn: boolean | undefined;
    world.api.onTaken = (nonce) => (wasLetIn = world.lets(nonce));
    await world.pass(HOUR, 5 * MINUTE);
    expect(await reconciler.renew()).toMatchObject({ isServed: true });
    expect(wasLetIn).toBe(true);
    expect(world.record.nonce).not.toBe(old);
    expect([world.lets(old), world.lets(world.record.nonce)]).toEqual([true, true]);
    await world.pass(22.9 * HOUR, 5 * MINUTE);
    expect(world.lets(old)).toBe(true);
    await world.pass(0.2 * HOUR);
    expect(world.lets(old)).toBe(false);
  });

  it.each([['answer_lost'], ['refused_after_all']] as const)('is done once when its answer is %s', async (mishap) => {
    const reconciler = await world.reconciler();
    await reconciler.start();
    const taken: string[] = [];
    world.api.onTaken = (nonce) => taken.push(nonce);
    world.api.mishaps.push(['update', mishap]);
    await reconciler.renew();
    expect(world.lets(taken[0])).toBe(true);
    await world.pass(5 * MINUTE);
    expect(new Set(taken).size).toBe(1);
    expect(world.lets(taken[0])).toBe(true);
    expect(reconciler.state.error).toBeUndefined();
  });

  it('uses another nonce when one was refused for sure, and refuses tokens with the first', async () => {
    const reconciler = await world.reconciler();
    await reconciler.start();
    const sent = world.sentNonces();
    world.api.mishaps.push(['update', 'refused']);
    await reconciler.renew();
    await world.pass(2 * MINUTE);
    expect(new Set(sent).size).toBe(2);
    expect([world.lets(sent[0]), world.lets(sent[1])]).toEqual([false, true]);
  });

  it('keeps a nonce known that was refused after a try with it that may still be done', async () => {
    const reconciler = await world.reconciler();
    await reconciler.start();
    const sent = world.sentNonces();
    world.api.mishaps.push(['update', 'late'], ['update', 'refused']);
    await reconciler.renew();
    await world.pass(3 * MINUTE);
    expect([new Set(sent).size, reconciler.state.error]).toEqual([2, undefined]);
    world.api.catchUp();
    expect(world.record.nonce).toBe(sent[0]);
    expect([world.lets(sent[0]), world.lets(sent.at(-1))]).toEqual([true, true]);
    await reconciler.stop();
    world.api.isDown = true;
    (await world.reconciler()).serveKnown();
    expect(world.lets(sent[0])).toBe(true);
  });

  it('follows a nonce that somebody else has set, and keeps the one before until its token ends', async () => {
    const reconciler = await world.reconciler();
    await reconciler.start();
    const { id, nonce } = world.record;
    await world.api.update(id, { nonce: 'of a colleague' });
    await world.pass(15 * MINUTE);
    expect(world.transitions).toEqual(['created', 'followed']);
    expect([world.lets('of a colleague'), world.lets(nonce)]).toEqual([true, true]);
    expect(world.api.count('update')).toBe(1);
  });

  it('is an alarm when half of the lead time is over without it, once, and goes on trying', async () => {
    const reconciler = await world.reconciler();
    await reconciler.start();
    await world.pass(22 * HOUR, 5 * MINUTE);
    world.api.isDown = true;
    await world.pass(2.5 * HOUR, MINUTE);
    expect(world.transitions.filter((each) => each === 'overdue')).toHaveLength(1);
    const alarm = world.told.find(({ transition }) => transition === 'overdue');
    expect(alarm?.error).toMatchObject({ code: 'platform_unavailable' } satisfies Partial<AppError>);
    expect(reconciler.state.isServed).toBe(false);
    world.api.isDown = false;
    await world.pass(2 * MINUTE);
    expect(reconciler.state.isServed).toBe(true);
    expect(world.api.records.size).toBe(1);
  });

  it('registers once although the answer was lost (R-12)', async () => {
    world.api.mishaps.push(['create', 'answer_lost']);
    const reconciler = await world.reconciler();
    await expect(reconciler.start()).rejects.toMatchObject({ code: 'platform_unavailable' });
    const nonce = world.record.nonce;
    expect(world.lets(nonce)).toBe(true);
    await world.pass(2 * MINUTE);
    expect([world.api.count('create'), world.api.count('update'), world.api.records.size]).toEqual([1, 0, 1]);
    expect(world.record.nonce).toBe(nonce);
    expect(reconciler.state.isServed).toBe(true);
  });

  it.each([404, 410])('brings back a data source that was deleted (%i), or disabled, within the time between two looks', async (status) => {
    world.api.goneStatus = status;
    const reconciler = await world.reconciler();
    await reconciler.start();
    world.api.records.set(world.record.id, { ...world.record, status: 'disabled', errorMessage: 'by hand' });
    await world.pass(15 * MINUTE);
    expect(world.record).toMatchObject({ status: 'active' });
    world.api.records.clear();
    await world.pass(15 * MINUTE);
    expect(world.transitions).toEqual(['created', 'repaired', 'created']);
    expect(reconciler.state.dataSourceId).toBe(world.record.id);
    expect(world.lets(world.record.nonce)).toBe(true);
  });
});

describe('a restart', () => {
  it('L-15 changes nothing at the platform and refuses no token that was good before it', async () => {
    const first = await world.reconciler();
    await first.start();
    const old = world.record.nonce;
    await world.pass(HOUR, 5 * MINUTE);
    await first.renew();
    await first.stop();
    const asked = world.api.count('update');
    await (await world.reconciler()).start();
    expect(world.api.count('update')).toBe(asked);
    expect([world.lets(old), world.lets(world.record.nonce)]).toEqual([true, true]);
    await world.pass(23.1 * HOUR, 5 * MINUTE);
    expect(world.lets(old)).toBe(false);
  });

  it('L-15 refuses no token that was good before it although the platform cannot be reached', async () => {
    const first = await world.reconciler();
    await first.start();
    const old = world.record.nonce;
    await world.pass(HOUR, 5 * MINUTE);
    const { expiresAtMs } = await first.renew();
    await first.stop();
    world.api.isDown = true;
    const second = await world.reconciler();
    second.serveKnown();
    expect([world.lets(old), world.lets(world.record.nonce), world.lets('another')]).toEqual([true, true, false]);
    await expect(second.start()).rejects.toMatchObject({ code: 'platform_unavailable' });
    expect([world.lets(old), world.lets(world.record.nonce)]).toEqual([true, true]);
    expect(second.state).toMatchObject({ isServed: true, expiresAtMs });
    const asked = world.api.count('update');
    world.api.isDown = false;
    await world.pass(2 * MINUTE);
    expect(world.transitions.slice(-2)).toEqual(['failed', 'adopted']);
    expect(world.api.count('update')).toBe(asked);
    // What is known says when the next one is due.
    await world.pass(22 * HOUR, 5 * MINUTE);
    expect(world.api.count('update')).toBe(asked);
    await world.pass(HOUR, 5 * MINUTE);
    expect(world.api.count('update')).toBe(asked + 1);
  });

  it('L-02 lets nobody in by what is known of another data source than the pinned one', async () => {
    await (await world.reconciler()).start();
    (await world.reconciler({ pinnedId: 'another' })).serveKnown();
    expect(world.lets(world.record.nonce)).toBe(false);
  });

  it('between the change and its answer knows the nonce that it had sent, and sends none again', async () => {
    const first = await world.reconciler();
    await first.start();
    world.api.onTaken = () => void first.stop();
    world.api.mishaps.push(['update', 'answer_lost']);
    await first.renew();
    world.api.onTaken = () => undefined;
    const asked = world.api.count('update');
    await (await world.reconciler()).start();
    expect(world.lets(world.record.nonce)).toBe(true);
    expect(world.api.count('update')).toBe(asked);
  });

  it('after the nonces on disk were lost takes the one of the record', async () => {
    await (await world.reconciler()).start();
    world.texts.clear();
    await (await world.reconciler()).start();
    expect(world.lets(world.record.nonce)).toBe(true);
    expect(world.api.count('update')).toBe(0);
  });
});

describe('the end', () => {
  it('L-13 changes nothing at the platform, and the last token stays good', async () => {
    const reconciler = await world.reconciler();
    await reconciler.start();
    await reconciler.stop();
    await reconciler.stop();
    expect(world.record).toMatchObject({ status: 'active' });
    expect(world.lets(world.record.nonce)).toBe(true);
    expect((await reconciler.renew()).isServed).toBe(true);
    expect(world.api.count('update')).toBe(0);
  });

  it('of an organization refuses its tokens at once and erases its nonces', async () => {
    const reconciler = await world.reconciler();
    await reconciler.start();
    const { nonce } = world.record;
    const forgetting = reconciler.forget();
    expect(world.lets(nonce)).toBe(false);
    await forgetting;
    expect([world.lets(nonce), world.texts.size]).toEqual([false, 0]);
    expect(world.transitions.at(-1)).toBe('forgotten');
    await world.pass(HOUR, 5 * MINUTE);
    expect(world.api.count('update')).toBe(0);
  });

  it('of an organization wins over a registration that is under way', async () => {
    const reconciler = await world.reconciler();
    let forgetting: Promise<void> | undefined;
    world.api.onTaken = () => {
      forgetting = reconciler.forget();
    };
    await reconciler.start().catch(() => undefined);
    await forgetting;
    expect(world.lets(world.record.nonce)).toBe(false);
    expect(world.texts.size).toBe(0);
  });
});
