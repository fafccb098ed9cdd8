// A registration whose answer was lost may turn up later, or never.
import { afterEach, describe, expect, it } from 'vitest';
import { BODY, HOUR, MINUTE, World } from './reconciler-world.ts';

let world = new World();
afterEach(async () => {
  await Promise.all(world.started.map((reconciler) => reconciler.stop()));
  expect(world.clock.pendingTimers).toBe(0);
  world = new World();
});

const created = (): number => world.api.count('create');
const nonces = (): readonly (string | undefined)[] => [...world.api.records.values()].map(({ nonce }) => nonce);

async function begunLate() {
  world.api.mishaps.push(['create', 'late']);
  const reconciler = await world.reconciler();
  await expect(reconciler.start()).rejects.toMatchObject({ code: 'platform_unavailable' });
  return reconciler;
}

describe('R-12 a registration whose answer was lost', () => {
  it('is waited for, and taken when it turns up', async () => {
    const reconciler = await begunLate();
    await world.pass(3 * MINUTE);
    expect([created(), world.api.records.size, reconciler.state.isServed]).toEqual([1, 0, false]);
    expect(world.api.count('list')).toBeGreaterThan(2);
    world.api.catchUp();
    await world.pass(2 * MINUTE);
    expect([created(), world.api.count('update'), reconciler.state.isServed]).toEqual([1, 0, true]);
    expect(world.lets(world.record.nonce)).toBe(true);
  });

  it('is waited for by the next process as well', async () => {
    await (await begunLate()).stop();
    await expect((await world.reconciler()).start()).rejects.toMatchObject({
      code: 'platform_unavailable',
      message: expect.stringContaining('may still turn up') as string,
    });
    expect(created()).toBe(1);
  });

  it('L-15 is let in by the next process as well, before it asks anybody', async () => {
    world.api.mishaps.push(['create', 'answer_lost']);
    const first = await world.reconciler();
    await expect(first.start()).rejects.toMatchObject({ code: 'platform_unavailable' });
    await first.stop();
    const second = await world.reconciler();
    second.serveKnown();
    expect([world.lets(world.record.nonce), second.state.isServed]).toEqual([true, false]);
    await second.start();
    expect([world.lets(world.record.nonce), second.state.isServed, created()]).toEqual([true, true, 1]);
  });

  it('is not waited for longer because the clock was a year ahead when it was sent', async () => {
    world.clock.stepWall(365 * 24 * HOUR);
    const reconciler = await begunLate();
    world.clock.stepWall(-365 * 24 * HOUR);
    await world.pass(2 * MINUTE);
    expect([created(), reconciler.state.isServed]).toEqual([2, true]);
  });

  it('L-02 is not let in by the next process when that is to use another data source', async () => {
    world.api.mishaps.push(['create', 'answer_lost']);
    const first = await world.reconciler();
    await expect(first.start()).rejects.toMatchObject({ code: 'platform_unavailable' });
    await first.stop();
    (await world.reconciler({ pinnedId: 'another' })).serveKnown();
    expect(world.lets(world.record.nonce)).toBe(false);
  });

  it('is sent again when it has not turned up, and once', async () => {
    const reconciler = await begunLate();
    await world.pass(10 * MINUTE);
    expect([created(), world.api.records.size, reconciler.state.isServed]).toEqual([2, 1, true]);
  });

  it.each(['with', 'without'])('leaves one data source when it turns up after the second, %s the nonces in the list', async (how) => {
    const reconciler = await begunLate();
    await world.pass(10 * MINUTE);
    const { dataSourceId } = reconciler.state;
    if (how === 'without') world.api.hiddenInList.add('nonce');
    // Another one that fits is none of ours.
    world.api.add({ ...BODY, nonce: 'of a stranger' });
    world.api.catchUp();
    expect([world.api.records.size, new Set(nonces()).size]).toEqual([3, 2]);
    await world.pass(HOUR, 5 * MINUTE);
    expect([...world.api.records.keys()]).toContain(dataSourceId);
    expect(nonces()).toContain('of a stranger');
    expect([world.api.records.size, world.api.count('delete'), created()]).toEqual([2, 1, 2]);
    expect(world.transitions).toContain('removed');
    expect(reconciler.state).toMatchObject({ error: undefined, dataSourceId });
  });

  it('leaves one when both answers were lost and both turn up', async () => {
    const reconciler = await begunLate();
    world.api.mishaps.push(['create', 'late']);
    await world.pass(8 * MINUTE);
    world.api.catchUp();
    expect([world.api.records.size, new Set(nonces()).size]).toEqual([2, 1]);
    await world.pass(10 * MINUTE);
    expect([world.api.records.size, world.api.count('delete'), reconciler.state.isServed]).toEqual([1, 1, true]);
    expect(world.lets(world.record.nonce)).toBe(true);
  });

  it('is sent again at the next try when it surely had no effect', async () => {
    world.api.mishaps.push(['create', 'unreachable']);
    await (await world.reconciler()).start().catch(() => undefined);
    await world.pass(2 * MINUTE);
    expect([created(), world.api.records.size]).toEqual([2, 1]);
    // Nothing can turn up late: the list is not asked for any more.
    const listed = world.api.count('list');
    await world.pass(HOUR, 5 * MINUTE);
    expect(world.api.count('list')).toBe(listed);
  });
});
