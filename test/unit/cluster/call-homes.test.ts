import { describe, expect, it } from 'vitest';
import { BEAT_MS } from '../../../src/cluster/instances.ts';
import { callId } from '../../../src/dialog/call.ts';
import { forEachTwoProcesses, SWEEP_MS, TTL_MS, type ClusterProcess, type ClusterWorld } from '../../support/cluster-world.ts';

const CALL = { organizationId: 'org', conversationId: 'call' };

let world: ClusterWorld;
let one: ClusterProcess;
let other: ClusterProcess;

forEachTwoProcesses((started) => {
  ({ world, one, other } = started);
});

describe('a call at home', () => {
  it('is here at once, without a promise, from its second turn on', async () => {
    expect(one.homes.locate(CALL, { opensWith: 'start' })).toBeInstanceOf(Promise);
    expect(await world.turn('one', CALL, 'start')).toEqual({ at: 'one', turns: 1 });
    expect(one.homes.locate(CALL, { opensWith: 'input' })).toEqual({ kind: 'here' });
    expect(one.homes.locate(CALL, { opensWith: 'input', forwarded: { isTaking: false } })).toEqual({ kind: 'here' });
    expect(one.homes.has(callId(CALL))).toBe(true);
    expect(other.homes.has(callId(CALL))).toBe(false);
  });

  it('gets the turns that arrive elsewhere, also the ones that start it anew (G-28) or end it', async () => {
    await world.turn('one', CALL, 'start');
    expect(await world.turn('other', CALL)).toEqual({ at: 'one', turns: 2 });
    expect(await world.turn('other', CALL, 'nothing')).toEqual({ at: 'one', turns: 3 });
    // Remembered: no promise either.
    expect(other.homes.locate(CALL, { opensWith: 'input' })).toMatchObject({ kind: 'at_peer', home: { id: 'one' }, isTaking: false });
    expect(await world.turn('other', CALL, 'start')).toEqual({ at: 'one', turns: 1 });
    expect(await world.turn('other', CALL, 'end')).toEqual({ at: 'one', turns: 1 });
  });

  it('is kept in the directory while its caller listens for long', async () => {
    await world.turn('one', CALL, 'start');
    await world.pass(2 * TTL_MS);
    expect(await world.directory.find(CALL)).toMatchObject({ kind: 'theirs', owner: 'one' });
  }, 30_000);
});

describe('two turns that ask at once', () => {
  it('share one question', async () => {
    await world.turn('one', CALL, 'start');
    await one.release(CALL);
    let claims = 0;
    const { directory } = world;
    world.directory = Object.create(directory, {
      claim: {
        value: (...args: Parameters<typeof directory.claim>) => {
          claims += 1;
          return directory.claim(...args);
        },
      },
    }) as typeof directory;
    const located = await Promise.all([1, 2, 3].map(async () => other.homes.locate(CALL, { opensWith: 'input' })));
    expect(claims).toBe(1);
    for (const found of located) expect(found).toEqual({ kind: 'here', restored: { snapshot: { turns: 1 }, generation: 1 } });
  });

  it('do not share it when one needs more: SESSION_END creates nothing for SESSION_START', async () => {
    const turns = (['end', 'input', 'start'] as const).map(async (opensWith) => one.homes.locate(CALL, { opensWith }));
    expect(await Promise.all(turns)).toEqual([{ kind: 'ended' }, { kind: 'here' }, { kind: 'here' }]);
  });
});

describe('a call that is over', () => {
  it('gets no prompts anywhere, until it begins anew (G-7C, G-28)', async () => {
    await world.turn('one', CALL, 'start');
    await world.turn('one', CALL, 'end');
    for (const at of ['one', 'other']) {
      expect(await world.turn(at, CALL)).toEqual({ at: undefined, turns: 0 });
      expect(await world.turn(at, CALL, 'end')).toEqual({ at: undefined, turns: 0 });
    }
    expect(await world.turn('other', CALL, 'start')).toEqual({ at: 'other', turns: 1 });
    expect(await world.turn('one', CALL)).toEqual({ at: 'other', turns: 2 });
  });

  it('is over although the directory was away, and not restored when it is back', async () => {
    await world.turn('one', CALL, 'start');
    one.line.state = 'away';
    one.homes.forget(CALL);
    one.sessions.clear();
    expect(one.homes.locate(CALL, { opensWith: 'input' })).toEqual({ kind: 'ended' });
    expect(await world.turn('other', CALL)).toEqual({ at: undefined, turns: 0 });
    expect(one.homes.has(callId(CALL))).toBe(false);
    one.line.state = 'up';
    await world.pass(2 * BEAT_MS);
    expect(await world.directory.find(CALL)).toEqual({ kind: 'ended' });
    expect(await world.turn('other', CALL)).toEqual({ at: undefined, turns: 0 });
  });

  it('was never one that begins with SESSION_END', async () => {
    expect(await world.turn('one', CALL, 'end')).toEqual({ at: undefined, turns: 0 });
    expect(await world.directory.find(CALL)).toEqual({ kind: 'unknown' });
  });
});

