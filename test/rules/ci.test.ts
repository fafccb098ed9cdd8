// CI runs what anybody can run: one script, on every Node line we promise, with every Debian package that some test needs.
import { statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { filesUnder, ROOT } from '../support/source-tree.ts';

function textOf(file: string): string {
  const [found] = filesUnder([file]);
  if (found === undefined) throw new Error(`${file} is missing`);
  return found.text;
}

describe('CI', () => {
  const script = textOf('.ci/run');

  it('is a script that can be started as it is', () => {
    expect(script).toMatch(/^#!\/usr\/bin\/env bash\n/u);
    expect(statSync(path.join(ROOT, '.ci/run')).mode & 0o111).toBe(0o111);
  });

  it('installs every Debian package that a test asks for', () => {
    const tests = filesUnder(['test', 'bots'], ['.ts']).filter(({ text }) => /\brequireDebian\b|\bDebianNeeds\b/u.test(text));
    const wanted = tests.flatMap(({ text }) =>
      [...text.matchAll(/packages: \[(?<names>'[^\]]*)\]/gu)].map(({ groups }) => groups?.['names'] ?? ''),
    );
    const names = new Set(wanted.flatMap((list) => [...list.matchAll(/'(?<name>[^']+)'/gu)].map(({ groups }) => groups?.['name'] ?? '')));
    expect(names.size).toBeGreaterThan(0);
    const installed = /DEBIAN_PACKAGES=\((?<names>[^)]*)\)/u.exec(script)?.groups?.['names']?.split(/\s+/u) ?? [];
    expect([...names].filter((name) => !installed.includes(name))).toEqual([]);
  });

  it('kills what does not end in its time and does not listen either', () => {
    const limits = script.split('\n').filter((line) => /\btimeout\b/u.test(line));
    expect(limits.length).toBeGreaterThan(3);
    expect(limits.filter((line) => !/\btimeout --kill-after=\d+ "/u.test(line))).toEqual([]);
  });

  it('demands the tests that need them, and depends on no audit', () => {
    expect(script).toContain('export PARLEY_DEMAND_ALL=1');
    expect(script).not.toMatch(/npm audit/u);
  });

  it('runs on every Node line, the floor of package.json included, by the same script', () => {
    const workflow: unknown = parse(textOf('.github/workflows/check.yml'));
    expect(workflow).toMatchObject({
      jobs: {
        check: { strategy: { matrix: { node: ['20.19', 22, 24] } }, steps: expect.arrayContaining([{ run: '.ci/run' }]) as unknown },
        next: { steps: expect.arrayContaining([{ run: 'npm run test:unit' }]) as unknown },
      },
    });
    const manifest: unknown = JSON.parse(textOf('package.json'));
    expect(manifest).toMatchObject({ engines: { node: expect.stringMatching(/^>=20\.19\./u) as string } });
  });
});
