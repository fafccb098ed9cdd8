import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SessionRecord } from '../../../src/session/record.ts';
import { firstRecord } from '../../../src/session/record.ts';
import { MemoryStore } from '../../../src/store/memory.ts';
import { Seal } from '../../../src/store/seal.ts';
import { SealingStore } from '../../../src/store/sealing.ts';
import { sessionStoreSuite } from '../../suites/session-store.ts';

sessionStoreSuite('a store behind a seal', () => new SealingStore(new MemoryStore(), new Seal()));

const call = { organizationId: 'org', conversationId: 'call', agentId: 'a', startedAtMs: 1, vendorConfig: '', parameters: {} };

function record(change: Partial<SessionRecord>): SessionRecord {
  return { ...firstRecord({ call, bot: { id: 'a', version: 1 }, mode: 'chunk' }), version: 1, ...change };
}

describe('a sealed state', () => {
  it('G-83 does not lie open in the store, and comes back as it was', async () => {
    const open = new MemoryStore();
    const store = new SealingStore(open, new Seal());
    await store.commit(record({ sensitive: true, state: { card: '4111111111111111' } }), 0);
    expect(JSON.stringify(await open.load(call))).not.toContain('4111');
    const loaded = await store.load(call);
    expect(loaded?.state).toEqual({ card: '4111111111111111' });
    expect(Object.isFrozen(loaded?.state)).toBe(true);
  });

  it('leaves the states of other calls readable', async () => {
    const open = new MemoryStore();
    await new SealingStore(open, new Seal()).commit(record({ state: { step: 1 } }), 0);
    expect((await open.load(call))?.state).toEqual({ step: 1 });
  });

  it('opens for whatever JSON a bot keeps', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        const state: unknown = JSON.parse(JSON.stringify(value));
        const store = new SealingStore(new MemoryStore(), new Seal());
        await store.commit(record({ sensitive: true, state: state as SessionRecord['state'] }), 0);
        expect((await store.load(call))?.state).toEqual(state);
      }),
    );
  });
});

describe('a call whose words are sealed', () => {
  it('says all that its store says of it', async () => {
    const open = new MemoryStore();
    const kept = { record: record({}), spoken: undefined, unheard: 'elsewhere' } as const;
    open.claim = () => Promise.resolve({ kind: 'ours', kept });
    expect(await new SealingStore(open, new Seal()).claim(call, undefined)).toEqual({ kind: 'ours', kept });
  });
});

describe('a sealed state that does not open', () => {
  it.each([
    ['was sealed with another key', (sealed: string) => new Seal().close(sealed, 'org/call')],
    ['was cut off', (sealed: string) => sealed.slice(0, 20)],
    ['was never sealed', () => 'nothing of ours'],
  ])('fails with a code of its own when it %s', async (_, damage) => {
    const open = new MemoryStore();
    const store = new SealingStore(open, new Seal());
    await store.commit(record({ sensitive: true, state: { step: 1 } }), 0);
    const sealed = (await open.load(call))?.state;
    if (typeof sealed !== 'string') throw new Error('the state is not sealed');
    await open.commit({ ...record({ sensitive: true }), version: 2, state: damage(sealed) }, 1);
    await expect(store.load(call)).rejects.toMatchObject({ name: 'AppError', code: 'state_unreadable' });
  });
});

describe('a seal', () => {
  const seal = new Seal();

  it('opens for its owner only', () => {
    expect(seal.open(seal.close('text', 'a'), 'a')).toBe('text');
    expect(() => seal.open(seal.close('text', 'a'), 'b')).toThrow(expect.objectContaining({ code: 'internal' }));
  });

  it('does not open with another key', () => {
    expect(() => new Seal(randomBytes(32)).open(seal.close('text', 'a'), 'a')).toThrow(expect.objectContaining({ code: 'internal' }));
    expect(() => new Seal(randomBytes(16))).toThrow(TypeError);
  });

  it('opens with each of its keys and seals with the first, so that keys can be changed', () => {
    const [old, fresh] = [randomBytes(32), randomBytes(32)];
    const both = new Seal(fresh, old);
    expect(both.open(new Seal(old).close('text', 'a'), 'a')).toBe('text');
    expect(new Seal(fresh).open(both.close('text', 'a'), 'a')).toBe('text');
    expect(() => new Seal(old).open(both.close('text', 'a'), 'a')).toThrow(expect.objectContaining({ code: 'internal' }));
    expect(() => both.open(new Seal(randomBytes(32)).close('text', 'a'), 'a')).toThrow(expect.objectContaining({ code: 'internal' }));
  });

  it('has at most five keys, each of 32 bytes', () => {
    const keys = Array.from({ length: 5 }, () => randomBytes(32));
    expect(() => new Seal(...keys)).not.toThrow();
    expect(() => new Seal(...keys, randomBytes(32))).toThrow(/at most 5/u);
    expect(() => new Seal(randomBytes(32), randomBytes(31))).toThrow(TypeError);
  });

  it('does not open when one byte was changed, or some are missing', () => {
    const sealed = Buffer.from(seal.close('text', 'a').slice(3), 'base64');
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Buffer.from(sealed);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(() => seal.open(`v1.${changed.toString('base64')}`, 'a')).toThrow(expect.objectContaining({ code: 'internal' }));
    }
    expect(() => seal.open('v1.', 'a')).toThrow(expect.objectContaining({ code: 'internal' }));
  });

  it('never seals the same text the same way twice', () => {
    expect(seal.close('text', 'a')).not.toBe(seal.close('text', 'a'));
  });
});
