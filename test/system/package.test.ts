// The package as users install it: what is in it, what its `exports` lead to, and whether its types hold in programs of other people.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleFiles } from '../../scripts/console.mjs';
import { packageRoot } from '../../src/base/package-root.ts';

const ROOT = packageRoot();
const ENTRIES = ['.', './testing', './ai', './evaluation', './server', './admin', './platform'];
/** Largest package, bytes. */
const MAX_BYTES = 3_000_000;
const REPOSITORY = 'git+https://git.example/parley.git';
/** What those who still use CommonJS, or TypeScript's oldest resolution, would be told: the package is ES modules alone. */
const OUT_OF_DATE = ['node10', 'node16-cjs'];

const run = promisify(execFile);
let folder = '';
let tarball = '';
let stage = '';

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'parley-package-'));
  const { stdout } = await run(process.execPath, ['scripts/build.mjs', '--pack', '--to', folder, '--repository', REPOSITORY], {
    cwd: ROOT,
  });
  tarball = stdout.trim();
  stage = path.join(folder, 'stage');
  installPackage();
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Files below a folder of `place`, relative to `place`. */
function filesIn(place: string, below = '.'): readonly string[] {
  return readdirSync(path.join(place, below), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(place, path.join(entry.parentPath, entry.name)))
    .sort();
}

/** As npm lays packages out: ours beside those that it depends on, and Node's types. */
function installPackage(): void {
  const manifest = JSON.parse(readFileSync(path.join(stage, 'package.json'), 'utf8')) as Record<string, Readonly<Record<string, string>>>;
  const { dependencies, optionalDependencies } = manifest;
  const modules = path.join(folder, 'node_modules');
  for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), '@types/node']) {
    mkdirSync(path.dirname(path.join(modules, name)), { recursive: true });
    symlinkSync(path.join(ROOT, 'node_modules', name), path.join(modules, name));
  }
  symlinkSync(stage, path.join(modules, 'parley-voice'));
}

