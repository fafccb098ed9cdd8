// `npm run check -- package`: everything that a stranger does with the package, in folders outside of this repository and with each
// version of Node: a new project, its tests, a call, a bot that changes during a call, an assistant, and the image of the project.
import { chmod, copyFile, lstat, mkdir, mkdtemp, readdir, rename, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { packageRoot, packageVersion } from '../src/base/package-root.ts';
import { ImageBuild } from '../test/support/image-build.ts';
import { command, progress, text } from './command-line.ts';
import { nodeOf, Project, Running } from './package/project.ts';

const VERSIONS = ['20', '22', '24'];
/** A user without rights; only root can become somebody else. */
const NOBODY = 65_534;
/** Longest time from `init` to the first word of a call, without downloads, s. */
const MAX_SECONDS = 60;
/** Largest package, bytes. */
const MAX_BYTES = 3_000_000;
const NAME = 'parley-voice';
/** Providers of the AI SDK: the line of its version 6 for Node 20, of 7 for newer ones. */
const PROVIDER = '@ai-sdk/openai-compatible';
const PROVIDERS = { before22: `${PROVIDER}@2.0.92`, since22: `${PROVIDER}@3.0.92` };
const PROVIDER_TEST = 'test/unit/ai/provider.test.ts';

const help = `Packs the package, installs it into empty folders, and does there what an author of bots does.

  npm run check -- package                  Node 20, 22 and 24; some four minutes, with downloads
  npm run check -- package --nodes 22,24    others

  --nodes LIST    versions of Node (default ${VERSIONS.join(',')})
  --help          this text

The last line is {"ok","nodes","secondsToFirstCall","packedBytes","installedBytes"}; secondsToFirstCall is the slowest of all
versions, and counts no download. Exit code 0, or 1 when something failed.`;

await command({ help, options: { nodes: text }, run: ({ nodes }) => check((nodes ?? VERSIONS.join(',')).split(',')) });

async function check(versions: readonly string[]) {
  const tarball = await pack();
  const parent = await mkdtemp(path.join(tmpdir(), 'parley package '));
  try {
    const seconds: number[] = [];
    let installedBytes = 0;
    for (const version of versions) {
      progress(`Node ${version}`);
      const folder = path.join(parent, version);
      const project = new Project(path.join(folder, 'my bots'), await nodeOf(version));
      seconds.push(await walk(project, tarball));
      await assistant(new Project(path.join(folder, 'my desk'), await nodeOf(version)), tarball, Number(version));
      if (version === '24') await image(project, path.join(folder, 'image'));
      if (version === versions[0]) {
        installedBytes = await bytesOf(path.join(project.folder, 'node_modules'));
        await pnpmLayout(project);
        await withoutRights(project);
      }
    }
    const { size: packedBytes } = await stat(tarball);
    const secondsToFirstCall = Math.round(Math.max(...seconds) * 10) / 10;
    const ok = secondsToFirstCall <= MAX_SECONDS && packedBytes <= MAX_BYTES;
    return { ok, nodes: versions, secondsToFirstCall, packedBytes, installedBytes };
  } finally {
    await allow(parent);
    await rm(parent, { recursive: true, force: true });
  }
}

async function pack(): Promise<string> {
  progress('packing');
  const packing = new Running([process.execPath, 'scripts/build.mjs', '--pack'], { cwd: packageRoot(), env: process.env });
  await packing.ended();
  const file = packing.output.trim().split('\n').at(-1) ?? '';
  if (packing.code !== 0 || !file.endsWith('.tgz')) throw new Error(`the package could not be made: ${packing.output}`);
  return file;
}

/** From the first command to a call that is transferred. @returns the seconds until its first prompt, without downloads. */
async function walk(project: Project, tarball: string): Promise<number> {
  const outside = path.dirname(project.folder);
  await mkdir(outside, { recursive: true });
  const global = path.join(outside, 'global');
  await project.passes(['npm', 'install', '--global', '--no-audit', '--no-fund', `--prefix=${global}`, tarball], { cwd: outside });
  const init = await project.passes([path.join(global, 'bin', 'parley'), 'init', path.basename(project.folder)], { cwd: outside });
  await project.edit('package.json', `"${packageVersion()}"`, `"file:${tarball}"`);
  await project.passes(['npm', 'install', '--no-audit', '--no-fund']);
  progress('  npm test, npm run check');
  await project.passes(['npm', 'test']);
  await project.passes(['npm', 'run', 'check']);
  progress('  npm run dev, npm run call');
  const began = performance.now();
  const server = project.start(['npm', 'run', 'dev']);
  try {
    await server.says(/^ready /mu);
    const call = project.start(['npm', 'run', 'call']);
    await call.says(/ prompt /u);
    const seconds = init.seconds + (performance.now() - began) / 1000;
    await call.ended();
    if (call.code !== 0) throw new Error(`the call was not transferred: ${call.output}`);
    await project.passes(['npm', 'run', 'scenarios']);
    await changed(project, server);
    await library(project);
    await project.passes(['npx', 'parley', 'bots', 'new', 'night-line']);
    await project.passes(['npm', 'test', '--', 'bots/night-line.test.ts']);
    const checked = await project.passes(['npx', 'parley', 'bots', 'check', '--config', 'parley.yaml']);
    if (!checked.output.includes('"ok":true,"bots":2')) throw new Error(`the bots were not good: ${checked.output}`);
    // The global command serves the bots of the project, which import their own copy.
    await project.passes([path.join(global, 'bin', 'parley'), 'bots', 'check', '--config', 'parley.yaml']);
    return seconds;
  } finally {
    await server.stop();
  }
}

/** A project with an assistant: offline with fake models, and with the providers for this version of Node. */
async function assistant(project: Project, tarball: string, node: number): Promise<void> {
  progress('  an assistant');
  const outside = path.dirname(project.folder);
  await project.passes([path.join(outside, 'global', 'bin', 'parley'), 'init', path.basename(project.folder), '--ai'], { cwd: outside });
  await project.edit('package.json', `"${packageVersion()}"`, `"file:${tarball}"`);
  await project.passes(['npm', 'install', '--no-audit', '--no-fund']);
  await project.passes(['npm', 'test']);
  const running: Running[] = [];
  try {
    for (const [script, ready] of [
      ['models', /^models /mu],
      ['dev', /^ready /mu],
    ] as const) {
      const started = project.start(['npm', 'run', script]);
      running.push(started);
      await started.says(ready);
    }
    await project.passes(['npm', 'run', 'call']);
    await project.passes(['npm', 'run', 'scenarios']);
  } finally {
    for (const each of running) await each.stop();
  }
  const provider = node < 22 ? PROVIDERS.before22 : PROVIDERS.since22;
  progress(`  ${provider}`);
  await project.passes(['npm', 'install', '--no-audit', '--no-fund', '--save-dev', provider]);
  await copyFile(path.join(packageRoot(), PROVIDER_TEST), path.join(project.folder, 'bots', 'provider.test.ts'));
  await project.edit('bots/provider.test.ts', '../../../template/ai/bots/', './');
  await project.passes(['npm', 'test', '--', 'bots/provider.test.ts']);
  await project.passes(['npm', 'run', 'check']);
}

async function library(project: Project): Promise<void> {
  progress('  a server inside another program');
  await copyFile(path.join(packageRoot(), 'scripts', 'package', 'program.mjs'), path.join(project.folder, 'program.mjs'));
  const { output } = await project.passes(['node', 'program.mjs']);
  if (!output.includes('{"failures":[],"outcome":"ended","openAdmin":"function"}')) throw new Error(`the program says ${output}`);
}

/** A bot is changed while a call runs, which goes on as it began; the next call gets the new one. */
async function changed(project: Project, server: Running): Promise<void> {
  progress('  a bot that changes during a call');
  const call = ['npx', 'parley', 'call', 'grpc://127.0.0.1:8086', '--org', 'laptop', '--agent', 'hello'];
  const old = project.start([
    ...call,
    '--wait',
    '6000',
    '--press',
    '7',
    '--press',
    '0',
    '--expect',
    'text:You pressed 7',
    '--expect',
    'transfer',
  ]);
  await old.says(/ prompt /u);
  await project.edit('bots/hello.ts', 'You pressed', 'You have pressed');
  await server.says(/the bots were loaded again/u);
  await old.ended();
  if (old.code !== 0) throw new Error(`the call that ran went wrong: ${old.output}`);
  await project.passes([...call, '--press', '7', '--press', '0', '--expect', 'text:You have pressed 7', '--expect', 'transfer']);
}

/** The steps of the project's Dockerfile; the bots load in what comes out. */
async function image(project: Project, target: string): Promise<void> {
  progress('  the image');
  await mkdir(target, { recursive: true });
  const built = await ImageBuild.run(project.folder, target, new Map(), project.environment());
  const workdir = path.join(built.root, built.workdir);
  const [file = '', ...rest] = built.command;
  if (!rest.includes('serve')) throw new Error(`the image does not serve: ${built.command.join(' ')}`);
  const argv = [path.join(workdir, file), 'bots', 'check', '--config', 'parley.production.yaml'];
  const checked = new Running(argv, { cwd: workdir, env: project.environment(target) });
  await checked.ended();
  if (checked.code !== 0) throw new Error(`the bots do not load in the image: ${checked.output}`);
}

/** As pnpm lays packages out: the package is a link, and finds its own packages beside its real place. */
async function pnpmLayout(project: Project): Promise<void> {
  progress('  the layout of pnpm');
  const modules = path.join(project.folder, 'node_modules');
  const beside = path.join(modules, '.pnpm', `${NAME}@1`, 'node_modules');
  await mkdir(beside, { recursive: true });
  for (const name of await readdir(modules)) {
    if (!name.startsWith('.') && name !== NAME) await symlink(path.join(modules, name), path.join(beside, name));
  }
  await rename(path.join(modules, NAME), path.join(beside, NAME));
  await symlink(path.join(beside, NAME), path.join(modules, NAME));
  await project.passes(['npm', 'test', '--', 'bots/night-line.test.ts']);
  await project.passes(['npm', 'run', 'check']);
}

/** A user who may write nothing in the project serves it. */
async function withoutRights(project: Project): Promise<void> {
  progress('  a user without rights, and node_modules that nobody can write to');
  const home = await mkdtemp(path.join(tmpdir(), 'parley-home-'));
  await chmod(home, 0o777);
  await chmod(path.dirname(path.dirname(project.folder)), 0o755);
  await forbid(path.join(project.folder, 'node_modules'));
  const uid = process.getuid?.() === 0 ? NOBODY : undefined;
  const server = project.start([path.join(project.folder, 'node_modules', '.bin', 'parley'), 'serve', '--config', 'parley.yaml'], {
    home,
    ...(uid === undefined ? {} : { uid }),
  });
  try {
    await server.says(/^ready /mu);
    await project.passes(['npm', 'run', 'call']);
  } finally {
    await server.stop();
    await rm(home, { recursive: true, force: true });
  }
}

async function forbid(place: string): Promise<void> {
  await eachBelow(place, (file, mode) => chmod(file, mode & 0o555));
}

async function allow(place: string): Promise<void> {
  await eachBelow(place, (file, mode) => chmod(file, mode | 0o200));
}

async function eachBelow(place: string, change: (file: string, mode: number) => Promise<void>): Promise<void> {
  const found = await lstat(place);
  if (found.isSymbolicLink()) return;
  await change(place, found.mode);
  if (found.isDirectory()) for (const name of await readdir(place)) await eachBelow(path.join(place, name), change);
}

async function bytesOf(place: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(place, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) bytes += (await lstat(path.join(entry.parentPath, entry.name))).size;
  }
  return bytes;
}
