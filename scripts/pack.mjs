// `npm run build -- --pack`: the package as users install it, one file. It is packed from a folder of its own, whose package.json
// has nothing that only this repository needs: no scripts, no tools, and no way to the sources.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..');
/** Condition under which `exports` lead to the sources; see tsconfig.json. */
const SOURCE = '@parley/source';
const KEPT = ['LICENSE', 'README.md', 'CHANGELOG.md', 'SECURITY.md', 'config', 'proto', 'bots/prompts', 'template'];

/** @typedef {string | { [condition: string]: Exported }} Exported */

/**
 * Packs a build.
 *
 * @param {string} dist - its absolute folder
 * @param {string} target - absolute folder of the package and of its stage, which begins empty
 * @returns {string} the absolute path of the package
 */
export function pack(dist, target) {
  const stage = path.join(target, 'stage');
  rmSync(stage, { recursive: true, force: true });
  mkdirSync(stage, { recursive: true });
  cpSync(dist, path.join(stage, 'dist'), { recursive: true, filter: (file) => !file.endsWith('.map') });
  for (const name of KEPT) cpSync(path.join(ROOT, name), path.join(stage, name), { recursive: true });
  /** @type {Record<string, unknown> & { exports: Exported, dependencies: Record<string, string> }} */
  const manifest = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  const {
    private: _private,
    scripts: _scripts,
    devDependencies: _tools,
    overrides: _overrides,
    allowScripts: _allowed,
    ...kept
  } = manifest;
  writeFileSync(path.join(stage, 'package.json'), `${JSON.stringify({ ...kept, exports: withoutSource(manifest.exports) }, null, 2)}\n`);
  const { stdout, status, stderr } = spawnSync('npm', ['pack', '--json', `--pack-destination=${target}`, stage], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm pack failed: ${stderr}`);
  /** @type {[{ filename: string }]} */
  const [{ filename }] = JSON.parse(stdout);
  return path.join(target, filename);
}

/**
 * @param {Exported} exported
 * @returns {Exported}
 */
function withoutSource(exported) {
  if (typeof exported === 'string') return exported;
  const kept = Object.entries(exported).filter(([condition]) => condition !== SOURCE);
  return Object.fromEntries(kept.map(([condition, value]) => [condition, withoutSource(value)]));
}
