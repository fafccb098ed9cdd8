// Runs every command of README.md in a copy of the project, as a newcomer would, with the files the text tells to write.
import { spawn, type ChildProcess } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
const COPIED = ['package.json', 'package-lock.json', '.npmrc', 'tsconfig.json', 'tsconfig.build.json', 'vitest.config.ts'];
const COPIED_FOLDERS = ['src', 'bots', 'config', 'proto', 'scripts'];

const readme = await readFile(path.join(ROOT, 'README.md'), 'utf8');
const blocks = (language: string): readonly string[] =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gmu'))].map((match) => match[1] ?? '');
const commands = blocks('sh').flatMap((block) => block.trim().split('\n'));

interface Run {
  readonly code: number | null;
  readonly output: string;
}

let copy = '';
let server: ChildProcess | undefined;

/** Runs a command line of the README in the copy. The words hold no quotes, so a shell is not needed. */
function start(commandLine: string, more: readonly string[] = []): ChildProcess {
  const [program = '', ...args] = commandLine.split(' ');
  return spawn(program, [...args, ...more], { cwd: copy, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
}

function run(commandLine: string, more: readonly string[] = []): Promise<Run> {
  const child = start(commandLine, more);
  let output = '';
  child.stdout?.on('data', (bytes: Buffer) => (output += bytes.toString()));
  child.stderr?.on('data', (bytes: Buffer) => (output += bytes.toString()));
  return new Promise((resolve) => {
    child.once('close', (code) => {
      resolve({ code, output });
    });
  });
}

beforeAll(async () => {
  copy = await mkdtemp(path.join(os.tmpdir(), 'parley-readme-'));
  for (const name of [...COPIED, ...COPIED_FOLDERS]) await cp(path.join(ROOT, name), path.join(copy, name), { recursive: true });
  await symlink(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
  const [helloBot = '', helloTest = ''] = blocks('ts');
  await writeFile(path.join(copy, 'bots', 'hello.ts'), helloBot);
  await writeFile(path.join(copy, 'bots', 'hello.test.ts'), helloTest);
});

afterAll(async () => {
  if (server?.pid !== undefined && server.exitCode === null) process.kill(-server.pid, 'SIGKILL');
  await rm(copy, { recursive: true, force: true });
});

describe('the README', () => {
  it('holds the commands that are run below, and no others', () => {
    expect(commands).toEqual([
      'npm run demo',
      'npm test',
      'npm run dev',
      'npm run parley -- call grpc://127.0.0.1:8086 --org test --agent hello --press 7 --press 0 --expect transfer --record hello.wav',
      'npm run parley -- config --grpc.port=8443 --tls.mode=off --auth.enabled=false --grpc.host=127.0.0.1',
      'npm run build',
      'node dist/src/cli/main.js serve --help',
    ]);
  });

  it('npm run demo places a call to each bundled bot and leaves the recordings', async () => {
    const { code, output } = await run('npm run demo');
    expect(code, output).toBe(0);
    expect((await readdir(path.join(copy, 'demo-output'))).sort()).toEqual(['code-line.wav', 'echo.wav', 'front-desk.wav']);
    expect(output.match(/^ok {4}/gmu)).toHaveLength(3);
  }, 60_000);

  // The whole suite inside one of its own tests would never end; the gate runs this very command on a fresh clone.
  it('npm test runs the tests of the bot that the text tells to write', async () => {
    const { code, output } = await run('npm test', ['--', 'bots/hello.test.ts']);
    expect(code, output).toBe(0);
    expect(output).toMatch(/1 passed/);
  }, 60_000);

  it('the bot of the text compiles', async () => {
    const settings = { extends: './tsconfig.json', include: ['bots/hello.ts', 'bots/hello.test.ts', 'src/**/*.d.ts'] };
    await writeFile(path.join(copy, 'tsconfig.hello.json'), JSON.stringify(settings));
    const { code, output } = await run('npx tsc -p tsconfig.hello.json');
    expect(code, output).toBe(0);
  }, 60_000);

  it('npm run dev and parley call hold a call with it', async () => {
    server = start('npm run dev', ['--', '--grpc.port=0', '--ops.port=0', '--json']);
    const port = await new Promise<string>((resolve, reject) => {
      let output = '';
      const look = (bytes: Buffer): void => {
        output += bytes.toString();
        const found = /"event":"ready".*?"port":(\d+)/u.exec(output)?.[1];
        if (found !== undefined) resolve(found);
      };
      server?.stdout?.on('data', look);
      server?.stderr?.on('data', look);
      server?.once('exit', () => {
        reject(new Error(`the server ended: ${output}`));
      });
    });
    const call = commands.find((command) => command.includes(' call ')) ?? '';
    const { code, output } = await run(call.replace(':8086', `:${port}`));
    expect(code, output).toBe(0);
    expect(output).toContain('You pressed 7.');
    expect(output).toContain('transferred');
    expect((await readFile(path.join(copy, 'hello.wav'))).toString('latin1', 0, 4)).toBe('RIFF');
  }, 60_000);

  it('parley config shows what comes out and where it was set', async () => {
    const { code, output } = await run(commands.find((command) => command.includes(' config ')) ?? '');
    expect(code, output).toBe(0);
    expect(output).toMatch(/grpc\.port\s+8443\s+.*--grpc\.port/u);
  }, 60_000);

  it('npm run build makes a server that runs without the development tools', async () => {
    const built = await run('npm run build');
    expect(built.code, built.output).toBe(0);
    const help = await run('node dist/src/cli/main.js serve --help');
    expect(help.code, help.output).toBe(0);
    expect(help.output).toContain('Example');
  }, 120_000);

  it('links only to files that are there', async () => {
    const targets = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/gu)].map((match) => match[1] ?? '');
    for (const target of targets) await expect(readFile(path.join(ROOT, target)), target).resolves.toBeDefined();
  });
});