describe('a call that is released', () => {
  it('goes on wherever its next turn arrives, and its turns find what it left until a snapshot is saved', async () => {
    await world.turn('one', CALL, 'start');
    await world.turn('one', CALL);
    await one.release(CALL);
    expect(one.homes.has(callId(CALL))).toBe(false);
    const restored = { kind: 'here', restored: { snapshot: { turns: 2 }, generation: 1 } };
    expect(await other.homes.locate(CALL, { opensWith: 'input' })).toEqual(restored);
    expect(other.homes.locate(CALL, { opensWith: 'input' })).toEqual(restored);
    other.homes.save(CALL, { turns: 3 });
    expect(other.homes.locate(CALL, { opensWith: 'input' })).toEqual({ kind: 'here' });
    expect(one.taken).toEqual([]);
  });

  it('keeps what was saved before when it is released without a snapshot', async () => {
    await world.turn('one', CALL, 'start');
    await one.homes.release(CALL);
    expect(await world.turn('other', CALL)).toEqual({ at: 'other', turns: 2 });
  });

  it('is not taken from a home that is still writing its last snapshot', async () => {
    await world.turn('one', CALL, 'start');
    await world.turn('other', CALL);
    one.line.state = 'hanging';
    const released = one.release(CALL);
    const turned = world.turn('other', CALL);
    one.line.state = 'up';
    expect(await turned).toEqual({ at: 'other', turns: 3 });
    await released;
  });

  it('comes back when the directory is away, with what it left', async () => {
    await world.turn('one', CALL, 'start');
    one.line.state = 'away';
    await world.during(one.release(CALL));
    expect(await world.turn('one', CALL)).toEqual({ at: 'one', turns: 2 });
    one.line.state = 'up';
    await world.pass(2 * BEAT_MS);
    expect(one.taken).toEqual([]);
    expect(await world.turn('other', CALL)).toEqual({ at: 'one', turns: 3 });
  });

  it('begins anew without what it left when it starts anew (G-28)', async () => {
    await world.turn('one', CALL, 'start');
    await one.release(CALL);
    expect(await other.homes.locate(CALL, { opensWith: 'start' })).toEqual({ kind: 'here' });
  });
});

describe('a call at home that has no session', () => {
  const asked = { opensWith: 'input' } as const;

  it('is released before long, however its only turn went away, and can be taken with what its last home left', async () => {
    await world.turn('one', CALL, 'start');
    one.kill();
    await world.turn('other', CALL, 'nothing');
    await other.release(CALL);
    await other.homes.locate(CALL, { opensWith: 'end' });
    await other.homes.locate({ ...CALL, conversationId: 'cancelled' }, asked);
    expect(other.homes.has(callId(CALL))).toBe(true);
    await world.pass(2 * SWEEP_MS + BEAT_MS);
    expect(other.homes.has(callId(CALL))).toBe(false);
    expect(await world.directory.find(CALL)).toEqual({ kind: 'free' });
    expect(await world.directory.find({ ...CALL, conversationId: 'cancelled' })).toEqual({ kind: 'free' });
    expect(await other.homes.locate(CALL, asked)).toMatchObject({ kind: 'here', restored: { snapshot: { turns: 2 } } });
  });

  it('is kept while its turn has only just come', async () => {
    await world.pass(SWEEP_MS - BEAT_MS);
    await one.homes.locate(CALL, asked);
    await world.pass(2 * BEAT_MS);
    expect(one.homes.has(callId(CALL))).toBe(true);
  });
});

