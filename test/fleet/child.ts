// A program as a process of its own: started, told signals, waited for, and never left behind. Knows no program.
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';

/** How a process ended. */
export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** How one is started. */
export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** All that it finds in its environment, beside the path and the folders of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where its standard error goes; default: into {@link Child.said}. */
  readonly stderr?: number;
}

/** Most characters kept of what it says; the latest count. */
const MAX_SAID = 65_536;
/** Longest wait for a process that was told to end, ms. */
const END_LIMIT_MS = 60_000;

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** One process. Whoever starts it ends it; those left are killed when this process ends. */
export class Child {
  readonly #child: ChildProcess;
  readonly #ended: Promise<ChildExit>;
  #exit: ChildExit | undefined;
  #said = '';

  constructor({ command, args, cwd, env = {}, stderr }: ChildOptions) {
    const { PATH = '', HOME = '', TMPDIR } = process.env;
    const options: SpawnOptions = {
      env: { PATH, HOME, ...(TMPDIR === undefined ? {} : { TMPDIR }), NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', stderr ?? 'pipe'],
      ...(cwd === undefined ? {} : { cwd }),
    };
    this.#child = spawn(command, args, options);
    running.add(this.#child);
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (bytes: Buffer) => {
        this.#said = (this.#said + bytes.toString()).slice(-MAX_SAID);
      });
    }
    this.#ended = new Promise((resolve) => {
      const over = (exit: ChildExit): void => {
        this.#exit ??= exit;
        running.delete(this.#child);
        resolve(this.#exit);
      };
      this.#child.once('error', (error) => {
        this.#said += error.message;
        over({ code: null, signal: null });
      });
      // Not `close`: what it started may hold its streams.
      this.#child.once('exit', (code, signal) => {
        over({ code, signal });
      });
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** The latest that it said. */
  get said(): string {
    return this.#said;
  }

  get isOver(): boolean {
    return this.#exit !== undefined;
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.isOver) this.#child.kill(signal);
  }

  /** Waits for its end. @throws Error when it does not come. */
  async ended(limitMs = END_LIMIT_MS): Promise<ChildExit> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`a process has not ended after ${String(limitMs)} ms; it said: ${this.#said}`));
      }, limitMs);
    });
    try {
      return await Promise.race([this.#ended, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** With SIGKILL, whatever its state; resolves when it is gone. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.ended();
  }
}
