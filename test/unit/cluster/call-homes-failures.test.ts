import { beforeEach, describe, expect, it } from 'vitest';
import { BEAT_MS } from '../../../src/cluster/instances.ts';
import { callId } from '../../../src/dialog/call.ts';
import { forEachTwoProcesses, MAX_SNAPSHOT_BYTES, type ClusterProcess, type ClusterWorld } from '../../support/cluster-world.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';

const CALL = { organizationId: 'org', conversationId: 'call' };
/** Long enough for three readings that see the same counter, ms. */
const DEATH_MS = 5 * BEAT_MS;

let world: ClusterWorld;
let one: ClusterProcess;
let other: ClusterProcess;

forEachTwoProcesses((started) => {
  ({ world, one, other } = started);
});

describe('a home that dies', () => {
  it('is followed at once by another one when its peer port refuses', async () => {
    await world.turn('one', CALL, 'start');
    await world.turn('other', CALL);
    one.kill();
    const startedMs = world.clock.monotonicMs();
    expect(await world.turn('other', CALL)).toEqual({ at: 'other', turns: 3 });
    expect(world.clock.monotonicMs() - startedMs).toBeLessThan(BEAT_MS);
  });

  it('is followed by another one when it is silent: its counter stands still, and it answers no probe', async () => {
    await world.turn('one', CALL, 'start');
    one.freeze();
    const startedMs = world.clock.monotonicMs();
    expect(await world.turn('other', CALL)).toEqual({ at: 'other', turns: 2 });
    expect(world.clock.monotonicMs() - startedMs).toBeGreaterThan(2 * BEAT_MS);
    expect(world.clock.monotonicMs() - startedMs).toBeLessThan(DEATH_MS);
  });

  it('and thaws ends its session without a word, and forwards to the new home', async () => {
    await world.turn('one', CALL, 'start');
    one.freeze();
    await world.turn('other', CALL);
    one.thaw();
    expect(await world.turn('one', CALL)).toEqual({ at: 'other', turns: 3 });
    expect(one.taken).toEqual([callId(CALL)]);
    expect(one.sessions.size).toBe(0);
  });

  it('was none when it thaws before anybody took its calls: it asks, and they are here', async () => {
    await world.turn('one', CALL, 'start');
    one.freeze();
    await world.pass(DEATH_MS);
    one.thaw();
    expect(await world.turn('one', CALL)).toEqual({ at: 'one', turns: 2 });
    expect(one.taken).toEqual([]);
  });

  it('asks before it trusts what it owns when it has stood still', async () => {
    await world.turn('one', CALL, 'start');
    one.freeze();
    await world.turn('other', CALL);
    one.thaw();
    // No beat was answered yet.
    const located = one.homes.locate(CALL, { opensWith: 'input' });
    expect(one.taken).toEqual([]);
    expect(await located).toMatchObject({ kind: 'at_peer', home: { id: 'other' } });
  });

  it('asks as well when it stood still with a beat under way, whose answer it had no time to read', async () => {
    await world.turn('one', CALL, 'start');
    one.line.state = 'hanging';
    void one.instances.beat();
    one.freeze();
    await world.turn('other', CALL);
    one.thaw();
    await flushMicrotasks();
    expect(await one.homes.locate(CALL, { opensWith: 'input' })).toMatchObject({ kind: 'at_peer', home: { id: 'other' } });
  });

  it('asks for itself when a peer has asked at the same time: what is not mine for a peer is elsewhere for a caller', async () => {
    await world.turn('one', CALL, 'start');
    one.freeze();
    await world.turn('other', CALL);
    one.thaw();
    const asked = [{ opensWith: 'input', forwarded: { isTaking: false } } as const, { opensWith: 'input' } as const];
    const [forwarded, direct] = await Promise.all(asked.map(async (each) => one.homes.locate(CALL, each)));
    expect(forwarded).toEqual({ kind: 'not_mine' });
    expect(direct).toMatchObject({ kind: 'at_peer', home: { id: 'other' } });
  });

  it('is none that is only cut off from the directory: its peers forward to it', async () => {
    await world.turn('one', CALL, 'start');
    one.line.state = 'away';
    await world.pass(DEATH_MS);
    expect(other.instances.lifeOf('one')).toBe('dead');
    expect(await world.turn('other', CALL)).toEqual({ at: 'one', turns: 2 });
    one.line.state = 'up';
    await world.pass(2 * BEAT_MS);
    expect(await world.turn('other', CALL)).toEqual({ at: 'one', turns: 3 });
    expect(one.taken).toEqual([]);
  });

  it('is fenced and hears it within a beat when it was taken for dead wrongly', async () => {
    await world.turn('one', CALL, 'start');
    one.cut(other);
    expect(await world.turn('other', CALL)).toEqual({ at: 'other', turns: 2 });
    await world.pass(BEAT_MS);
    expect(one.taken).toEqual([callId(CALL)]);
    one.cut(other, false);
    expect(await world.turn('one', CALL)).toEqual({ at: 'other', turns: 3 });
  });

  it('learns when it has stood still that a call is another’s, although nobody could notify it', async () => {
    await world.turn('one', CALL, 'start');
    one.freeze();
    await world.directory.claim(CALL, { owner: 'other', mayCreate: false, deadEpoch: 1, heardAtMs: 1 });
    await world.pass(DEATH_MS);
    one.thaw();
    await world.pass(BEAT_MS);
    expect(one.taken).toEqual([callId(CALL)]);
  });

  it('learns from its next save that the call is another’s, when it has not read its inbox', async () => {
    await world.turn('one', CALL, 'start');
    await world.directory.claim(CALL, { owner: 'other', mayCreate: false, deadEpoch: 1, heardAtMs: 1 });
    await world.turn('one', CALL);
    await world.pass(50);
    expect(one.taken).toEqual([callId(CALL)]);
  });

  it('and was started again under the same address has none of its calls: they are taken at once', async () => {
    await world.turn('one', CALL, 'start');
    await world.turn('other', CALL);
    const home = { id: 'one', address: 'one:1', certificate: 'one' };
    other.homes.lost(CALL, home, 'not_mine');
    expect(await other.homes.locate(CALL, { opensWith: 'input' })).toMatchObject({ kind: 'here', restored: { snapshot: { turns: 2 } } });
  });
});

