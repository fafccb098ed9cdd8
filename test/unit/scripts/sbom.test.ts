// The list of packages against our own lockfile and against a small one whose packages lie in each other.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { sbom } from '../../../scripts/sbom.mjs';
import { ROOT } from '../../support/source-tree.ts';

const integrity = `sha512-${Buffer.alloc(64, 7).toString('base64')}`;
const locked = (version: string, more: object = {}) => ({ version, license: 'MIT', integrity, ...more });

describe('the list of packages', () => {
  const lockfile = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as Parameters<typeof sbom>[0];
  const manifest = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as Record<string, Record<string, string>>;
  const list = sbom(lockfile);

  it('has every package that the lockfile installs in production, by licence, hash and a name of its own', () => {
    const installed = Object.entries(lockfile.packages).filter(([place, { dev }]) => place !== '' && dev !== true);
    expect(new Set(list.components.map(({ name, version }) => `${name} ${version}`))).toEqual(
      new Set(installed.map(([place, { name = place.replace(/^.*node_modules\//u, ''), version }]) => `${name} ${version}`)),
    );
    expect(new Set(list.components.map((component) => component['bom-ref'])).size).toBe(list.components.length);
    expect(list.components.filter(({ licenses, purl }) => licenses?.length !== 1 || !purl.startsWith('pkg:npm/'))).toEqual([]);
    expect(list.components.filter(({ hashes }) => !/^[\da-f]{128}$/u.test(hashes?.[0]?.content ?? ''))).toEqual([]);
  });

  it('says what the package itself depends on, and only what is in the list', () => {
    const { name, version, purl } = list.metadata.component;
    expect([list.bomFormat, list.specVersion, name]).toEqual(['CycloneDX', '1.6', 'parley-voice']);
    expect(purl).toBe(`pkg:npm/parley-voice@${version}`);
    const [own] = list.dependencies;
    const asked = Object.entries({ ...manifest['dependencies'], ...manifest['optionalDependencies'] });
    expect(own).toEqual({ ref: purl, dependsOn: asked.map(([each, wanted]) => `pkg:npm/${each.replace('@', '%40')}@${wanted}`).sort() });
    const known = list.components.map((component) => component['bom-ref']);
    expect(list.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !known.includes(ref))).toEqual([]);
    expect(list.dependencies.map(({ ref }) => ref).toSorted()).toEqual([purl, ...known].toSorted());
  });

  it('finds what a package depends on where Node does, and leaves out what only tools need', () => {
    const { components, dependencies } = sbom({
      packages: {
        '': { name: 'own', version: '1.0.0', dependencies: { a: '1.0.0', '@s/b': '1.0.0' } },
        'node_modules/a': locked('1.0.0', { dependencies: { c: '^2.0.0' } }),
        'node_modules/a/node_modules/c': locked('2.0.0', { optionalDependencies: { d: '1.0.0', absent: '1.0.0' } }),
        'node_modules/@s/b': locked('1.0.0', { dependencies: { c: '^1.0.0' } }),
        'node_modules/c': locked('1.0.0'),
        'node_modules/d': locked('1.0.0', { optional: true }),
        'node_modules/e': locked('1.0.0', { dev: true }),
      },
    });
    expect(components.map(({ purl, scope }) => `${purl} ${scope}`)).toEqual([
      ...['pkg:npm/a@1.0.0 required', 'pkg:npm/c@2.0.0 required', 'pkg:npm/%40s/b@1.0.0 required', 'pkg:npm/c@1.0.0 required'],
      'pkg:npm/d@1.0.0 optional',
    ]);
    expect(Object.fromEntries(dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]))).toEqual({
      'pkg:npm/own@1.0.0': ['pkg:npm/%40s/b@1.0.0', 'pkg:npm/a@1.0.0'],
      'pkg:npm/a@1.0.0': ['pkg:npm/c@2.0.0'],
      'pkg:npm/c@2.0.0': ['pkg:npm/d@1.0.0'],
      'pkg:npm/%40s/b@1.0.0': ['pkg:npm/c@1.0.0'],
      'pkg:npm/c@1.0.0': [],
      'pkg:npm/d@1.0.0': [],
    });
  });
});
