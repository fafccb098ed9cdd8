// Keys and nonces that stand in files: which files those are, and what a change of them does to those who use them.
import { randomBytes } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { followConsole, followNonces, followSealKeys, sealKeys } from '../../../src/app/changing-secrets.ts';
import { loadSettings, type LoadedSettings } from '../../../src/app/config/load-settings.ts';
import { openTrust, TOKEN_LIFE_MS } from '../../../src/app/trust.ts';
import { digestNonce } from '../../../src/auth/nonces.ts';
import { createLogger } from '../../../src/base/log.ts';
import { WatchedFiles, type Watch } from '../../../src/base/watched-files.ts';
import { loadProfile } from '../../../src/contract/profile.ts';
import { DurableStore, readStore } from '../../../src/store/durable-store.ts';
import { Seal } from '../../../src/store/seal.ts';
import type { Watched } from '../../../src/telemetry/file-metrics.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { look, WatchedFolder } from '../../support/watched-folder.ts';

function load(folder: WatchedFolder, ...argv: string[]): LoadedSettings {
  const open = ['--tls.mode=off', '--auth.enabled=false', '--grpc.host=127.0.0.1', '--platform.profile=fake'];
  return loadSettings({ argv: [...open, ...argv], env: {}, cwd: folder.path });
}

function watching() {
  const clock = new FakeClock();
  const lines: string[] = [];
  const log = createLogger({ level: 'info', destination: { write: (line: string) => void lines.push(line) } });
  const files = new WatchedFiles<Watched>({ clock, log });
  onTestFinished(() => files.close());
  return { clock, files, lines };
}

const source = (id: string, nonce: unknown, more: object = {}) => ({
  ...{
    id,
    organization_id: 'o',
    url: 'https://voice.example',
    schema_id: '5397013b-7920-4ffc-807c-e8a3e0a18f43',
    audience: 'a',
    subject: 'b',
    transport: 'grpc',
  },
  ...{ nonce, ...more },
});

const newKey = (): string => randomBytes(32).toString('hex');

describe('secrets of the console', () => {
  it('that stand in files are followed, and one that is none changes nothing', async () => {
    const folder = new WatchedFolder();
    const [view, fresh, listen] = [newKey(), newKey(), newKey()];
    folder.write('view', `${view}\n`);
    const { settings, changing } = load(folder, '--ops.console.view_token={"file":"view"}', `--ops.console.listen_token=${listen}`);
    expect(settings.ops.console).toMatchObject({ viewToken: view, listenToken: listen, proxyKey: undefined });
    const { clock, files, lines } = watching();
    const taken: unknown[] = [];
    followConsole(files, changing, { renew: (secrets) => taken.push(secrets) > 0 });
    await look(files, clock, 2);
    folder.write('view', fresh);
    await look(files, clock, 2);
    expect(taken.at(-1)).toEqual({ viewToken: fresh, listenToken: listen, proxyKey: undefined });
    const before = taken.length;
    folder.write('view', 'too short');
    await look(files, clock, 4);
    expect(taken).toHaveLength(before);
    expect(lines.filter((line) => line.includes('files_refused'))).toHaveLength(1);
    for (const secret of [view, fresh, listen, 'too short']) expect(lines.join('\n')).not.toContain(secret);
  });
});

describe('keys of a seal', () => {
  it('that stand in files are followed: the new one seals, and the one before goes on opening', async () => {
    const folder = new WatchedFolder();
    const [old, fresh] = [newKey(), newKey()];
    const file = folder.write('store.key', `${old}\n`);
    const { settings, changing } = load(folder, '--admin.store.keys=[{"file":"store.key"}]');
    expect(changing.adminStoreKeys.files).toEqual([file]);
    const { clock, files, lines } = watching();
    const seal = new Seal(...sealKeys(settings.admin.store.keys));
    const sealed = seal.close('text', 'a');
    let changes = 0;
    followSealKeys(files, 'admin_store_keys', changing.adminStoreKeys, seal, () => (changes += 1));
    await look(files, clock, 2);
    expect(changes).toBe(0);

    folder.write('store.key', fresh);
    await look(files, clock, 2);
    expect(changes).toBe(1);
    expect(seal.open(sealed, 'a')).toBe('text');
    expect(new Seal(Buffer.from(fresh, 'hex')).open(seal.close('new', 'a'), 'a')).toBe('new');

    folder.write('store.key', 'no key at all');
    await look(files, clock, 4);
    expect([changes, seal.open(sealed, 'a')]).toEqual([1, 'text']);
    expect(lines.filter((line) => line.includes('files_refused'))).toHaveLength(1);
    expect(lines.join('\n')).toMatch(/admin\.store\.keys\.0 must be a secret of 1 to 64 hex digits/u);
    for (const secret of [old, fresh, 'no key at all']) expect(lines.join('\n')).not.toContain(secret);
  });

  it('seal a store anew as soon as they change, so that it opens without the one before', async () => {
    const folder = new WatchedFolder();
    const [old, fresh] = [newKey(), newKey()];
    folder.write('store.key', old);
    const { settings, changing } = load(folder, '--admin.store.keys=[{"file":"store.key"}]');
    const { clock, files } = watching();
    const seal = new Seal(...sealKeys(settings.admin.store.keys));
    const file = folder.file('admin.store');
    const store = await DurableStore.open({ file, seal });
    onTestFinished(() => store.close());
    await store.set('token', 'kept');
    let written: Promise<void> | undefined;
    followSealKeys(files, 'admin_store_keys', changing.adminStoreKeys, seal, () => {
      written = store.apply([]);
    });
    folder.write('store.key', fresh);
    await look(files, clock, 2);
    await written;
    expect(await readStore({ file, seal: new Seal(Buffer.from(fresh, 'hex')) })).toEqual(new Map([['token', 'kept']]));
  });

  it('that stand in place name no file', () => {
    const { changing } = load(new WatchedFolder(), `--admin.store.keys=["${newKey()}"]`);
    expect([changing.adminStoreKeys.files, changing.storeKeys.files, changing.dataSources.files]).toEqual([[], [], []]);
  });
});