describe('a home that dies while another process drains', () => {
  beforeEach(async () => {
    // It takes new calls, and sees a death later than the others.
    await world.pass(BEAT_MS / 2);
    await world.start('third');
    await world.pass(3 * BEAT_MS);
    await world.turn('one', CALL, 'start');
    await world.turn('other', CALL);
    other.homes.drain();
  });

  it('is followed by the draining one when its peer port refuses: no peer doubts it yet', async () => {
    one.kill();
    expect(await world.turn('other', CALL)).toEqual({ at: 'other', turns: 3 });
  });

  it('is followed by the draining one when it is silent', async () => {
    one.freeze();
    expect(await world.turn('other', CALL)).toEqual({ at: 'other', turns: 3 });
  });

  it('is followed by the draining one when it has left the call without a word', async () => {
    other.homes.lost(CALL, { id: 'one', address: 'one:1', certificate: 'one' }, 'not_mine');
    expect(await other.homes.locate(CALL, { opensWith: 'input' })).toMatchObject({ kind: 'here', restored: { snapshot: { turns: 2 } } });
  });

  it('is none that the draining one has not read yet: it looks before it says so', async () => {
    await world.start('late');
    const late = { ...CALL, conversationId: 'late' };
    await world.turn('late', late, 'start');
    expect(await other.homes.locate(late, { opensWith: 'input' })).toMatchObject({
      kind: 'at_peer',
      home: { id: 'late' },
      isTaking: false,
    });
  });
});

describe('a call that was taken before its session began', () => {
  it('is reported as taken again when its session writes', async () => {
    one.homes.save(CALL, { turns: 1 });
    expect(one.taken).toEqual([]);
    await world.pass(50);
    expect(one.taken).toEqual([callId(CALL)]);
  });
});

describe('a claim whose answer was lost', () => {
  it('leaves no call behind that nobody takes', async () => {
    await world.directory.claim(CALL, { owner: 'one', mayCreate: true, heardAtMs: 1 });
    expect(await world.turn('other', CALL)).toEqual({ at: 'other', turns: 1 });
  });

  it('lets its call begin all the same, and registers it', async () => {
    one.line.state = 'answers_lost';
    expect(await world.turn('one', CALL, 'start')).toEqual({ at: 'one', turns: 1 });
    one.line.state = 'up';
    await world.pass(2 * BEAT_MS);
    expect(await world.turn('other', CALL)).toEqual({ at: 'one', turns: 2 });
    expect(one.taken).toEqual([]);
  });
});

