// One `parley serve` of a fleet: a real process on ports that stay the same however often it is killed and started again.
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { packageRoot } from '../../src/base/package-root.ts';
import { compiledFlags, compiledMain } from '../support/compiled-program.ts';
import { SHORT_LIFE } from '../../scripts/node-flags.mjs';
import { Child, type ChildExit } from './child.ts';
import type { BalancedPorts } from './balancer.ts';

/** The program that is started: what was built, or the source as it is now. */
export type Program = 'built' | 'source';

/** Where it listens. */
export interface ReplicaPorts extends BalancedPorts {
  /** For the others of its fleet: whoever starts there again is another process at the same address. */
  readonly peer: number;
}

/** How it is started. */
export interface ReplicaOptions {
  readonly program: Program;
  readonly ports: ReplicaPorts;
  /** Beside those of its ports. */
  readonly flags: readonly string[];
  /** Where its log goes, one start after the other. */
  readonly logFile: string;
}

/** How one start differs from the others. */
export interface StartChange {
  /** Main module of an installed package, which is started in place of the program. */
  readonly main?: string;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A descriptor that its log goes to in place of the file. */
  readonly stderr?: number;
}

/** Longest wait until it takes calls, ms: on a machine that does other things beside. */
const START_LIMIT_MS = 90_000;
const LOOK_MS = 20;
const MAX_LAST_CHARACTERS = 2000;

/** One server. Whoever starts it kills it. */
export class Replica {
  readonly ports: ReplicaPorts;
  readonly #options: ReplicaOptions;
  #child: Child | undefined;

  constructor(options: ReplicaOptions) {
    this.ports = options.ports;
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#child?.isOver === false;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Starts it and waits until it says that it takes calls. @throws Error when it ends instead. */
  async start(change: StartChange = {}): Promise<void> {
    const { ports, flags, logFile } = this.#options;
    const stderr = change.stderr ?? openSync(logFile, 'a');
    const isBuilt = this.#options.program === 'built' || change.main !== undefined;
    const built = change.main ?? path.join(packageRoot(), 'dist', 'src', 'cli', 'main.js');
    const program = isBuilt ? [built] : [...SHORT_LIFE, compiledMain()];
    const own = [`--grpc.port=${String(ports.grpc)}`, `--ops.port=${String(ports.ops)}`, `--peers.port=${String(ports.peer)}`];
    if (ports.socket !== undefined) own.push(`--websocket.port=${String(ports.socket)}`);
    const child = new Child({
      command: process.execPath,
      args: [...program, 'serve', '--json', ...(isBuilt ? flags : compiledFlags(flags)), ...own, ...(change.flags ?? [])],
      cwd: packageRoot(),
      stderr,
      ...(change.env === undefined ? {} : { env: change.env }),
    });
    // The process has its own by now.
    if (change.stderr === undefined) closeSync(stderr);
    this.#child = child;
    const untilMs = performance.now() + START_LIMIT_MS;
    while (!child.said.includes('"event":"ready"')) {
      if (child.isOver) throw new Error(`a server did not start: ${await lastLines(logFile)}`);
      if (performance.now() > untilMs) throw new Error(`a server was not ready in time: ${await lastLines(logFile)}`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.signal(signal);
  }

  /** With SIGKILL; resolves when it is gone. */
  async kill(): Promise<void> {
    await this.#child?.kill();
  }

  /** With SIGTERM, as a deploy does; resolves when it is gone. */
  async stop(): Promise<ChildExit> {
    this.signal('SIGTERM');
    return (await this.#child?.ended()) ?? { code: null, signal: null };
  }

  /** Its metrics page. */
  async metrics(): Promise<string> {
    return (await this.#asked('/metrics')).text();
  }

  /** Whether a call lives there, as it says itself. */
  async has(conversationId: string): Promise<boolean> {
    const answer = await this.#asked(`/calls/${conversationId}`);
    return answer.ok && !('end' in ((await answer.json()) as object));
  }

  /** Whether it tells load balancers that it takes calls. */
  async isReady(): Promise<boolean> {
    return (await this.#asked('/health/ready')).ok;
  }

  #asked(place: string): Promise<Response> {
    return fetch(`http://127.0.0.1:${String(this.ports.ops)}${place}`, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(5000),
    });
  }
}

/** The end of a log, which is gone with its folder by the time that anybody looks for it. */
async function lastLines(file: string): Promise<string> {
  return (await readFile(file, 'utf8').catch(() => '')).slice(-MAX_LAST_CHARACTERS);
}
