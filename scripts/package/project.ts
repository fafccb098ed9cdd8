// A project of bots outside of this repository, and the commands that its author runs there, with one version of Node.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { packageRoot } from '../../src/base/package-root.ts';
import { until, within } from '../../test/support/until.ts';

/** Longest time of one command, ms: it may download packages. */
const COMMAND_LIMIT_MS = 5 * 60_000;
/** Longest time until a server takes calls, ms. */
const START_LIMIT_MS = 60_000;

/** How a command ended. */
export interface Ended {
  readonly code: number | null;
  /** Both streams. */
  readonly output: string;
  readonly seconds: number;
}

/** How a command is run. */
export interface RunOptions {
  /** Default: the folder of the project. */
  readonly cwd?: string;
  /** Default: the user of this process. */
  readonly uid?: number;
  /** Default: the one of this process. */
  readonly home?: string;
}

/** A command that has been started. */
export class Running {
  output = '';
  #code: number | null | undefined;
  readonly #child: ChildProcess;
  readonly #closed: Promise<void>;

  constructor(
    argv: readonly string[],
    options: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>>; readonly uid?: number | undefined },
  ) {
    const [file = '', ...args] = argv;
    // In a group of its own: npm starts a shell, which starts the program.
    this.#child = spawn(file, args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const take = (chunk: Buffer): void => void (this.output += chunk.toString());
    this.#child.stdout?.on('data', take);
    this.#child.stderr?.on('data', take);
    this.#child.on('error', (error) => (this.output += error.message));
    this.#closed = new Promise((resolve) => {
      this.#child.on('close', (code) => {
        this.#code = code;
        resolve();
      });
    });
  }

  get code(): number | null | undefined {
    return this.#code;
  }

  /** Waits until the output has this in it. @throws Error with the output when it does not, or the command ends first. */
  async says(pattern: RegExp, limitMs = START_LIMIT_MS): Promise<void> {
    await until(
      () => `the command says ${String(pattern)}; it said: ${this.output}`,
      () => pattern.test(this.output) || this.#code !== undefined,
      limitMs,
    );
    if (!pattern.test(this.output)) throw new Error(`the command ended without ${String(pattern)}: ${this.output}`);
  }

  async ended(limitMs = COMMAND_LIMIT_MS): Promise<void> {
    await within(() => `the command ends; it said: ${this.output}`, this.#closed, limitMs);
  }

  async stop(): Promise<void> {
    if (this.#code === undefined && this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGTERM');
    await this.ended(START_LIMIT_MS);
  }
}

/** A project of a stranger. */
export class Project {
  /** Where it lies: a path with a space. */
  readonly folder: string;
  readonly #bin: string;

  /** @param bin - folder of the Node to be used. */
  constructor(folder: string, bin: string) {
    this.folder = folder;
    this.#bin = bin;
  }

  start(argv: readonly string[], { cwd = this.folder, uid, home }: RunOptions = {}): Running {
    return new Running(argv, { cwd, env: this.environment(home), uid });
  }

  /** Of this process no more than the way to programs, the user's folder with the defaults and the cache of npm, and whom it trusts. */
  environment(home = process.env['HOME'] ?? ''): Record<string, string> {
    const { PATH = '', NODE_EXTRA_CA_CERTS } = process.env;
    return {
      PATH: `${this.#bin}${path.delimiter}${PATH}`,
      HOME: home,
      NO_COLOR: '1',
      npm_config_prefer_offline: 'true',
      ...(NODE_EXTRA_CA_CERTS !== undefined && { NODE_EXTRA_CA_CERTS }),
    };
  }

  async run(argv: readonly string[], options: RunOptions = {}): Promise<Ended> {
    const began = performance.now();
    const running = this.start(argv, options);
    await running.ended();
    return { code: running.code ?? null, output: running.output, seconds: (performance.now() - began) / 1000 };
  }

  /** As {@link run}. @throws Error with the output unless it ends with 0. */
  async passes(argv: readonly string[], options: RunOptions = {}): Promise<Ended> {
    const ended = await this.run(argv, options);
    if (ended.code !== 0) throw new Error(`${argv.join(' ')} ended with ${String(ended.code)}: ${ended.output}`);
    return ended;
  }

  /** Changes a file of the project. */
  async edit(file: string, from: string, to: string): Promise<void> {
    const place = path.join(this.folder, file);
    const text = await readFile(place, 'utf8');
    if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
    await writeFile(place, text.replaceAll(from, to));
  }
}

/**
 * A version of Node, which npm has as a package.
 *
 * @returns the folder with `node` in it.
 */
export async function nodeOf(major: string): Promise<string> {
  const prefix = path.join(packageRoot(), 'cache', 'nodes', major);
  mkdirSync(prefix, { recursive: true });
  const installer = new Running(['npm', 'install', '--no-save', '--no-audit', '--no-fund', `--prefix=${prefix}`, `node@${major}`], {
    cwd: prefix,
    env: process.env,
  });
  await installer.ended();
  if (installer.code !== 0) throw new Error(`node@${major} was not installed: ${installer.output}`);
  return path.join(prefix, 'node_modules', 'node', 'bin');
}