describe('a directory that is away', () => {
  beforeEach(() => {
    for (const process of [one, other]) process.line.state = 'away';
  });

  const isBack = async (): Promise<void> => {
    for (const process of [one, other]) process.line.state = 'up';
    await world.pass(2 * BEAT_MS);
  };

  it('lets calls begin, peers find them, and registers them when it is back', async () => {
    expect(await world.turn('one', CALL, 'start')).toEqual({ at: 'one', turns: 1 });
    expect(await world.turn('other', CALL)).toEqual({ at: 'one', turns: 2 });
    await isBack();
    expect(await world.directory.find(CALL)).toEqual({ kind: 'theirs', owner: 'one', epoch: 1 });
    one.kill();
    expect(await world.turn('other', CALL)).toEqual({ at: 'other', turns: 3 });
  });

  it('costs no caller the call when the peer that has it is slow to say so', async () => {
    await world.turn('one', CALL, 'start');
    one.freeze();
    const turn = world.begin('other', CALL);
    await world.pass(700);
    one.thaw();
    expect(await world.during(turn)).toEqual({ at: 'one', turns: 2 });
  });

  it('is never waited for longer than its limit', async () => {
    for (const process of [one, other]) process.line.state = 'hanging';
    const startedMs = world.clock.monotonicMs();
    expect(await world.turn('one', CALL, 'start')).toEqual({ at: 'one', turns: 1 });
    expect(world.clock.monotonicMs() - startedMs).toBeLessThanOrEqual(300);
  });

  it('is never waited for where the call lives, however long it hangs', async () => {
    for (const process of [one, other]) process.line.state = 'up';
    await world.turn('one', CALL, 'start');
    one.line.state = 'hanging';
    for (let passed = 0; passed < 5 * BEAT_MS; passed += 50) {
      expect(one.homes.locate(CALL, { opensWith: 'input' })).toMatchObject({ kind: 'here' });
      await world.pass(50);
    }
  });

  it('starts no call over that nobody has: store_unavailable; and ends nothing that was never begun', async () => {
    await expect(world.turn('one', CALL)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await world.turn('one', CALL, 'end')).toEqual({ at: undefined, turns: 0 });
  });

  it('leaves one owner of a call that began twice: who heard the caller last', async () => {
    await world.turn('one', CALL, 'start');
    await world.pass(100);
    await world.turn('other', CALL, 'start');
    await isBack();
    await world.pass(BEAT_MS);
    expect(one.taken).toEqual([callId(CALL)]);
    expect(other.taken).toEqual([]);
    expect(await world.turn('one', CALL)).toEqual({ at: 'other', turns: 2 });
  });
});

describe('a directory that is back empty', () => {
  it('loses no call: peers are asked before one counts as new, and homes write theirs again', async () => {
    const silent = { ...CALL, conversationId: 'silent' };
    for (const call of [CALL, silent]) await world.turn('one', call, 'start');
    world.empty();
    expect(await world.turn('other', CALL)).toEqual({ at: 'one', turns: 2 });
    await world.pass(2 * BEAT_MS);
    expect(await world.directory.find(silent)).toMatchObject({ kind: 'theirs', owner: 'one' });
    one.kill();
    expect(await world.turn('other', silent)).toEqual({ at: 'other', turns: 2 });
  });

  it('leaves one owner of a call that was taken just before, although nobody could notify the old one', async () => {
    await world.turn('one', CALL, 'start');
    one.cut(other);
    await world.turn('other', CALL);
    world.empty();
    await world.pass(4 * BEAT_MS);
    expect(one.taken).toEqual([callId(CALL)]);
    expect(await world.directory.find(CALL)).toMatchObject({ kind: 'theirs', owner: 'other' });
  });

  it('lets a call that nobody has begin', async () => {
    expect(await world.turn('other', CALL)).toEqual({ at: 'other', turns: 1 });
  });
});

describe('snapshots', () => {
  it('wait while the directory is away, the newest one only', async () => {
    await world.turn('one', CALL, 'start');
    one.line.state = 'away';
    for (let turn = 0; turn < 5; turn += 1) await world.turn('one', CALL);
    one.line.state = 'up';
    await world.pass(BEAT_MS);
    one.kill();
    expect(await world.turn('other', CALL)).toEqual({ at: 'other', turns: 7 });
  });

  it('that are too large are not written, and the one before stays', async () => {
    await world.turn('one', CALL, 'start');
    one.homes.save(CALL, { turns: 2, text: 'x'.repeat(MAX_SNAPSHOT_BYTES) });
    await world.pass(50);
    one.kill();
    expect(await world.turn('other', CALL)).toEqual({ at: 'other', turns: 2 });
    expect(one.logged.filter((line) => line.includes('too large'))).toHaveLength(1);
  });

  it('of a newer program are left to a process that reads them', async () => {
    const newer = await world.start('newer', { version: 2 });
    await world.pass(BEAT_MS);
    await world.turn('newer', CALL, 'start');
    await newer.release(CALL);
    expect(await world.turn('one', CALL)).toEqual({ at: 'newer', turns: 2 });
    newer.kill();
    await expect(world.turn('one', CALL)).rejects.toMatchObject({ code: 'state_unreadable' });
    expect(await world.turn('one', CALL, 'start')).toEqual({ at: 'one', turns: 1 });
  });
});
