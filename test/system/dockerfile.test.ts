// The container image without a container engine: the steps of the Dockerfile are run in an empty folder, and the result is
// started the way the image would be, as a user without rights on a tree that nobody can write to.
import { spawn, spawnSync, type ChildProcessByStdio } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SERVER_FLAGS } from '../../src/app/workers/node-flags.ts';
import { freePort } from '../support/free-port.ts';
import { ImageBuild, instructionsOf, mayEnter, type BuiltImage } from '../support/image-build.ts';
import { ROOT } from '../support/source-tree.ts';
import { until, within } from '../support/until.ts';

const DOCKERFILE = readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8');
const DOCKERIGNORE = readFileSync(path.join(ROOT, '.dockerignore'), 'utf8');
const DIGEST = `sha256:${'0'.repeat(64)}`;
/** For a busy machine. */
const BUILD_LIMIT_MS = 8 * 60_000;
/**
 * Every clean clone proves `npm ci` before it can run this test: what it has installed is linked here. npm changes only its list, and so
 * that one is a copy.
 */
const INSTALLED = path.join(ROOT, 'node_modules');
const INSTEAD_OF = new Map([
  [
    'npm ci --no-audit --no-fund',
    `test -f package-lock.json -a -f .npmrc; mkdir node_modules; cp -al ${INSTALLED}/. node_modules || cp -a ${INSTALLED}/. node_modules
    cp --remove-destination ${INSTALLED}/.package-lock.json node_modules`,
  ],
]);
const STOP_LIMIT_MS = 60_000;
/** The user "nobody" of Debian; only root can become somebody else, others are without root's rights anyway. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;

type Server = ChildProcessByStdio<null, Readable, Readable>;

let target = '';
let image: BuiltImage;
let running: Server | undefined;

beforeAll(async () => {
  target = mkdtempSync(path.join(tmpdir(), 'parley-image-'));
  chmodSync(target, 0o755);
  // Everything else of this process stays outside.
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], npm_config_prefer_offline: 'true' };
  image = await ImageBuild.run(ROOT, target, new Map([['NODE_DIGEST', DIGEST]]), env, INSTEAD_OF);
  expect(instructionsOf(DOCKERFILE)).toContainEqual({ word: 'RUN', rest: [...INSTEAD_OF.keys()][0] });
  // The base image brings its own Node; here it must lie where the user without rights can reach it.
  mkdirSync(path.join(image.root, 'usr/local/bin'), { recursive: true });
  copyFileSync(process.execPath, path.join(image.root, 'usr/local/bin/node'));
  writable(image.root, false);
  for (const volume of image.volumes) {
    writable(path.join(image.root, volume), true);
    if (NOBODY !== undefined) chownSync(path.join(image.root, volume), NOBODY.uid, NOBODY.gid);
  }
}, BUILD_LIMIT_MS);

afterEach(async () => {
  if (running?.exitCode === null && running.signalCode === null) await stop(running);
  running = undefined;
});

afterAll(() => {
  if (existsSync(target)) writable(target, true);
  rmSync(target, { recursive: true, force: true });
});

/** Packages are linked: only their folders are the image's own. */
function writable(place: string, may: boolean): void {
  const found = lstatSync(place);
  const isFolder = found.isDirectory();
  if (found.isSymbolicLink() || (!isFolder && place.includes('/node_modules/'))) return;
  if (may) chmodSync(place, found.mode | 0o200);
  if (isFolder) for (const name of readdirSync(place)) writable(path.join(place, name), may);
  if (!may) chmodSync(place, (found.mode & ~0o222) | 0o444 | (isFolder ? 0o111 : 0));
}

function inside(place: string): string {
  return path.join(image.root, path.posix.resolve(image.workdir, place));
}

/** The environment of the container, with paths that lie in the image; nothing of the environment of the tests. */
function containerEnv(settings: Readonly<Record<string, string>>): Record<string, string> {
  const env: Record<string, string> = { PATH: path.join(image.root, 'usr/local/bin') };
  for (const [name, value] of Object.entries(image.env)) env[name] = value.startsWith('/') ? path.join(image.root, value) : value;
  return { ...env, ...settings };
}

