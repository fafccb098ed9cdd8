// Runs every command of README.md in a copy of the project, as a newcomer would, with the files the text tells to write. `npm run dev`
// and `npm run demo` begin with the sources; the other commands of the program, whose script is the demo's, with the compiled program.
import { spawn, type ChildProcess } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agreeInBrowser } from '../../src/fake-platform/platform/browser.ts';
import { compiledMain } from '../support/compiled-program.ts';
import { freePorts } from '../support/free-port.ts';
import { SPOKEN_PROMPTS } from '../support/spoken-prompts.ts';

/** The organization of the text. */
const ORG = '5e1f7a52-4a0e-4c1b-9a3e-6f0d2c7b8a11';
const ROOT = path.resolve(import.meta.dirname, '..', '..');
const COPIED = ['package.json', 'package-lock.json', '.npmrc', 'tsconfig.json', 'tsconfig.build.json', 'vitest.config.ts'];
const COPIED_FOLDERS = ['src', 'bots', 'config', 'proto', 'scripts', 'console'];

const readme = await readFile(path.join(ROOT, 'README.md'), 'utf8');
const blocks = (language: string): readonly string[] =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gmu'))].map((match) => match[1] ?? '');
const commands = blocks('sh').flatMap((block) => block.trim().split('\n'));

/** The command of the text that holds these words. */
function commandWith(words: string): string {
  const found = commands.filter((command) => command.includes(words));
  expect(found, words).toHaveLength(1);
  return found[0] ?? '';
}

interface Run {
  readonly code: number | null;
  readonly output: string;
}

interface Manifest {
  readonly scripts: Record<string, string>;
}

/** A command that may run on. */
interface Running {
  readonly ended: Promise<Run>;
  /** What the first group of `pattern` finds in its output, as soon as it does. */
  says(pattern: RegExp): Promise<string>;
}

let copy = '';
let demo: Running;
const children: ChildProcess[] = [];

/** Starts a command line of the README in the copy. The words hold no quotes, so a shell is not needed. */
function start(commandLine: string, more: readonly string[] = []): Running {
  const [program = '', ...args] = commandLine.split(' ');
  const child = spawn(program, [...args, ...more], { cwd: copy, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  children.push(child);
  let output = '';
  let look = (): void => undefined;
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      output += bytes.toString();
      look();
    });
  }
  const ended = new Promise<Run>((resolve) => {
    child.once('close', (code) => {
      resolve({ code, output });
    });
  });
  const says = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      look = () => {
        const found = pattern.exec(output)?.[1];
        if (found !== undefined) resolve(found);
      };
      look();
      void ended.then(() => {
        reject(new Error(`${commandLine} ended: ${output}`));
      });
    });
  return { ended, says };
}

function run(commandLine: string, more: readonly string[] = []): Promise<Run> {
  return start(commandLine, more).ended;
}

