// Folders below cache/tests that outlive a run. What they are made of decides where they lie, so what is there is never old.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { packageRoot } from '../../src/base/package-root.ts';

const ROOT = packageRoot();
const PLACE = path.join(ROOT, 'cache', 'tests');
/** Folders that nobody has begun to use for so long are removed, ms. */
const OLD_MS = 3_600_000;

/**
 * The place for what is made of `sources`; whoever makes it makes the folder. Others that nobody uses any more are removed.
 *
 * @param sources - files and folders of code, relative to the root of the package.
 */
export function keptFolder(kind: string, sources: readonly string[]): string {
  const folder = path.join(PLACE, `${kind}-${contentHash(sources)}`);
  mkdirSync(PLACE, { recursive: true });
  const now = new Date(systemClock.nowMs());
  if (existsSync(folder)) utimesSync(folder, now, now);
  for (const name of readdirSync(PLACE)) {
    const other = path.join(PLACE, name);
    const usedMs = statSync(other, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (other !== folder && now.getTime() - usedMs > OLD_MS) rmSync(other, { recursive: true, force: true });
  }
  return folder;
}

function contentHash(sources: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of sources.flatMap(filesOf)) hash.update(file).update(readFileSync(path.join(ROOT, file)));
  return hash.digest('hex').slice(0, 16);
}

function filesOf(source: string): readonly string[] {
  if (statSync(path.join(ROOT, source)).isFile()) return [source];
  return readdirSync(path.join(ROOT, source), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:m?[tj]s|tsx|css)$/u.test(name))
    .sort()
    .map((name) => path.join(source, name));
}
