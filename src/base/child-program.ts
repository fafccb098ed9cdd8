// Runs a program of the operator once: bytes in, bytes out, nothing else. No shell, no inherited environment. The program's output
// is never logged, because it may hold what a caller said.
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { AppError, type ErrorCode } from './errors.ts';

/** The only variables a program gets: ours may hold secrets. */
export const PLAIN_ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' };

/** What to run. */
export interface ChildProgram {
  /** Subject of the program's error messages, such as `the recognizer program`. */
  readonly name: string;
  /** The code of the program's errors. */
  readonly code: ErrorCode;
  /** Program and arguments. */
  readonly command: readonly [string, ...string[]];
  /** The program's whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Largest output, bytes; more is a failure. */
  readonly maxOutputBytes: number;
}

/** A program that runs. */
export interface RunningProgram {
  /** The program's standard output, once it has exited with 0. @throws AppError with the program's code as the rejection. */
  readonly output: Promise<Uint8Array>;
  /** Kills the program and its process group at once. Has no effect when both are gone. */
  readonly kill: () => void;
}

/** Starts the program and gives it `input` as its standard input. Never throws; a failed start rejects `output`. */
export function runProgram(program: ChildProgram, input: Uint8Array): RunningProgram {
  const [file, ...args] = program.command;
  const failure = (what: string): AppError => new AppError(program.code, `${program.name} ${what}`);
  const notStarted = (cause: unknown): AppError => failure(`could not be started (${systemCodeOf(cause)})`);
  let child: ChildProcessByStdio<Writable, Readable, null>;
  try {
    // Its own process group, so that a script dies together with what it has started.
    child = spawn(file, args, { env: program.env, stdio: ['pipe', 'pipe', 'ignore'], detached: true, windowsHide: true });
  } catch (cause) {
    return { output: Promise.reject(notStarted(cause)), kill: () => undefined };
  }
  let isGone = false;
  const kill = (): void => {
    if (isGone || child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The process group has just ended by itself.
    }
    // A process that left the group may still hold the pipe.
    child.stdout.destroy();
  };
  const output = new Promise<Uint8Array>((resolve, reject) => {
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    child.on('error', (cause) => {
      reject(notStarted(cause));
    });
    // A program may end without reading all of its input; its exit code says whether it failed.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    child.stdout.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes <= program.maxOutputBytes) pieces.push(piece);
      else kill();
    });
    child.on('close', (code, signal) => {
      isGone = true;
      if (bytes > program.maxOutputBytes) reject(failure(`wrote more than ${String(program.maxOutputBytes)} bytes`));
      else if (code === 0) resolve(Buffer.concat(pieces));
      else reject(failure(`ended with ${code === null ? `signal ${signal ?? 'unknown'}` : `code ${String(code)}`}`));
    });
  });
  return { output, kill };
}

function systemCodeOf(cause: unknown): string {
  const code: unknown = cause instanceof Error ? Reflect.get(cause, 'code') : undefined;
  return typeof code === 'string' ? code : 'unknown';
}
