import { describe, expect, it } from 'vitest';
import { ENDED_MS } from '../../../src/cluster/call-directory.ts';
import { MemoryDirectory } from '../../support/memory-directory.ts';
import { callDirectorySuite } from '../../suites/call-directory.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const CALL = { organizationId: 'org', conversationId: 'call' };
const TTL_MS = 600_000;
const CLAIM = { owner: 'a', mayCreate: true, heardAtMs: 1 };

callDirectorySuite('the directory in memory', () => {
  const directory = new MemoryDirectory({ clock: new FakeClock(), ttlMs: TTL_MS });
  return { one: directory, other: directory };
});

describe('an entry of the directory in memory', () => {
  it('is forgotten by itself, and kept for the whole time again by whatever is done to it', async () => {
    const clock = new FakeClock();
    const directory = new MemoryDirectory({ clock, ttlMs: TTL_MS });
    await directory.claim(CALL, CLAIM);
    const uses = [
      () => directory.claim(CALL, CLAIM),
      () => directory.save(CALL, { owner: 'a', epoch: 1, seq: 1, heardAtMs: 1 }),
      () => directory.touch(CALL),
      () => directory.register(CALL, { owner: 'a', seq: 2, heardAtMs: 2 }),
    ];
    for (const use of uses) {
      clock.advance(TTL_MS - 1);
      await use();
    }
    clock.advance(TTL_MS - 1);
    expect(await directory.find(CALL)).toMatchObject({ kind: 'theirs' });
    clock.advance(1);
    expect(await directory.find(CALL)).toEqual({ kind: 'unknown' });
  });

  it('is gone from memory with the next write of another call', async () => {
    const clock = new FakeClock();
    const directory = new MemoryDirectory({ clock, ttlMs: TTL_MS });
    for (let number = 0; number < 100; number += 1) await directory.claim({ ...CALL, conversationId: String(number) }, CLAIM);
    clock.advance(TTL_MS);
    await directory.claim(CALL, CLAIM);
    expect(directory.size).toBe(1);
  });

  it('is remembered as over for a minute', async () => {
    const clock = new FakeClock();
    const directory = new MemoryDirectory({ clock, ttlMs: TTL_MS });
    await directory.claim(CALL, CLAIM);
    await directory.forget(CALL, { owner: 'a', epoch: 1 });
    clock.advance(ENDED_MS - 1);
    expect(await directory.claim(CALL, CLAIM)).toEqual({ kind: 'ended' });
    clock.advance(1);
    expect(await directory.claim(CALL, CLAIM)).toEqual({ kind: 'mine', epoch: 1 });
  });
});
