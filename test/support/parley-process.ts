// `parley` as a process of its own, compiled: for signals, exit codes, the standard input, and what a terminal shows.
import { spawn, type ChildProcess } from 'node:child_process';
import { packageRoot } from '../../src/base/package-root.ts';
import { compiledFlags, compiledMain } from './compiled-program.ts';
import { SHORT_LIFE } from '../../scripts/node-flags.mjs';
import { until } from './until.ts';

/** Generous for a busy machine, ms. */
const LIMIT_MS = 60_000;

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** One `parley …`. Whoever starts it kills it. */
export class ParleyProcess {
  stdout = '';
  stderr = '';
  exit: Exit | undefined;
  readonly #child: ChildProcess;

  /**
   * @param argv - after `parley`. The environment of this process is not passed on, only its path and its folders.
   * @param input - what is piped in; default nothing.
   * @param maxDescriptors - how many files and sockets it may have open; default as many as this process.
   * @param before - the words of a command that starts it, such as one that takes rights away.
   */
  constructor(argv: readonly string[], input?: string, maxDescriptors?: number, before: readonly string[] = []) {
    const { PATH, HOME, TMPDIR } = process.env;
    const limit = maxDescriptors === undefined ? '' : `ulimit -n ${String(maxDescriptors)} && `;
    const command = [...before, process.execPath, ...SHORT_LIFE, compiledMain(), ...compiledFlags(argv)];
    this.#child = spawn('/bin/sh', ['-c', `${limit}exec "$@"`, 'sh', ...command], {
      cwd: packageRoot(),
      env: { PATH, HOME, TMPDIR, NO_COLOR: '1' },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    this.#child.stdin?.end(input);
    this.#child.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    this.#child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    // Its streams have ended too by then.
    this.#child.on('close', (code, signal) => {
      this.exit = { code, signal };
    });
  }

  /** Waits until `isSo` holds of what it has said so far. */
  async said(what: string, isSo: () => boolean): Promise<void> {
    await until(() => `${what}; it said: ${this.stdout}${this.stderr}`, isSo, LIMIT_MS);
  }

  /** Waits for the end of the process. */
  async ended(): Promise<Exit> {
    let exit = this.exit;
    await this.said('the process ends', () => {
      exit = this.exit;
      return exit !== undefined;
    });
    return exit ?? { code: null, signal: null };
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
