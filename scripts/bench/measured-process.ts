// A child process that is measured: started on a core of its own, asked through the probe, stopped or killed at the end.
// Knows nothing of what the process does.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { SERVER_FLAGS } from '../../src/app/workers/node-flags.ts';

/** CPU time since the process began, µs, and the process's own clock when it was read. */
export interface CpuReading {
  readonly user: number;
  readonly system: number;
  readonly atMs: number;
}

/** What the probe can be asked, and what it answers. */
interface Answers {
  readonly cpu: CpuReading;
  /** After a forced collection. */
  readonly memory: NodeJS.MemoryUsage;
  readonly rss: number;
  /** Delay of its event loop since the last time it was asked, 99th percentile, ms. */
  readonly loop_delay: number;
  readonly resources: readonly string[];
  readonly start_profile: boolean;
  readonly stop_profile: unknown;
}

/** How to start it. */
export interface ProcessOptions {
  /** Arguments of Node, the script included. */
  readonly args: readonly string[];
  /** The core it is bound to, where the machine can do that; undefined leaves it free. */
  readonly core: number | undefined;
  /** Told every line of its stderr; default: passed on. */
  readonly onStderr?: (line: string) => void;
}

const PROBE = path.join(import.meta.dirname, 'probe.mjs');
const ANSWER_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 30_000;

const running = new Set<MeasuredProcess>();
process.once('exit', () => {
  for (const child of running) child.kill();
});

/** Whether processes can be bound to a core on this machine. */
const canBind = spawnSync('taskset', ['-c', '0', 'true']).status === 0;

/** The server that is measured has the first core for itself, everything else has the second; neither on a machine with one. */
export const CORES: { readonly server: number | undefined; readonly load: number | undefined } =
  os.availableParallelism() >= 2 ? { server: 0, load: 1 } : { server: undefined, load: undefined };

/** Binds a process that runs, and what it starts from now on, to a core, where the machine can do that. */
export function bindTo(core: number | undefined, pid: number | undefined): void {
  if (core !== undefined && canBind) spawnSync('taskset', ['-a', '-p', '-c', String(core), String(pid)]);
}

/** One such process. Whoever starts it stops it; those left are killed when this process ends. */
export class MeasuredProcess {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: unknown) => void>();
  readonly #lines: AsyncIterator<string> | undefined;
  readonly #exit: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  #asked = 0;
  #isOver = false;

  constructor({ args, core, onStderr }: ProcessOptions) {
    // As the image starts a server.
    const node = [process.execPath, ...SERVER_FLAGS, '--expose-gc', `--import=${PROBE}`, ...args];
    const [command = process.execPath, ...rest] = core === undefined || !canBind ? node : ['taskset', '-c', String(core), ...node];
    this.#child = spawn(command, rest, { stdio: ['ignore', 'pipe', onStderr === undefined ? 'inherit' : 'pipe', 'ipc'] });
    running.add(this);
    this.#exit = once(this.#child, 'exit').then(([code, signal]: unknown[]) => {
      this.#isOver = true;
      running.delete(this);
      return { code: typeof code === 'number' ? code : null, signal: typeof signal === 'string' ? (signal as NodeJS.Signals) : null };
    });
    this.#child.on('message', ({ id, answer }: { id: number; answer: unknown }) => {
      this.#waiting.get(id)?.(answer);
      this.#waiting.delete(id);
    });
    if (this.#child.stdout !== null) this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    if (this.#child.stderr !== null && onStderr !== undefined) createInterface({ input: this.#child.stderr }).on('line', onStderr);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The next line of its stdout, as JSON. @throws Error when it ends before. */
  async line(): Promise<unknown> {
    const next = await this.#lines?.next();
    if (next === undefined || next.done === true) throw new Error('a measured process ended before it was ready; its messages stand above');
    return JSON.parse(next.value);
  }

  /** Asks the probe. @throws Error when no answer comes within 30 s or the process is over. */
  ask<Question extends keyof Answers>(question: Question): Promise<Answers[Question]> {
    const id = (this.#asked += 1);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Error(`the measured process did not answer "${question}"`));
      }, ANSWER_LIMIT_MS);
      this.#waiting.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer as Answers[Question]);
      });
      if (!this.#child.connected || !this.#child.send({ id, question })) {
        clearTimeout(timer);
        reject(new Error(`the measured process is over and cannot answer "${question}"`));
      }
    });
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Waits for its end. */
  ended(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    return this.#exit;
  }

  /** SIGTERM, and SIGKILL when that takes too long. */
  async stop(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    if (!this.#isOver) this.#child.kill('SIGTERM');
    const timer = setTimeout(() => {
      this.kill();
    }, STOP_LIMIT_MS);
    const exit = await this.#exit;
    clearTimeout(timer);
    return exit;
  }

  kill(): void {
    if (!this.#isOver) this.#child.kill('SIGKILL');
  }
}
