// `npm run build -- --pack`: the package as users install it, one file, and beside it the one that `npm create` takes, the list of the
// packages that a server runs with, and the SHA-256 of all of them. Each is packed from a folder of its own, whose package.json has
// nothing that only this repository needs: no scripts, no tools, and no way to the sources.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sbom } from './sbom.mjs';

const ROOT = path.resolve(import.meta.dirname, '..');
/** Condition under which `exports` lead to the sources; see tsconfig.json. */
const SOURCE = '@parley/source';
const KEPT = ['LICENSE', 'README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'config', 'proto', 'bots/prompts', 'template'];

/** @typedef {string | { [condition: string]: Exported }} Exported */

/**
 * Packs a build.
 *
 * @param {string} dist - its absolute folder
 * @param {string} target - absolute folder of the package and of its stage, which begins empty
 * @param {string} [repository] - address of the sources, which provenance is compared with
 * @returns {string} the absolute path of the package
 */
export function pack(dist, target, repository) {
  const stage = path.join(target, 'stage');
  rmSync(stage, { recursive: true, force: true });
  mkdirSync(stage, { recursive: true });
  cpSync(dist, path.join(stage, 'dist'), { recursive: true, filter: (file) => !file.endsWith('.map') });
  for (const name of KEPT) cpSync(path.join(ROOT, name), path.join(stage, name), { recursive: true });
  cpSync(path.join(ROOT, 'docs'), path.join(stage, 'docs'), { recursive: true, filter: isRead });
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
  const source = repository === undefined ? {} : { repository: { type: 'git', url: repository } };
  writeJson(path.join(stage, 'package.json'), { ...kept, ...source, exports: withoutSource(manifest.exports) });
  const files = [packed(stage, target), packed(creator(path.join(target, 'create'), { ...manifest, ...source }), target)];
  const [tarball = ''] = files;
  const list = tarball.replace(/\.tgz$/u, '.cdx.json');
  writeJson(list, sbom(JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8'))));
  const sums = [...files, list].map((file) => `${createHash('sha256').update(readFileSync(file)).digest('hex')}  ${path.basename(file)}\n`);
  writeFileSync(path.join(target, 'SHA256SUMS'), sums.join(''));
  return tarball;
}

/**
 * @param {string} file
 * @param {object} value
 */
function writeJson(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

/**
 * Stages the package of `npm create parley-voice`.
 *
 * @param {string} stage
 * @param {Record<string, unknown>} manifest - of the package that it creates projects for
 */
function creator(stage, { name, version, license, type, engines, repository }) {
  rmSync(stage, { recursive: true, force: true });
  mkdirSync(stage);
  cpSync(path.join(ROOT, 'LICENSE'), path.join(stage, 'LICENSE'));
  cpSync(path.join(import.meta.dirname, 'package', 'create.mjs'), path.join(stage, 'create.mjs'));
  const created = String(name);
  const own = {
    ...{ name: `create-${created}`, version, license, type, engines },
    description: `Begins a project of voice bots: npm create ${created} my-bots`,
    bin: 'create.mjs',
    files: ['create.mjs'],
    dependencies: { [created]: version },
    ...(repository !== undefined && { repository }),
  };
  writeJson(path.join(stage, 'package.json'), own);
  writeFileSync(
    path.join(stage, 'README.md'),
    `# create-${created}\n\n\`npm create ${created} my-bots\` begins a project of voice bots.\n`,
  );
  return stage;
}

/**
 * @param {string} stage
 * @param {string} target
 */
function packed(stage, target) {
  const { stdout, status, stderr } = spawnSync('npm', ['pack', '--json', `--pack-destination=${target}`, stage], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm pack failed: ${stderr}`);
  /** @type {[{ filename: string }]} */
  const [{ filename }] = JSON.parse(stdout);
  return path.join(target, filename);
}

/**
 * Pages, and the examples and pictures that they show; not what is made here without being committed.
 *
 * @param {string} file - or a folder
 */
function isRead(file) {
  const name = path.basename(file);
  return !name.startsWith('.') && name !== 'generated' && (!name.includes('.') || /\.(?:md|ts|yaml|json|png)$/u.test(name));
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