function start([program = '', ...args]: readonly string[], settings: Readonly<Record<string, string>> = {}): Server {
  const options = { cwd: inside('.'), env: containerEnv(settings), ...NOBODY };
  return spawn(path.join(image.root, 'usr/local/bin', program), args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function outcome(child: Server): Promise<{ code: number | null; output: string }> {
  let output = '';
  const take = (bytes: Buffer): void => {
    output += bytes.toString();
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const code = await within('the program ends', new Promise<number | null>((resolve) => child.once('close', resolve)));
  return { code, output };
}

/** Tells the server to stop and waits for it. @returns its exit code, or the signal that ended it. */
async function stop(child: Server): Promise<number | NodeJS.Signals | null> {
  const closed = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('close', (code, signal) => {
      resolve(code ?? signal);
    });
  });
  child.kill('SIGTERM');
  try {
    return await within('the server stops', closed, STOP_LIMIT_MS);
  } catch (thrown) {
    child.kill('SIGKILL');
    throw thrown;
  }
}

describe('the Dockerfile', () => {
  it('takes every base by a digest that has no default', () => {
    const instructions = instructionsOf(DOCKERFILE);
    const bases = instructions.filter(({ word }) => word === 'FROM').map(({ rest }) => rest);
    expect(bases.length).toBeGreaterThan(0);
    for (const base of bases) expect(base).toMatch(/^\$\{NODE_IMAGE\}@\$\{NODE_DIGEST\}(?: AS \w+)?$/u);
    expect(instructions).toContainEqual({ word: 'ARG', rest: 'NODE_DIGEST' });
  });

  it('does not build without the digest', async () => {
    const build = ImageBuild.run(ROOT, path.join(target, 'without-digest'), new Map(), {});
    await expect(build).rejects.toThrow('has no digest');
  });

  it.each([
    'node_modules/zod/index.js',
    '.git/config',
    'src/store/.env',
    '.env.production',
    'bots/echo.test.ts',
    'test/unit/x.ts',
    'demo-output/a.wav',
    'src/node_modules/a.js',
    'scripts/check.mjs',
    'cache/prompts/a',
    'data/admin.store',
  ])('lets %s stay outside', (file) => {
    expect(mayEnter(DOCKERIGNORE, file)).toBe(false);
  });

  it.each(['src/cli/main.ts', 'bots/prompts/chime.wav', 'package-lock.json', '.npmrc', 'config/platforms/fake.yaml'])(
    'lets %s in',
    (file) => {
      expect(mayEnter(DOCKERIGNORE, file)).toBe(true);
    },
  );
});

describe('the image', () => {
  it('runs as a user who is not root, says so by number, and starts its program without a shell', () => {
    expect(image.user).toMatch(/^[1-9]\d*:[1-9]\d*$/u);
    expect(image.command).toEqual(['node', ...SERVER_FLAGS, 'dist/src/cli/main.js', 'serve']);
    expect(image.healthCommand).toEqual(['node', 'dist/src/cli/main.js', 'health']);
    expect(image.labels).toContain('org.opencontainers.image.licenses');
  });

  it('holds the packages of production and no other', () => {
    const schema = z.object({
      packages: z.record(z.string(), z.object({ dev: z.boolean().optional(), devOptional: z.boolean().optional() })),
    });
    const { packages } = schema.parse(JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')));
    const places = Object.entries(packages).filter(([place]) => place !== '');
    const present = (place: string): boolean => existsSync(inside(path.join(place, 'package.json')));
    expect(places.filter(([place, { dev, devOptional }]) => (dev === true || devOptional === true) && present(place))).toEqual([]);
    expect(places.filter(([place, { dev }]) => dev !== true && present(place)).length).toBeGreaterThan(50);
  });

  it('holds what runs, and no source, test or tool', () => {
    expect(readdirSync(inside('.')).sort()).toEqual([
      'LICENSE',
      'bots',
      'cache',
      'config',
      'data',
      'dist',
      'node_modules',
      'package.json',
      'proto',
    ]);
    expect(readdirSync(inside('bots'))).toEqual(['prompts']);
    const built = readdirSync(inside('dist'), { recursive: true }).map(String);
    expect(built.filter((file) => /\.test\.|(?:^|\/)(?:test|tests|scripts)(?:\/|$)/u.test(file))).toEqual([]);
    expect(built).toContain('bots/front-desk.js');
  });

  it('leaves no file that its user could change, but in the folders for spoken prompts and the sealed store', () => {
    const probe =
      "const fs = require('node:fs'); for (const p of process.argv.slice(1)) { try { fs.accessSync(p, 2); console.log(p); } catch {} }";
    const candidates = [image.root, inside('.'), inside('dist/src/cli/main.js'), inside('config/default.yaml')];
    const writable = [inside('cache/prompts'), inside('data')];
    const node = path.join(image.root, 'usr/local/bin/node');
    const { stdout } = spawnSync(node, ['-e', probe, ...candidates, ...writable], { encoding: 'utf8', env: {}, ...NOBODY });
    expect(stdout.trim().split('\n')).toEqual(writable);
  });

  it('prints its version', async () => {
    const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')));
    expect(await outcome(start(['node', 'dist/src/cli/main.js', '--version']))).toEqual({ code: 0, output: `${version}\n` });
  });

  it('does not start with the shipped configuration: it has no certificate, and that is said', async () => {
    const { code, output } = await outcome(start(image.command));
    expect(code).toBe(2);
    expect(output).toContain('tls.certificate_file');
  });

  it('serves, is found healthy by its own health check, and stops on SIGTERM', async () => {
    const port = await freePort();
    const settings = {
      ...{ PARLEY_GRPC_HOST: '127.0.0.1', PARLEY_GRPC_PORT: '0', PARLEY_TLS_MODE: 'off', PARLEY_AUTH_ENABLED: 'false' },
      PARLEY_OPS_PORT: String(port),
    };
    expect((await outcome(start(image.healthCommand, settings))).code).toBe(1);

    running = start(image.command, settings);
    let output = '';
    const take = (bytes: Buffer): void => {
      output += bytes.toString();
    };
    running.stdout.on('data', take);
    running.stderr.on('data', take);
    const server = running;
    await until(
      () => `the server is ready; it says ${output}`,
      () => /^ready {2}127\.0\.0\.1:\d+ /mu.test(output) || server.exitCode !== null || server.signalCode !== null,
    );
    expect(output).toMatch(/^ready .*appointments, clinic, code-line, echo, front-desk/mu);
    expect(await outcome(start(image.healthCommand, settings))).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^ready/u) as string,
    });
    // Only the embedded voice writes; that it can shows that the one writable folder is the right one.
    await until('a prompt is kept on disk', () => readdirSync(inside('cache/prompts')).length > 0);

    expect(await stop(running), output).toBe(0);
    expect(output).not.toMatch(/"level":"(?:error|fatal)"/u);
  });
});
