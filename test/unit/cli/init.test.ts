import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageRoot, packageVersion } from '../../../src/base/package-root.ts';
import { initCommand } from '../../../src/cli/init.ts';
import { loadSettings } from '../../../src/app/config/load-settings.ts';

let parent = '';

beforeEach(async () => {
  parent = await mkdtemp(path.join(tmpdir(), 'parley-init-'));
});
afterEach(() => rm(parent, { recursive: true, force: true }));

async function run(folder: string, ...flags: readonly string[]): Promise<string> {
  let out = '';
  const command = initCommand()
    .exitOverride()
    .configureOutput({ writeOut: (text) => (out += text), writeErr: () => undefined });
  await command.parseAsync([folder, ...flags], { from: 'user' });
  return out;
}

interface Manifest {
  readonly name?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

async function manifestIn(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as Manifest;
}

describe('parley init', () => {
  it('writes a whole project with a name that a package may have, and says what to do next', async () => {
    const out = await run(path.join(parent, 'My Bots!'));
    const folder = path.join(parent, 'My Bots!');
    expect((await readdir(folder)).toSorted()).toEqual(
      [
        ...['.dockerignore', '.github', '.gitignore', 'AGENTS.md', 'Dockerfile', 'README.md', 'bots', 'package.json'],
        ...['parley.production.yaml', 'parley.yaml', 'scenarios', 'tsconfig.json'],
      ].toSorted(),
    );
    expect((await manifestIn(folder)).name).toBe('my-bots');
    expect(out).toContain('npm run dev');
  });

  it('pins the version of this package, and the tools that it is tested with', async () => {
    await run(path.join(parent, 'bots'));
    const { dependencies, devDependencies = {} } = await manifestIn(path.join(parent, 'bots'));
    expect(dependencies).toEqual({ 'parley-voice': packageVersion() });
    const { devDependencies: ours = {} } = await manifestIn(packageRoot());
    for (const [name, version] of Object.entries(devDependencies)) expect([name, version]).toEqual([name, ours[name]]);
  });

  it('writes configurations that are valid but for the secrets that a laptop does not have', async () => {
    await run(path.join(parent, 'bots'));
    const load = (file: string, ...flags: string[]) =>
      loadSettings({ argv: [`--config=${file}`, ...flags], env: {}, cwd: path.join(parent, 'bots') });
    expect(load('parley.yaml').settings.bots).toMatchObject({ folder: path.join(parent, 'bots', 'bots'), defaultBot: 'hello' });
    const secrets = ['integration.client_secret', 'service_app.client_secret'].map((name) => `--admin.${name}=some-secret`);
    const { settings } = load('parley.production.yaml', ...secrets, `--admin.store.keys=["${'0'.repeat(64)}"]`);
    expect(settings.admin.store.file).toBe(path.join(parent, 'bots', 'data', 'admin.store'));
  });

  it('writes an assistant in place of the menu, whose fake models are told what its caller says', async () => {
    const folder = path.join(parent, 'desk');
    const out = await run(folder, '--ai');
    const files = (await readdir(folder, { recursive: true })).filter((file) => /^(?:bots|scenarios|models)/u.test(file));
    expect(files.toSorted()).toEqual(
      [
        ...['bots', 'bots/desk.eval.test.ts', 'bots/desk.test.ts', 'bots/desk.ts', 'bots/lib', 'bots/lib/model.ts', 'models.yaml'],
        ...['scenarios', 'scenarios/desk.yaml'],
      ].map((file) => path.normalize(file)),
    );
    expect(out).toContain('npm run models');
    const { scripts = {} } = await manifestIn(folder);
    expect(Object.keys(scripts)).toEqual(['dev', 'test', 'check', 'call', 'scenarios', 'start', 'models', 'eval']);
    expect(scripts['call']).toContain('--models http://127.0.0.1:8089/v1');
    expect(await readFile(path.join(folder, 'README.md'), 'utf8')).toMatch(/^# desk\n.*\n\n## The assistant\n/su);
    const load = (file: string, ...flags: string[]) =>
      loadSettings({ argv: [`--config=${file}`, ...flags], env: {}, cwd: folder }).settings;
    expect(load('parley.yaml')).toMatchObject({ bots: { defaultBot: 'desk' }, recognizer: { http: { url: 'http://127.0.0.1:8089/v1' } } });
    const secrets = ['admin.integration.client_secret', 'admin.service_app.client_secret', 'recognizer.http.key'];
    const production = load(
      'parley.production.yaml',
      ...secrets.map((name) => `--${name}=some-secret`),
      `--admin.store.keys=["${'0'.repeat(64)}"]`,
    );
    expect(production).toMatchObject({ bots: { defaultBot: 'desk' }, recognizer: { engine: 'http' } });
  });

  it('writes nothing into a folder that holds something', async () => {
    await writeFile(path.join(parent, 'mine.txt'), '');
    await expect(run(parent)).rejects.toMatchObject({ exitCode: 2 });
    expect(await readdir(parent)).toEqual(['mine.txt']);
  });
});