beforeAll(async () => {
  copy = await mkdtemp(path.join(os.tmpdir(), 'parley-readme-'));
  for (const name of [...COPIED, ...COPIED_FOLDERS]) await cp(path.join(ROOT, name), path.join(copy, name), { recursive: true });
  await symlink(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
  await Promise.all([path.join(copy, 'cache'), SPOKEN_PROMPTS].map((folder) => mkdir(folder, { recursive: true })));
  await symlink(SPOKEN_PROMPTS, path.join(copy, 'cache', 'prompts'));
  const manifest = JSON.parse(await readFile(path.join(copy, 'package.json'), 'utf8')) as Manifest;
  expect(manifest.scripts['demo']).toBe(`${manifest.scripts['parley'] ?? ''} demo`);
  manifest.scripts['parley'] = `node ${compiledMain()}`;
  await writeFile(path.join(copy, 'package.json'), JSON.stringify(manifest));
  const [helloBot = '', helloTest = ''] = blocks('ts');
  await writeFile(path.join(copy, 'bots', 'hello.ts'), helloBot);
  await writeFile(path.join(copy, 'bots', 'hello.test.ts'), helloTest);
  // Its callers speak and listen for most of the time, so the other commands run meanwhile.
  demo = start('npm run demo');
});

afterAll(async () => {
  for (const { pid, exitCode, signalCode } of children) {
    if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
  }
  await rm(copy, { recursive: true, force: true });
});

describe('the README', () => {
  // The test of the Dockerfile builds, and runs what was built without the development tools.
  it('holds the commands that are run below, by the check of the package or by the test of the image, and no others', () => {
    expect(commands).toEqual([
      ...['npm create parley-voice my-bots', 'cd my-bots', 'npm install', 'npm test', 'npm run dev'],
      'npm run demo',
      'npm test',
      'npm run parley -- call grpc://127.0.0.1:8086 --org test --agent hello --press 7 --press 0 --expect transfer --record hello.wav',
      'npm run parley -- platform --config-out parley.platform.yaml',
      'npm run parley -- admin login --config parley.platform.yaml',
      'npm run parley -- serve --config parley.platform.yaml',
      `npm run parley -- platform authorize ${ORG}`,
      `npm run parley -- platform token ${ORG}`,
      `npm run parley -- call grpc://127.0.0.1:8086 --org ${ORG} --token-file token.jws --agent front-desk --press 0 --expect transfer`,
      'npm run parley -- config --grpc.port=8443 --tls.mode=off --auth.enabled=false --grpc.host=127.0.0.1',
      'npm run build',
      'node dist/src/cli/main.js serve --help',
    ]);
  });

  // The whole suite inside one of its own tests would never end; the gate runs this very command on a fresh clone.
  it('npm test runs the tests of the bot that the text describes', async () => {
    const { code, output } = await run('npm test', ['--', 'bots/hello.test.ts']);
    expect(code, output).toBe(0);
    expect(output).toMatch(/1 passed/);
  }, 180_000);

  it('the bot of the text compiles', async () => {
    const settings = { extends: './tsconfig.json', include: ['bots/hello.ts', 'bots/hello.test.ts', 'src/**/*.d.ts'] };
    await writeFile(path.join(copy, 'tsconfig.hello.json'), JSON.stringify(settings));
    const { code, output } = await run('node node_modules/typescript-native/bin/tsc -p tsconfig.hello.json');
    expect(code, output).toBe(0);
  }, 180_000);

  it('npm run dev and parley call hold a call with it', async () => {
    const port = await start('npm run dev', ['--', '--port=0', '--grpc.port=0', '--ops.port=0', '--json']).says(
      /"event":"ready".*?"port":(\d+)/u,
    );
    const call = commandWith(' --agent hello ');
    const { code, output } = await run(call.replace(':8086', `:${port}`));
    expect(code, output).toBe(0);
    expect(output).toContain('You pressed 7.');
    expect(output).toContain('transferred');
    expect((await readFile(path.join(copy, 'hello.wav'))).toString('latin1', 0, 4)).toBe('RIFF');
  }, 180_000);

  it('parley platform, admin login, serve, authorize, token and call work one after the other, as manual commands', async () => {
    const [port = 0, grpcPort = 0, webhookPort = 0, redirectPort = 0] = await freePorts(4);
    const platform = start(commandWith(' platform --config-out '), [
      ...[`--port=${String(port)}`, `--server-port=${String(grpcPort)}`, `--webhook-port=${String(webhookPort)}`],
      `--redirect-uri=http://127.0.0.1:${String(redirectPort)}/callback`,
    ]);
    await platform.says(/(Ctrl-C)/u);
    const login = start(commandWith(' admin login '), ['--no-browser']);
    await agreeInBrowser(await login.says(/^ *(http:\S+)$/mu), AbortSignal.timeout(60_000));
    expect(await login.ended).toMatchObject({ code: 0 });
    await start(commandWith(' serve --config '), ['--ops.port=0']).says(/^(ready) /mu);
    const on = [`--port=${String(port)}`];
    for (const command of [commandWith(' platform authorize '), commandWith(' platform token ')]) {
      const { code, output } = await run(command, on);
      expect(code, output).toBe(0);
    }
    const { code, output } = await run(commandWith(' --token-file ').replace(':8086', `:${String(grpcPort)}`));
    expect(code, output).toBe(0);
    expect(output).toContain('transferred');
  }, 240_000);

  it('parley config shows what comes out and where it was set', async () => {
    const { code, output } = await run(commandWith(' config '));
    expect(code, output).toBe(0);
    expect(output).toMatch(/grpc\.port\s+8443\s+.*--grpc\.port/u);
  }, 180_000);

  it('npm run demo goes from the login to a call with a renewed token and leaves the recordings', async () => {
    const { code, output } = await demo.ended;
    expect(code, output).toBe(0);
    const recordings = ['appointments.wav', 'code-line.wav', 'echo.wav', 'front-desk-again.wav', 'front-desk-socket.wav', 'front-desk.wav'];
    expect((await readdir(path.join(copy, 'demo-output'))).sort()).toEqual(recordings);
    expect(output.match(/^ok {4}/gmu)).toHaveLength(6);
    const steps = output.match(/^(?:platform|logged in|ready|authorized|registered|renewed) {2}/gmu)?.map((step) => step.trim());
    expect(steps).toEqual(['platform', 'logged in', 'ready', 'authorized', 'registered', 'renewed']);
  }, 240_000);

  it('links only to files that are there', async () => {
    const targets = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/gu)].map((match) => match[1] ?? '');
    for (const target of targets) await expect(readFile(path.join(ROOT, target)), target).resolves.toBeDefined();
  });
});
