// What the checks of a fleet have in common on their command lines: numbers, the program that is started, and how a result is
// told.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../src/base/package-root.ts';
import type { Program } from '../test/fleet/replica.ts';

/** A number of an option. @throws Error with a sentence for the user. */
export function numberOption(name: string, given: string, least = 0): number {
  if (!/^\d{1,9}(?:\.\d{1,3})?$/u.test(given) || Number(given) < least) throw new Error(`--${name} wants a number from ${String(least)}`);
  return Number(given);
}

/** What was built where there is a build: it starts faster. The source otherwise, or when it is asked for. */
export function programToStart(isSource: boolean): Program {
  return !isSource && existsSync(path.join(packageRoot(), 'dist', 'src', 'cli', 'main.js')) ? 'built' : 'source';
}

/** A line for people. */
export function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Prints what people read, and the result as the last line. @returns the exit code. */
export function told(
  { described = [], ...result }: { readonly ok: boolean; readonly described?: readonly string[] },
  more: Readonly<Record<string, unknown>> = {},
): number {
  for (const line of described) progress(line);
  process.stdout.write(`${JSON.stringify({ ...result, ...more })}\n`);
  return result.ok ? 0 : 1;
}
