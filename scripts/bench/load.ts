// The load as the one who measures sees it: a child process that takes commands one after the other.
import { fork, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { SERVER_FLAGS } from '../../src/app/workers/node-flags.ts';
import { bindTo, CORES } from './measured-process.ts';
import type { Counted } from './paced-call.ts';
import type { SocketAccess } from './socket-call.ts';

/** Where calls go: over gRPC on so many connections to each server with these headers, or over WebSocket. */
export interface LoadTarget {
  /** Of the servers: calls have their homes there by turns. */
  readonly ports: readonly number[];
  /** Share of the turns that come to another server than the home of their call. */
  readonly forwardedShare: number;
  /** The authority of the servers' certificate; undefined: they speak no TLS. */
  readonly certificatePem: string | undefined;
  readonly organizationId: string;
  readonly agentId: string;
  readonly access:
    | { readonly kind: 'grpc'; readonly connections: number; readonly headers: Readonly<Record<string, string>> }
    | ({ readonly kind: 'websocket' } & SocketAccess);
}

/** What the load can be ordered to do. */
export type Command =
  | { readonly kind: 'connect'; readonly target: LoadTarget }
  /**
   * Holds so many calls, and places further ones (over gRPC only) that only start and end. Begins at once; calls begin their first
   * turn within `turnSpreadMs`.
   */
  | { readonly kind: 'pace'; readonly calls: number; readonly probesPerSecond: number; readonly turnSpreadMs: number }
  | { readonly kind: 'begin_window' }
  | { readonly kind: 'end_window' }
  | { readonly kind: 'hang_up' }
  | { readonly kind: 'start_idle'; readonly count: number }
  | { readonly kind: 'listen'; readonly frames: number }
  | { readonly kind: 'short_calls'; readonly count: number };

/** What a window of time has brought. */
export interface WindowResult extends Counted {
  readonly wallMs: number;
  /** CPU of the load, part of one core. */
  readonly cpuPart: number;
  /** How late each ms of the schedule was. */
  readonly latenessMs: readonly number[];
  /** From the moment a call should have begun to its first response. */
  readonly firstResponseMs: readonly number[];
}

/** What a command brings. */
export type CommandResult = WindowResult | undefined;

/** A running load. Whoever starts it stops it. */
export class Load {
  readonly #child: ChildProcess;

  /** Bound to the core of everything that is not measured. */
  constructor() {
    this.#child = fork(path.join(import.meta.dirname, 'load-process.ts'), {
      execArgv: [...SERVER_FLAGS, '--import=tsx', '--conditions=@parley/source'],
    });
    bindTo(CORES.load, this.#child.pid);
  }

  /** Gives it an order and waits until it is done. @throws Error when it failed. */
  do(command: Command & { readonly kind: 'end_window' }): Promise<WindowResult>;
  do(command: Command): Promise<CommandResult>;
  do(command: Command): Promise<CommandResult> {
    return new Promise((resolve, reject) => {
      const ended = (): void => {
        reject(new Error('the load ended unexpectedly'));
      };
      this.#child.once('exit', ended);
      this.#child.once('message', (answer: { result?: CommandResult; error?: string }) => {
        this.#child.off('exit', ended);
        if (answer.error === undefined) resolve(answer.result);
        else reject(new Error(answer.error));
      });
      this.#child.send(command);
    });
  }

  stop(): void {
    this.#child.kill('SIGKILL');
  }
}