describe('a process that drains', () => {
  it('answers what lives there, and gives new calls to a peer that does not drain', async () => {
    await world.turn('one', CALL, 'start');
    one.homes.drain();
    expect(await world.turn('one', CALL)).toEqual({ at: 'one', turns: 2 });
    const fresh = { ...CALL, conversationId: 'fresh' };
    expect(await one.homes.locate(fresh, { opensWith: 'start' })).toMatchObject({
      kind: 'at_peer',
      home: { id: 'other' },
      isTaking: true,
    });
    expect(await world.turn('one', fresh, 'start')).toEqual({ at: 'other', turns: 1 });
    expect(await world.turn('one', fresh)).toEqual({ at: 'other', turns: 2 });
    await one.release(CALL);
    expect(await world.turn('one', CALL)).toEqual({ at: 'other', turns: 3 });
  });

  it('gives a call that it has released to a peer that remembers it as the home', async () => {
    await world.turn('one', CALL, 'start');
    expect(await world.turn('other', CALL)).toEqual({ at: 'one', turns: 2 });
    one.homes.drain();
    await one.release(CALL);
    expect(await other.homes.locate(CALL, { opensWith: 'input', forwarded: { isTaking: true } })).toMatchObject({ kind: 'here' });
  });

  it('takes calls all the same when nobody else does', async () => {
    one.homes.drain();
    other.kill();
    expect(await world.turn('one', CALL, 'start')).toEqual({ at: 'one', turns: 1 });
  });

  it('takes nothing from a peer that drains, too', async () => {
    one.homes.drain();
    expect(await one.homes.locate(CALL, { opensWith: 'start', forwarded: { isTaking: true } })).toEqual({ kind: 'not_mine' });
    other.homes.drain();
    await world.pass(BEAT_MS);
    expect(await world.turn('one', CALL, 'start')).toEqual({ at: 'one', turns: 1 });
  });

  it('gives new calls to a peer while the directory is away', async () => {
    one.homes.drain();
    one.line.state = 'away';
    expect(await world.turn('one', CALL, 'start')).toEqual({ at: 'other', turns: 1 });
  });
});

describe('a call whose home is its socket', () => {
  it('is taken from whoever has it, who hears it within a beat', async () => {
    await world.turn('one', CALL, 'start');
    const located = await other.homes.locate(CALL, { opensWith: 'start', isTied: true });
    expect(located).toEqual({ kind: 'here' });
    await world.pass(BEAT_MS);
    expect(one.taken).toEqual([callId(CALL)]);
    expect(await world.during(one.homes.locate(CALL, { opensWith: 'input' }))).toMatchObject({ kind: 'at_peer', home: { id: 'other' } });
  });

  it('is here while the process drains, and while the directory is away', async () => {
    one.homes.drain();
    expect(await one.homes.locate(CALL, { opensWith: 'start', isTied: true })).toEqual({ kind: 'here' });
    other.line.state = 'away';
    expect(await other.homes.locate(CALL, { opensWith: 'start', isTied: true })).toEqual({ kind: 'here' });
  });
});

it('what was forwarded goes nowhere else: it is here or not', async () => {
  await world.turn('one', CALL, 'start');
  for (const isTaking of [false, true]) {
    expect(await other.homes.locate(CALL, { opensWith: 'input', forwarded: { isTaking } })).toEqual({ kind: 'not_mine' });
  }
  const fresh = { ...CALL, conversationId: 'fresh' };
  expect(await other.homes.locate(fresh, { opensWith: 'input', forwarded: { isTaking: false } })).toEqual({ kind: 'not_mine' });
  expect(await other.homes.locate(fresh, { opensWith: 'input', forwarded: { isTaking: true } })).toEqual({ kind: 'here' });
});

it('a process that is closed gives forwarded turns back, and the one that forwards them goes on with the call', async () => {
  await world.turn('one', CALL, 'start');
  await one.release(CALL);
  await one.homes.close();
  // Its peer port closes behind it.
  for (const isTaking of [false, true]) {
    expect(await one.homes.locate(CALL, { opensWith: 'nothing', forwarded: { isTaking } })).toEqual({ kind: 'not_mine' });
  }
  expect(await world.turn('other', CALL, 'nothing')).toMatchObject({ at: 'other' });
});

it('a process that is closed takes no calls, and has written what it knew', async () => {
  await world.turn('one', CALL, 'start');
  one.homes.save(CALL, { turns: 9 });
  await one.homes.close();
  expect(() => one.homes.locate(CALL, { opensWith: 'input' })).toThrow(expect.objectContaining({ code: 'store_unavailable' }));
  await one.instances.close();
  one.kill();
  expect(await world.turn('other', CALL)).toEqual({ at: 'other', turns: 10 });
});
