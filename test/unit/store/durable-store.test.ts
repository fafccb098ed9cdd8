import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DurableStore, readStore, type DurableStoreOptions } from '../../../src/store/durable-store.ts';
import { Seal } from '../../../src/store/seal.ts';

const CANARY = 'refresh-token-4711';
const seal = new Seal();
const opened: DurableStore[] = [];
let root = '';
let next = 0;

/** A place that nothing lies in yet. */
const place = (): DurableStoreOptions => ({ file: path.join(root, String((next += 1)), 'secrets', 'store.sealed'), seal });

async function open(options: DurableStoreOptions): Promise<DurableStore> {
  const store = await DurableStore.open(options);
  opened.push(store);
  return store;
}

beforeAll(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'parley-store-'));
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});
afterAll(() => rm(root, { recursive: true, force: true }));

describe('a durable store', () => {
  it('holds what was written when it is opened again', async () => {
    const options = place();
    const store = await open(options);
    expect(await store.keys('')).toEqual([]);
    await store.set('org/b', CANARY);
    await store.set('org/a', 'first');
    await store.set('org/a', 'second');
    await store.set('login', 'x');
    await store.delete('login');
    await store.close();
    const again = await open(options);
    expect(await again.keys('org/')).toEqual(['org/a', 'org/b']);
    expect(await Promise.all(['org/a', 'org/b', 'login'].map((key) => again.get(key)))).toEqual(['second', CANARY, undefined]);
  });

  it('lies sealed in a file of its owner alone', async () => {
    const options = place();
    const store = await open(options);
    await store.set('org/a', CANARY);
    const bytes = await readFile(options.file, 'utf8');
    expect(bytes).not.toContain(CANARY);
    expect(bytes).not.toContain('org/a');
    expect(Buffer.from(bytes.slice(3), 'base64').toString('latin1')).not.toContain(CANARY);
    expect((await stat(options.file)).mode & 0o777).toBe(0o600);
    expect((await stat(path.dirname(options.file))).mode & 0o777).toBe(0o700);
  });

  it('makes all changes of one apply, and refuses all when one is out of bounds', async () => {
    const options = place();
    const store = await open(options);
    await store.apply([
      { key: 'new', value: '2' },
      { key: 'old', value: '1' },
    ]);
    await store.apply([
      { key: 'old', value: undefined },
      { key: 'new', value: '3' },
    ]);
    const tooMuch = store.apply([
      { key: 'new', value: 'x' },
      { key: 'big', value: 'x'.repeat(64 * 1024 + 1) },
    ]);
    await expect(tooMuch).rejects.toThrow(RangeError);
    await expect(store.set('', 'x')).rejects.toThrow(RangeError);
    await expect(store.set('k'.repeat(201), 'x')).rejects.toThrow(RangeError);
    expect([...(await readStore(options))]).toEqual([['new', '3']]);
  });

  it('has everything on disk when the writes that met resolve', async () => {
    const options = place();
    const store = await open(options);
    const writes = Array.from({ length: 200 }, async (_, index) => {
      await store.set(`k${String(index)}`, String(index));
      expect((await readStore(options)).get(`k${String(index)}`)).toBe(String(index));
    });
    await Promise.all(writes);
    expect((await readStore(options)).size).toBe(200);
  });

  it('keeps what it could not write, says so, and writes it with the next', async () => {
    const options = place();
    const store = await open(options);
    await store.set('a', '1');
    await rm(options.file);
    // A folder in the place of the file: renaming over it fails.
    await mkdir(options.file);
    await expect(store.set('a', '2')).rejects.toMatchObject({ code: 'store_failed', details: { file: options.file } });
    expect(await store.get('a')).toBe('2');
    await rm(options.file, { recursive: true });
    await store.set('b', '3');
    expect([...(await readStore(options))].sort()).toEqual([
      ['a', '2'],
      ['b', '3'],
    ]);
  });

  it('takes away what killed processes left half written, and nothing else', async () => {
    const options = place();
    const store = await open(options);
    await store.set('a', '1');
    await store.close();
    const folder = path.dirname(options.file);
    const strangers = ['store.sealed.20261122', 'store.sealed.bak', 'store.sealed.4294967296', 'other.sealed.123456789', 'xstore.sealed.7'];
    const leftOver = ['store.sealed.0', 'store.sealed.12345678', 'store.sealed.20261322', 'store.sealed.4294967295'];
    for (const name of [...strangers, ...leftOver]) await writeFile(path.join(folder, name), 'half a fi');
    await mkdir(path.join(folder, 'store.sealed.123'));
    // Whoever cannot open the store removes nothing: a person may still need it.
    await expect(DurableStore.open({ ...options, seal: new Seal() })).rejects.toMatchObject({ code: 'store_failed' });
    expect(await readdir(folder)).toEqual(expect.arrayContaining(leftOver));
    expect(await (await open(options)).get('a')).toBe('1');
    const kept = (await readdir(folder)).filter((name) => name !== 'store.sealed.lock');
    expect(kept.sort()).toEqual(['store.sealed', 'store.sealed.123', ...strangers].sort());
  });

  it('writes nothing after it was closed, however often', async () => {
    const options = place();
    const store = await open(options);
    await store.set('a', '1');
    await store.close();
    await store.close();
    await expect(store.set('a', '2')).rejects.toMatchObject({ code: 'store_failed' });
    expect((await readStore(options)).get('a')).toBe('1');
  });
});

