// What package-lock.json must hold so that `npm ci` gives everybody the same packages: every package by its hash, none by
// the host it was once fetched from, and every version in package.json exact.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ROOT } from '../support/source-tree.ts';

const VERSIONS = z.record(z.string(), z.string()).default({});
const MANIFEST = z.object({
  dependencies: VERSIONS,
  devDependencies: VERSIONS,
  optionalDependencies: VERSIONS,
  overrides: VERSIONS,
  allowScripts: z.record(z.string(), z.boolean()),
  engines: z.object({ node: z.string() }),
});
const LOCKFILE = z.object({
  lockfileVersion: z.literal(3),
  packages: z.record(
    z.string(),
    z.object({
      version: z.string(),
      integrity: z.string().optional(),
      resolved: z.string().optional(),
      link: z.boolean().optional(),
      hasInstallScript: z.boolean().optional(),
      optionalDependencies: VERSIONS,
    }),
  ),
});

function read<Schema extends z.ZodType>(file: string, schema: Schema): z.output<Schema> {
  return schema.parse(JSON.parse(readFileSync(path.join(ROOT, file), 'utf8')));
}

/** The version of what package.json asks for, also of a package that is installed under another name (`npm:NAME@VERSION`). */
const versionOf = (asked: string): string => asked.replace(/^npm:.+@/u, '');

describe('the locked packages', () => {
  const manifest = read('package.json', MANIFEST);
  const { packages } = read('package-lock.json', LOCKFILE);
  const installed = Object.entries(packages).filter(([place]) => place !== '');

  it('are asked for by exact version in package.json', () => {
    const asked = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies, ...manifest.overrides };
    expect(Object.keys(asked).length).toBeGreaterThan(0);
    expect(Object.entries(asked).filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/u.test(versionOf(version)))).toEqual([]);
  });

  it('are those package.json asks for', () => {
    const asked = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies };
    const differ = Object.entries(asked).filter(([name, version]) => packages[`node_modules/${name}`]?.version !== versionOf(version));
    expect(differ).toEqual([]);
  });

  it('are all known by their SHA-512', () => {
    expect(installed.length).toBeGreaterThan(0);
    expect(installed.filter(([, { integrity }]) => integrity?.startsWith('sha512-') !== true).map(([place]) => place)).toEqual([]);
  });

  it('name no host they came from, so that any registry serves them', () => {
    expect(installed.filter(([, { resolved, link }]) => resolved !== undefined || link === true).map(([place]) => place)).toEqual([]);
  });

  it('are all there for every platform: npm drops a missing binary without a word, and npm ci fails elsewhere', () => {
    const missing = installed.flatMap(([place, { optionalDependencies }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !lookupPlaces(place, name).some((candidate) => candidate in packages))
        .map((name) => `${name}, wanted by ${place}`),
    );
    expect(missing).toEqual([]);
  });

  it('run no install script that package.json does not speak of', () => {
    const scripted = installed.filter(([, { hasInstallScript }]) => hasInstallScript === true);
    const silent = scripted.filter(([place]) => manifest.allowScripts[place.replace(/^.*node_modules\//u, '')] === undefined);
    expect(silent.map(([place]) => place)).toEqual([]);
  });

  it('pass lockfile-lint', () => {
    const arguments_ = ['--path', 'package-lock.json', '--type', 'npm', '--validate-https', '--validate-integrity', '--format', 'plain'];
    const { status, stdout, stderr } = spawnSync('node_modules/.bin/lockfile-lint', arguments_, { cwd: ROOT, encoding: 'utf8' });
    expect({ status, output: stdout + stderr }).toMatchObject({ status: 0, output: expect.stringContaining('No issues') as string });
  });
});

/** Where Node looks for a package that is wanted at a place of the lockfile. */
function lookupPlaces(place: string, name: string): readonly string[] {
  const parts = place.split('/node_modules/');
  return ['', ...parts.map((_, index) => parts.slice(0, index + 1).join('/node_modules/'))].map((above) =>
    above === '' ? `node_modules/${name}` : `${above}/node_modules/${name}`,
  );
}
