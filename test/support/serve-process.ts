// `parley serve` as a process of its own: for signals, exit codes and what a terminal shows.
import { spawn, type ChildProcess } from 'node:child_process';
import { packageRoot } from '../../src/base/package-root.ts';
import { until } from './until.ts';

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What the ready line says as JSON. */
export interface ReadyLine {
  readonly event: 'ready';
  readonly address: string;
  readonly port: number;
  readonly opsPort: number;
  readonly hasTokenCheck: boolean;
}

/** One `parley serve`. Whoever starts it kills it. */
export class ServeProcess {
  stdout = '';
  stderr = '';
  exit: Exit | undefined;
  readonly #child: ChildProcess;

  /** @param flags - after `serve`. The environment of this process is not passed on, only its path. */
  constructor(flags: readonly string[]) {
    this.#child = spawn(process.execPath, ['--import', 'tsx', '--conditions=development', 'src/cli/main.ts', 'serve', ...flags], {
      cwd: packageRoot(),
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    this.#child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    // Its streams have ended too by then.
    this.#child.on('close', (code, signal) => {
      this.exit = { code, signal };
    });
  }

  /** Waits for the ready line; the process must have been given `--json`. */
  async ready(): Promise<ReadyLine> {
    await until(
      () => `the server is ready; it said: ${this.stdout}${this.stderr}`,
      () => this.stdout.includes('\n') || this.exit !== undefined,
      20_000,
    );
    return JSON.parse(this.stdout.split('\n')[0] ?? '') as ReadyLine;
  }

  /** Waits for the end of the process. */
  async ended(): Promise<Exit> {
    let exit = this.exit;
    await until(
      () => `the process ends; it said: ${this.stdout}${this.stderr}`,
      () => {
        exit = this.exit;
        return exit !== undefined;
      },
      20_000,
    );
    return exit ?? { code: null, signal: null };
  }

  /** Waits for a line of its log. */
  async logged(text: string): Promise<void> {
    await until(
      () => `"${text}" is in the log: ${this.stderr}`,
      () => this.stderr.includes(text),
    );
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends it, however it is. */
  async kill(): Promise<void> {
    if (this.exit === undefined) this.#child.kill('SIGKILL');
    await this.ended();
  }
}