describe('a store whose key is changed', () => {
  it('opens with the new key alone once it was written with both, and with the old one no more', async () => {
    const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
    const { file } = place();
    const before = await open({ file, seal: new Seal(oldKey) });
    await before.set('org/a', CANARY);
    await before.close();
    const between = await open({ file, seal: new Seal(newKey, oldKey) });
    expect(await between.get('org/a')).toBe(CANARY);
    // One write is enough: the file is sealed as a whole.
    await between.set('org/b', 'new');
    await between.close();
    await expect(open({ file, seal: new Seal(oldKey) })).rejects.toMatchObject({ code: 'store_failed' });
    const after = await open({ file, seal: new Seal(newKey) });
    expect(await Promise.all(['org/a', 'org/b'].map((key) => after.get(key)))).toEqual([CANARY, 'new']);
  });
});

describe('a store that cannot be used', () => {
  it.each([
    ['another key', ({ file }: DurableStoreOptions) => ({ file, seal: new Seal() })],
    [
      'a damaged byte',
      async (options: DurableStoreOptions) => {
        const bytes = await readFile(options.file);
        bytes.write(bytes.toString('latin1', 60, 61) === 'A' ? 'B' : 'A', 60);
        await writeFile(options.file, bytes);
        return options;
      },
    ],
    [
      'half a file',
      async (options: DurableStoreOptions) => {
        const bytes = await readFile(options.file);
        await writeFile(options.file, bytes.subarray(0, bytes.length / 2));
        return options;
      },
    ],
    [
      'a text that was sealed for something else',
      async (options: DurableStoreOptions) => {
        await writeFile(options.file, seal.close('{"version":1,"entries":{}}', 'a call'));
        return options;
      },
    ],
  ])('is refused and left as it is: %s', async (_, spoil) => {
    const options = place();
    const store = await open(options);
    await store.set('a', CANARY);
    await store.close();
    const spoiled = await spoil(options);
    const before = await readFile(options.file);
    const refused: unknown = await DurableStore.open(spoiled).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'store_failed', message: expect.stringMatching(/another key, or is damaged/u) as string });
    expect(String((refused as Error).stack)).not.toContain(CANARY);
    expect(await readFile(options.file)).toEqual(before);
    // The lock was given back: the right key opens it at once.
    if (spoiled.seal !== options.seal) expect(await (await open(options)).get('a')).toBe(CANARY);
  });
});

describe('a store that others may change', () => {
  it.each([
    ['its group may write the file', 'file', 0o620, 'chmod go-w'],
    ['everybody may write the file', 'file', 0o602, 'chmod go-w'],
    ['everybody may write its folder', 'folder', 0o707, 'chmod o-w'],
  ] as const)('is refused, with what mends it: %s', async (_because, what, mode, mend) => {
    const options = place();
    const store = await open(options);
    await store.set('a', CANARY);
    await store.close();
    const target = what === 'file' ? options.file : path.dirname(options.file);
    await chmod(target, mode);
    const refusal = { code: 'store_failed', message: expect.stringContaining(`${mend} ${target}`) as string };
    await expect(DurableStore.open(options)).rejects.toMatchObject(refusal);
    await expect(readStore(options)).rejects.toMatchObject(refusal);
    await chmod(target, mode & 0o700);
    expect(await (await open(options)).get('a')).toBe(CANARY);
  });

  it.each([0o1777, 0o2770])(
    'is taken in a folder of mode %o, where nobody takes away what is of others, or a group shares it',
    async (mode) => {
      const options = place();
      await mkdir(path.dirname(options.file), { recursive: true });
      await chmod(path.dirname(options.file), mode);
      const store = await open(options);
      await store.set('a', CANARY);
      await store.close();
      expect((await readStore(options)).get('a')).toBe(CANARY);
    },
  );
});
