// The committed generated files say what proto/ says: generating them again changes nothing.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');

describe('generated files', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'parley-generated-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('agree with proto/: otherwise run `npm run generate` and commit src/contract/gen', () => {
    // From another working folder, because the result must not depend on it.
    execFileSync(process.execPath, [path.join(ROOT, 'scripts/generate.mjs'), folder], { cwd: tmpdir(), timeout: 60_000 });
    const fresh = filesOf(folder);
    expect(fresh.size).toBeGreaterThan(20);
    expect(Object.fromEntries(filesOf(path.join(ROOT, 'src/contract/gen')))).toEqual(Object.fromEntries(fresh));
  });
});

/** Relative path → content. */
function filesOf(folder: string): ReadonlyMap<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => statSync(path.join(folder, file)).isFile());
  return new Map(files.sort().map((file) => [file, readFileSync(path.join(folder, file), 'utf8')]));
}
