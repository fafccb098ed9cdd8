// What outlives an upgrade beside the calls: configurations, the administration's file, and the bots of a project with their tests.
import assert from 'node:assert/strict';
import { cp, readFile } from 'node:fs/promises';
import path from 'node:path';
import { packageRoot } from '../../src/base/package-root.ts';
import { openSurroundings } from '../../test/support/open-surroundings.ts';
import { exportedNames } from '../public-types.mjs';
import { sectionOf } from './changelog.ts';
import { projectIn, type Installation } from './last-release.ts';

const ORGANIZATION = 'ce861fba-6e2f-49f9-9a84-b354008fac9e';
const QUIET = ['--no-audit', '--no-fund'];

/** Where everything runs on one machine. */
const LAPTOP = ['--platform.profile=fake', '--grpc.host=127.0.0.1', '--tls.mode=off'];

/** Every setting that the last release has, with its default, is a setting of today's. */
export async function configuration(last: Installation, today: Installation): Promise<void> {
  await today.parley('config', '--config', path.join(last.root, 'config', 'default.yaml'), ...LAPTOP, '--auth.enabled=false');
}

/** The administration's file is read and changed by each in turn, and nothing is registered twice. */
export async function administrationFile(last: Installation, today: Installation): Promise<void> {
  const around = await openSurroundings();
  try {
    around.api.authorize(ORGANIZATION);
    const flags = ['--org', ORGANIZATION, ...LAPTOP, ...around.flags];
    await last.parley('admin', 'data-sources', 'create', ...flags);
    for (const version of [today, last, today]) await version.parley('admin', 'data-sources', 'renew', ...flags);
    const { journal } = around.api;
    assert.deepEqual([journal.count('POST /dataSources'), journal.count('PUT /dataSources/:id')], [1, 3]);
  } finally {
    await around.close();
  }
}

/** A project that the last release began compiles with today's package, and its tests pass; so do the examples of its documents. */
export async function bots(last: Installation, tarball: string, folder: string): Promise<void> {
  await last.parley('init', folder);
  const project = projectIn(folder);
  const { version } = JSON.parse(await readFile(path.join(last.root, 'package.json'), 'utf8')) as { version: string };
  await project.edit('package.json', `"parley-voice": "${version}"`, `"parley-voice": "file:${tarball}"`);
  await project.passes(['npm', 'install', ...QUIET]);
  // One of them stands beside the bundled bots.
  const filter = (file: string): boolean => !file.endsWith('evaluating.test.ts');
  await cp(path.join(last.root, 'docs', 'examples'), path.join(folder, 'bots', 'examples'), { recursive: true, filter });
  await project.passes(['npm', 'test', '--', 'bots/hello.test.ts', 'bots/examples/examples.test.ts', 'bots/examples/menu.test.ts']);
  await project.passes(['npm', 'run', 'check']);
}

/** What is exported no more stands in CHANGELOG.md, under Changed or Removed of today's version, or of what is not released yet. */
export async function removals(last: Installation, today: Installation): Promise<void> {
  const kept = exportedNames(today.root);
  const gone = exportedNames(last.root).filter((name) => !kept.includes(name));
  const changelog = await readFile(path.join(packageRoot(), 'CHANGELOG.md'), 'utf8');
  const { version } = JSON.parse(await readFile(path.join(today.root, 'package.json'), 'utf8')) as { version: string };
  const section = sectionOf(changelog, version) ?? sectionOf(changelog, 'Unreleased') ?? '';
  const announced = [...section.matchAll(/^### (?:Changed|Removed)\n(?<lines>[\s\S]*?)(?=^##|$(?![\s\S]))/gmu)];
  const lines = announced.map(({ groups }) => groups?.['lines']).join('');
  const silent = gone.filter((name) => !lines.includes(`\`${name.split(' ')[1] ?? ''}\``));
  assert.deepEqual(silent, [], 'these are gone, and CHANGELOG.md does not say so under Changed or Removed');
}
