// scripts/with-packages.mjs on an empty machine: a folder with a manifest, a lockfile and a stand-in for npm that "installs"
// one tool and counts how often it was asked.
import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const SCRIPT = path.join(import.meta.dirname, '../../../scripts/with-packages.mjs');

// Lists what the lockfile lists, as npm does at the end of an install; says on stdout what a talkative npm might say.
const NPM = `
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
appendFileSync('npm-calls', process.argv.slice(2).join(' ') + ' NODE_ENV=' + process.env.NODE_ENV + '\\n');
console.log('npm talks on stdout');
if (existsSync('npm-fails')) process.exit(7);
if (existsSync('npm-is-slow')) await new Promise((resolve) => setTimeout(resolve, 5500));
mkdirSync('node_modules/.bin', { recursive: true });
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
delete packages[''];
delete packages['node_modules/for-other-machines'];
writeFileSync('node_modules/.bin/tool', ${JSON.stringify(toolText())});
chmodSync('node_modules/.bin/tool', 0o755);
writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages }));
`;

function toolText(): string {
  return [
    '#!/usr/bin/env node',
    'const [what, value] = process.argv.slice(2);',
    "if (what === 'exit') process.exit(Number(value));",
    "if (what === 'die') process.kill(process.pid, 'SIGKILL');",
    "if (what === 'wait') { process.on(value, () => process.exit(42)); setInterval(() => {}, 1000); process.stdout.write('waiting'); }",
    "if (what === 'say') process.stdout.write(process.argv.slice(3).join('|'));",
  ].join('\n');
}

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

let root = '';

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'parley-with-packages-'));
  await mkdir(path.join(root, 'scripts'));
  await cp(SCRIPT, path.join(root, 'scripts/with-packages.mjs'));
  await write('package.json', JSON.stringify({ type: 'module', engines: { node: '>=20.19.0' } }));
  await lock('1.0.0');
  await mkdir(path.join(root, 'npm'));
  await write('npm/npm-cli.js', NPM);
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

async function write(name: string, text: string): Promise<void> {
  await writeFile(path.join(root, name), text);
}

async function lock(version: string): Promise<void> {
  const other = { version: '1.0.0', integrity: 'sha512-b', optional: true };
  const packages = { '': {}, 'node_modules/a': { version, integrity: `sha512-${version}` }, 'node_modules/for-other-machines': other };
  await write('package-lock.json', JSON.stringify({ packages }));
}

async function npmCalls(): Promise<readonly string[]> {
  const text = await readFile(path.join(root, 'npm-calls'), 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

function run(args: readonly string[], onOutput?: (kill: (signal: NodeJS.Signals) => void) => void): Promise<Outcome> {
  const env = { ...process.env, npm_execpath: path.join(root, 'npm/npm-cli.js'), NODE_ENV: 'production' };
  const child = spawn(process.execPath, ['scripts/with-packages.mjs', ...args], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    onOutput?.((signal) => child.kill(signal));
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      resolve({ code, stdout, stderr });
    });
  });
}

describe('scripts/with-packages.mjs', () => {
  it('installs the locked packages on an empty machine, says so, and runs the tool', async () => {
    const outcome = await run(['tool', 'say', 'two words', '--flag']);
    expect(outcome).toMatchObject({ code: 0, stdout: 'two words|--flag' });
    expect(outcome.stderr).toMatch(/^Installing the locked packages \(npm ci\)/u);
    // A production setting around us must not leave the tools out.
    expect(await npmCalls()).toEqual(['ci --no-audit --no-fund NODE_ENV=undefined']);
  });

  it('says every five seconds how far an install is', async () => {
    await write('npm-is-slow', '');
    expect((await run(['tool'])).stderr).toMatch(/^ {4}5 s {2}0 of 2 packages$/mu);
  });

  it('installs nothing when the packages are those of the lockfile, optional ones of other machines aside', async () => {
    await run(['tool']);
    const outcome = await run(['tool']);
    expect(outcome).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await npmCalls()).toHaveLength(1);
  });

  it('installs again after the lockfile changed', async () => {
    await run(['tool']);
    await lock('1.0.1');
    await run(['tool']);
    expect(await npmCalls()).toHaveLength(2);
  });

  it('never installs through a link: the folder behind it is not ours', async () => {
    const theirs = path.join(root, 'theirs');
    await mkdir(theirs);
    await writeFile(path.join(theirs, 'precious'), '');
    await symlink(theirs, path.join(root, 'node_modules'));
    const outcome = await run(['tool']);
    expect(outcome).toMatchObject({ code: 1, stdout: '' });
    expect(outcome.stderr).toMatch(/node_modules is a link, .*remove the link and run this again/u);
    expect(await npmCalls()).toEqual([]);
    expect(await readdir(theirs)).toEqual(['precious']);
  });

  it('runs the tools behind a link whose packages are those of the lockfile', async () => {
    await run(['tool']);
    await rename(path.join(root, 'node_modules'), path.join(root, 'theirs'));
    await symlink(path.join(root, 'theirs'), path.join(root, 'node_modules'));
    expect(await run(['tool', 'say', 'hello'])).toEqual({ code: 0, stdout: 'hello', stderr: '' });
    expect(await npmCalls()).toHaveLength(1);
  });

  it('installs again after an install was cut off before npm wrote its list', async () => {
    await run(['tool']);
    await rm(path.join(root, 'node_modules/.package-lock.json'));
    await run(['tool']);
    expect(await npmCalls()).toHaveLength(2);
  });

  it('installs once when several start at the same time', async () => {
    const outcomes = await Promise.all([run(['tool']), run(['tool']), run(['tool'])]);
    expect(outcomes.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(await npmCalls()).toHaveLength(1);
  });

  it('takes over the lock of a process that is gone', async () => {
    const gone = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
    await new Promise((resolve) => gone.once('close', resolve));
    await write('.installing-packages', String(gone.pid));
    expect(await run(['tool'])).toMatchObject({ code: 0 });
    await expect(readFile(path.join(root, '.installing-packages'))).rejects.toThrow('ENOENT');
  });

  it('fails with the exit code 1 and a reason when npm fails, and starts nothing', async () => {
    await write('npm-fails', '');
    const outcome = await run(['tool', 'say', 'no']);
    expect(outcome).toMatchObject({ code: 1, stdout: '' });
    expect(outcome.stderr).toContain('npm ci failed (exit code 7)');
  });

  it('refuses a Node below the floor before it installs anything, naming both versions', async () => {
    await write('package.json', JSON.stringify({ type: 'module', engines: { node: '>=99.1.0' } }));
    const outcome = await run(['tool']);
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toContain(`Parley needs Node 99.1.0 or newer, and this is ${process.version}`);
    expect(await npmCalls()).toEqual([]);
  });

  it('names a tool that the packages do not have', async () => {
    const outcome = await run(['hammer']);
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toContain('no tool named hammer');
  });

  it('passes the exit code of the tool on', async () => {
    expect(await run(['tool', 'exit', '3'])).toMatchObject({ code: 3 });
  });

  it('turns a tool killed by a signal into the exit code a shell would give', async () => {
    expect(await run(['tool', 'die'])).toMatchObject({ code: 137 });
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('passes %s on to the tool and waits for it', async (signal) => {
    const outcome = await run(['tool', 'wait', signal], (kill) => {
      kill(signal);
    });
    expect(outcome).toMatchObject({ code: 42, stdout: expect.stringContaining('waiting') as string });
  });
});
