import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SessionStore } from '../../../src/session/ports.ts';
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
    const store = new SealingStore(open, new Seal());
    await store.commit(record({}), 0);
    const sealed = await open.load(call);
    if (sealed === undefined) throw new Error('nothing was committed');
    const kept = { spoken: undefined, unheard: 'elsewhere' } as const;
    open.claim = () => Promise.resolve({ kind: 'ours', kept: { ...kept, record: sealed } });
    expect(await store.claim(call, undefined)).toEqual({ kind: 'ours', kept: { ...kept, record: record({}) } });
  });
});

/** A record as it lies in a store. */
type Lying = SessionRecord & { readonly seal: string };

/** Commits one, and puts what `change` makes of it in its place. @returns what reads it. */
async function changed(committed: SessionRecord, change: (lying: Lying) => object): Promise<() => Promise<unknown>> {
  const open = new MemoryStore();
  const store = new SealingStore(open, new Seal());
  await store.commit(committed, 0);
  // It was sealed just now.
  const lying = (await open.load(call)) as Lying;
  open.load = () => Promise.resolve(change(lying) as SessionRecord);
  return () => store.load(call);
}

describe('a record that does not open', () => {
  it.each<[string, (lying: Lying) => object]>([
    ['was sealed with another key', (lying) => ({ ...lying, seal: new Seal().close('{}', 'org/call') })],
    ['was cut off', (lying) => ({ ...lying, seal: lying.seal.slice(0, 20) })],
    ['was never sealed', (lying) => ({ ...lying, seal: 'nothing of ours' })],
    ['has no seal', ({ seal: _seal, ...lying }) => lying],
    ['has another version', (lying) => ({ ...lying, version: 7 })],
    ['is of another organization', (lying) => ({ ...lying, call: { ...call, organizationId: 'another' } })],
    ['is said to be of no sensitive call', (lying) => ({ ...lying, sensitive: false, state: { step: 9 } })],
    ['has other facts', (lying) => ({ ...lying, turns: 5 })],
  ])('fails with a code of its own when it %s', async (_, change) => {
    for (const committed of [record({ sensitive: true, state: { step: 1 } }), record({ state: { step: 1 } })]) {
      const load = await changed(committed, change);
      await expect(load()).rejects.toMatchObject({ name: 'AppError', code: 'state_unreadable' });
    }
  });

  it('may have a state that lies open, and was changed', async () => {
    const load = await changed(record({ state: { step: 1 } }), (lying) => ({ ...lying, state: { step: 2 } }));
    await expect(load()).rejects.toMatchObject({ code: 'state_unreadable' });
  });

  it('was put in the place of another call', async () => {
    const open = new MemoryStore();
    const store = new SealingStore(open, new Seal());
    await store.commit(record({}), 0);
    const lying = await open.load(call);
    open.load = () => Promise.resolve(lying);
    await expect(store.load({ ...call, conversationId: 'another' })).rejects.toMatchObject({ code: 'state_unreadable' });
  });

  it('is none that was claimed before its first commit', async () => {
    const open: SessionStore = new MemoryStore();
    const first = record({ version: 0 });
    let lying: SessionRecord | undefined;
    const claim = open.claim.bind(open);
    open.claim = (key, given) => {
      lying = given;
      return claim(key, given);
    };
    const store = new SealingStore(open, new Seal());
    await store.claim(call, first);
    open.load = () => Promise.resolve(lying);
    expect(await store.load(call)).toEqual(first);
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
