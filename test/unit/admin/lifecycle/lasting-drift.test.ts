// A platform may answer a change and leave a member as it was.
import { afterEach, describe, expect, it } from 'vitest';
import { AppError } from '../../../../src/base/errors.ts';
import { BODY, HOUR, MINUTE, World } from './reconciler-world.ts';

let world = new World();
afterEach(async () => {
  await Promise.all(world.started.map((reconciler) => reconciler.stop()));
  expect(world.clock.pendingTimers).toBe(0);
  world = new World();
});

const updates = (): number => world.api.count('update');
const recordOf = (schemaId: string) => [...world.api.records.values()].find((record) => record.schemaId === schemaId);

describe.each([
  ['tells it in its answer', []],
  ['leaves it out of its answer', ['schemaId']],
] as const)('R-02 a schema that the platform does not change, when it %s', (_, unnotified) => {
  it('is left where it is, another data source is registered once, and tokens of both are let in', async () => {
    const first = await world.reconciler();
    await first.start();
    const old = world.record.nonce;
    await first.stop();
    world.api.ignored.add('schemaId');
    for (const member of unnotified) world.api.unnotified.add(member);
    const changed = { schemaId: 'another schema' };
    const second = await world.reconciler(changed);
    second.serveKnown();
    await second.start();
    await world.pass(2 * HOUR, 5 * MINUTE);
    expect(second.state).toMatchObject({ error: undefined, isServed: true, dataSourceId: recordOf('another schema')?.id });
    expect([world.api.records.size, world.api.count('create'), updates()]).toEqual([2, 2, 1]);
    const kept = recordOf('schema')?.nonce;
    expect([world.lets(old), world.lets(kept), world.lets(recordOf('another schema')?.nonce, changed)]).toEqual([true, true, true]);
    expect(world.lets(kept, changed)).toBe(unnotified.length > 0);
    await second.stop();
    await (await world.reconciler(changed)).start();
    expect([world.api.records.size, updates()]).toEqual([2, 1]);
  });
});

describe('R-02 a schema that the platform neither changes nor registers', () => {
  it('leaves the old data source renewed and its tokens let in', async () => {
    const first = await world.reconciler();
    await first.start();
    await first.stop();
    world.api.ignored.add('schemaId');
    world.api.create = () => Promise.reject(new AppError('platform_refused', 'there is no such schema'));
    const second = await world.reconciler({ schemaId: 'another schema' });
    await expect(second.start()).rejects.toMatchObject({ code: 'platform_refused' });
    await world.pass(47 * HOUR, 5 * MINUTE);
    expect([world.api.records.size, updates()]).toEqual([1, 3]);
    expect([second.state.isServed, world.lets(world.record.nonce)]).toEqual([true, true]);
  });
});

describe('R-02 a member that the platform does not change', () => {
  it('is reported and not changed again, while its tokens are renewed and let in as they are', async () => {
    world.api.add({ ...BODY, subject: 'as it was', nonce: 'old' });
    world.api.ignored.add('subject');
    const reconciler = await world.reconciler();
    await expect(reconciler.start()).rejects.toMatchObject({
      code: 'data_source_unclear',
      message: expect.stringContaining('subject') as string,
    });
    const was = { subject: 'as it was' };
    expect([world.lets('old', was), world.lets(world.record.nonce, was)]).toEqual([true, true]);
    expect(world.lets(world.record.nonce)).toBe(false);
    await world.pass(20 * HOUR, 5 * MINUTE);
    expect([updates(), reconciler.state.error?.code, reconciler.state.isServed]).toEqual([1, 'data_source_unclear', true]);
    await world.pass(4 * HOUR, 5 * MINUTE);
    expect([updates(), world.lets(world.record.nonce, was)]).toEqual([2, true]);
    // Repaired manually: from then on it is reconciled as before.
    world.api.ignored.clear();
    world.api.records.set(world.record.id, { ...world.record, subject: 'subject' });
    await world.pass(HOUR, 5 * MINUTE);
    expect(reconciler.state.error).toBeUndefined();
    world.api.records.set(world.record.id, { ...world.record, subject: 'as it was' });
    await world.pass(HOUR, 5 * MINUTE);
    expect([world.record.subject, updates()]).toEqual(['subject', 3]);
  });

  it('L-07 does not keep tokens from being renewed in time when looks come less often than the lead time is long', async () => {
    world.api.add({ ...BODY, subject: 'as it was', nonce: 'old' });
    world.api.ignored.add('subject');
    const reconciler = await world.reconciler({}, { checkMs: 24 * HOUR });
    await expect(reconciler.start()).rejects.toMatchObject({ code: 'data_source_unclear' });
    const looks = world.api.count('get');
    await world.pass(22.9 * HOUR, 5 * MINUTE);
    expect([world.api.count('get'), updates()]).toEqual([looks, 1]);
    await world.pass(0.1 * HOUR);
    expect([updates(), world.transitions.includes('overdue')]).toEqual([2, false]);
  });

  it('is reported in the words of the platform when it is the status', async () => {
    world.api.add({ ...BODY, nonce: 'old', status: 'disabled', errorMessage: 'no licence' });
    world.api.ignored.add('status');
    await expect((await world.reconciler()).start()).rejects.toMatchObject({
      code: 'data_source_unclear',
      message: expect.stringMatching(/leaves status as it was; it says "no licence"/u) as string,
    });
  });

  it('does not make another data source of a pinned one', async () => {
    const { id } = world.api.add({ ...BODY, schemaId: 'another schema', nonce: 'old' });
    world.api.ignored.add('schemaId');
    await expect((await world.reconciler({ pinnedId: id })).start()).rejects.toMatchObject({ code: 'data_source_unclear' });
    await world.pass(2 * HOUR, 5 * MINUTE);
    expect([world.api.records.size, updates()]).toEqual([1, 1]);
  });
});

describe('a nonce', () => {
  it('that the platform does not take at once is let in beside the old one, and sent again', async () => {
    const reconciler = await world.reconciler();
    await reconciler.start();
    const old = world.record.nonce;
    world.api.ignored.add('nonce');
    expect((await reconciler.renew()).error).toMatchObject({ code: 'platform_answer_invalid' });
    expect(world.lets(old)).toBe(true);
    world.api.ignored.clear();
    await world.pass(2 * MINUTE);
    expect(world.record.nonce).not.toBe(old);
    expect([world.lets(old), world.lets(world.record.nonce), updates()]).toEqual([true, true, 2]);
  });

  it('that may have been taken by a refused change is kept while the platform does not return nonces', async () => {
    const reconciler = await world.reconciler();
    await reconciler.start();
    world.api.hidden.add('nonce');
    world.api.mishaps.push(['update', 'refused_after_all']);
    expect((await reconciler.renew()).error).toMatchObject({ code: 'platform_refused' });
    expect(world.lets(world.record.nonce)).toBe(true);
  });

  it('that was refused for sure is not tried again although the platform does not return nonces', async () => {
    const reconciler = await world.reconciler();
    await reconciler.start();
    world.api.hidden.add('nonce');
    const sent = world.sentNonces();
    world.api.mishaps.push(['update', 'refused']);
    await reconciler.renew();
    await world.pass(2 * MINUTE);
    expect(new Set(sent).size).toBe(2);
    expect([world.lets(sent[0]), world.lets(sent[1])]).toEqual([false, true]);
  });
});