describe('the package of npm create', () => {
  it('begins a project with the version that it was packed with', async () => {
    const { version } = JSON.parse(readFileSync(path.join(stage, 'package.json'), 'utf8')) as { version: string };
    const manifest: unknown = JSON.parse(readFileSync(path.join(folder, 'create', 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({
      name: 'create-parley-voice',
      version,
      dependencies: { 'parley-voice': version },
      repository: { url: REPOSITORY },
    });
    expect(filesIn(path.join(folder, 'create'))).toEqual(['LICENSE', 'README.md', 'create.mjs', 'package.json']);
    const { stdout } = await run(process.execPath, [path.join(folder, 'create', 'create.mjs'), 'my-bots'], { cwd: folder });
    expect(stdout).toContain('npm install');
    expect(filesIn(path.join(folder, 'my-bots'))).toContain('bots/hello.ts');
    await run(process.execPath, [path.join(folder, 'create', 'create.mjs'), 'my-desk', '--ai'], { cwd: folder });
    expect(filesIn(path.join(folder, 'my-desk'))).toContain('bots/desk.ts');
  });
});

describe('what lies beside the packages', () => {
  it('is the list of what a server runs with, and the sums of all', () => {
    const files = ['parley-voice', 'create-parley-voice'].map((name) => path.basename(tarball).replace('parley-voice', name));
    const list = path.basename(tarball).replace(/\.tgz$/u, '.cdx.json');
    expect(JSON.parse(readFileSync(path.join(folder, list), 'utf8'))).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6' });
    const sumOf = (file: string): string =>
      createHash('sha256')
        .update(readFileSync(path.join(folder, file)))
        .digest('hex');
    expect(readFileSync(path.join(folder, 'SHA256SUMS'), 'utf8')).toBe(
      [...files, list].map((file) => `${sumOf(file)}  ${file}\n`).join(''),
    );
  });
});

describe('the package', () => {
  it('holds the compiled program, and of everything else only what somebody reads', async () => {
    expect(filesIn(stage).filter((file) => !file.startsWith('dist/'))).toEqual(
      [
        ...['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'SECURITY.md', 'bots/prompts/chime.wav', 'config/default.yaml'],
        ...['config/example.production.yaml', 'package.json'],
        ...filesIn(ROOT, 'config/platforms'),
        ...filesIn(ROOT, 'docs').filter((file) => !file.startsWith('docs/generated/') && /\.(?:md|ts|yaml|json|png)$/u.test(file)),
        ...filesIn(ROOT, 'proto'),
        ...[
          'template/AGENTS.md',
          'template/Dockerfile',
          'template/README.md',
          ...filesIn(ROOT, 'template/ai'),
          'template/bots/hello.test.ts',
          'template/bots/hello.ts',
          'template/dockerignore',
        ],
        ...[
          'template/github/workflows/test.yml',
          'template/gitignore',
          'template/package.template.json',
          'template/parley.production.yaml',
        ],
        ...['template/parley.yaml', 'template/scenarios/hello.yaml', 'template/tsconfig.template.json'],
      ].sort(),
    );
    const compiled = [...filesIn(ROOT, 'src'), ...filesIn(ROOT, 'bots')].filter(
      (file) => /\.m?[tj]s$/u.test(file) && !/\.(?:test|d)\.ts$/u.test(file),
    );
    const made = compiled.flatMap((file) => [file.replace(/\.ts$/u, '.js'), file.replace(/(?<m>m?)[tj]s$/u, 'd.$<m>ts')]);
    const pages = [...(await consoleFiles()).keys()];
    expect(filesIn(stage, 'dist')).toEqual([...made.map((file) => `dist/${file}`), ...pages.map((name) => `dist/console/${name}`)].sort());
    expect(statSync(tarball).size).toBeLessThan(MAX_BYTES);
  });

  it('runs nothing when it is installed, and has no way to the sources', () => {
    const manifest = JSON.parse(readFileSync(path.join(stage, 'package.json'), 'utf8')) as Record<string, unknown>;
    expect(Object.keys(manifest).sort()).toEqual([
      ...['bin', 'dependencies', 'description', 'engines', 'exports', 'files', 'license', 'name', 'optionalDependencies'],
      ...['peerDependencies', 'peerDependenciesMeta', 'repository', 'type', 'version'],
    ]);
    expect(Object.keys(manifest['exports'] as object)).toEqual([...ENTRIES, './package.json']);
    expect(JSON.stringify(manifest)).not.toContain('@parley/source');
  });

  it('satisfies publint', async () => {
    const { messages, pkg } = await publint({ pkgDir: stage, level: 'suggestion', strict: true, pack: false });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  // Each entry costs seconds, and all of them are alike; the compiler looks at every one below.
  it('has types wherever Node and bundlers look for them', async () => {
    const checked = await checkPackage(createPackageFromTarballData(readFileSync(tarball)), { entrypoints: ['.'] });
    const problems = 'problems' in checked ? checked.problems : [checked];
    expect(problems.filter((problem) => !('resolutionKind' in problem && OUT_OF_DATE.includes(problem.resolutionKind)))).toEqual([]);
  });

  it.each([
    ['Node', ['--module', 'nodenext']],
    ['bundlers', ['--module', 'esnext', '--moduleResolution', 'bundler']],
  ])('has types that hold where every declaration is checked, as %s resolves them', async (_who, resolution) => {
    const project = path.join(folder, `project-${resolution.join('')}`);
    mkdirSync(project);
    const file = path.join(project, 'all.ts');
    writeFileSync(path.join(project, 'package.json'), '{"type":"module"}');
    writeFileSync(
      file,
      ENTRIES.map((entry, index) => `export * as entry${String(index)} from 'parley-voice${entry.slice(1)}';\n`).join(''),
    );
    const compiler = path.join(ROOT, 'node_modules', 'typescript-native', 'bin', 'tsc');
    const options = ['--noEmit', '--strict', '--target', 'es2022', '--skipLibCheck', 'false', ...resolution];
    const { output } = await run(process.execPath, [compiler, ...options, file], { cwd: project }).then(
      () => ({ output: '' }),
      (error: unknown) => ({ output: error instanceof Error && 'stdout' in error ? error.stdout : error }),
    );
    expect(output).toBe('');
  });
});