/** Keeps what is followed instead of following it. */
class Kept extends WatchedFiles<Watched> {
  readonly watches: Watch<Watched>[] = [];

  override follow(watch: Watch<Watched>): void {
    this.watches.push(watch);
  }
}

describe('a secret in a file', () => {
  it('is put to use as two looks have found it, whatever is being written into its place at that moment', () => {
    const folder = new WatchedFolder();
    folder.write('one', 'first');
    folder.write('two', 'other');
    const { settings, changing } = load(
      folder,
      `--auth.data_sources=${JSON.stringify([source('one', { file: 'one' }), source('two', { file: 'two' })])}`,
    );
    const clock = new FakeClock();
    const files = new Kept({ clock, log: createLogger({ level: 'silent' }) });
    const { nonces } = openTrust(settings, loadProfile('fake'), clock);
    followNonces(files, changing.dataSources, { nonces, first: settings.auth.dataSources, clock });
    folder.write('one', 'thi');
    expect(files.watches[0]?.take([Buffer.from('second\n'), Buffer.from('other')])).toBe(true);
    const accepted = ['first', 'second', 'thi'].map((nonce) => nonces.accepts('one', digestNonce(nonce)));
    expect(accepted).toEqual([true, true, false]);
  });
});

describe('nonces in files', () => {
  function following(folder: WatchedFolder, ...sources: readonly object[]) {
    const { settings, changing } = load(folder, `--auth.data_sources=${JSON.stringify(sources)}`);
    const around = watching();
    const { nonces } = openTrust(settings, loadProfile('fake'), around.clock);
    followNonces(around.files, changing.dataSources, { nonces, first: settings.auth.dataSources, clock: around.clock });
    const accepts = (id: string, nonce: string): boolean => nonces.accepts(id, digestNonce(nonce));
    return { ...around, accepts, changing };
  }

  it('J-05 are rotated: the new one is good at once, the one before as long as its tokens live', async () => {
    const folder = new WatchedFolder();
    const file = folder.write('nonce', 'first\n');
    const { clock, files, accepts, changing } = following(folder, source('one', { file: 'nonce' }), source('two', 'fixed'));
    expect(changing.dataSources.files).toEqual([file]);
    await look(files, clock, 3);
    folder.write('nonce', 'second\n');
    await look(files, clock, 2);
    expect([accepts('one', 'second'), accepts('one', 'first'), accepts('two', 'fixed'), accepts('two', 'second')]).toEqual([
      ...[true, true],
      ...[true, false],
    ]);
    folder.write('nonce', 'third');
    await look(files, clock, 2);
    expect(['first', 'second', 'third'].map((nonce) => accepts('one', nonce))).toEqual([true, true, true]);
    clock.advance(TOKEN_LIFE_MS);
    expect(['first', 'second', 'third'].map((nonce) => accepts('one', nonce))).toEqual([false, false, true]);
  });

  it('stay as they are while a file is bad, all of them, and are named by no line', async () => {
    const folder = new WatchedFolder();
    folder.write('one', 'first');
    folder.write('two', 'other');
    const { clock, files, accepts, lines } = following(folder, source('one', { file: 'one' }), source('two', { file: 'two' }));
    await look(files, clock, 2);
    folder.write('one', 'second');
    folder.write('two', 'CANARY with blanks');
    await look(files, clock, 4);
    expect([accepts('one', 'first'), accepts('one', 'second'), accepts('two', 'other')]).toEqual([true, false, true]);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('auth.data_sources.1.nonce must be a secret');
    expect(lines[0]).not.toContain('CANARY');
    folder.write('two', 'another');
    await look(files, clock, 2);
    expect([accepts('one', 'second'), accepts('two', 'another'), accepts('two', 'other')]).toEqual([true, true, true]);
  });

  it('J-05 may come with the one before it in a file of its own', async () => {
    const folder = new WatchedFolder();
    folder.write('nonce', 'second');
    folder.write('previous', 'first');
    const { clock, files, accepts } = following(folder, source('one', { file: 'nonce' }, { previous_nonce: { file: 'previous' } }));
    folder.write('previous', 'by-hand');
    await look(files, clock, 2);
    expect(['first', 'second', 'by-hand', 'nobody'].map((nonce) => accepts('one', nonce))).toEqual([true, true, true, false]);
  });
});
