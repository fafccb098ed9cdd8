// What the commands of this folder have in common: options, progress on stderr, and the result as the last line of stdout.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { packageRoot } from '../src/base/package-root.ts';
import type { Program } from '../test/fleet/replica.ts';

/** One option: whether it takes a value, and what is made of it. */
export interface CommandOption<Value> {
  readonly type: 'string' | 'boolean';
  /** @throws Error with a sentence for the user. */
  readonly read: (given: unknown, name: string) => Value;
}

type CommandOptions = Readonly<Record<string, CommandOption<unknown>>>;
type Values<Options extends CommandOptions> = { readonly [Name in keyof Options]: ReturnType<Options[Name]['read']> };

/** What a command has found. */
export interface CommandResult {
  /** Whether all is well; left out by what only measures. */
  readonly ok?: boolean;
  /** Lines for people; they go to stderr, and are no part of the result. */
  readonly described?: readonly string[];
  readonly [figure: string]: unknown;
}

/** A switch. */
export const toggle: CommandOption<boolean> = { type: 'boolean', read: (given) => given === true };

/** Any text; undefined when it is left out. */
export const text: CommandOption<string | undefined> = {
  type: 'string',
  read: (given) => (typeof given === 'string' ? given : undefined),
};

/** A number from `least` (default 0) on, with up to three decimals; `otherwise` when it is left out. */
export function number<Default extends number | undefined>(otherwise: Default, least = 0): CommandOption<number | Default> {
  return {
    type: 'string',
    read: (given, name) => {
      if (given === undefined) return otherwise;
      if (typeof given !== 'string' || !/^\d{1,10}(?:\.\d{1,3})?$/u.test(given) || Number(given) < least) {
        throw new Error(`--${name} wants a number from ${String(least)}`);
      }
      return Number(given);
    },
  };
}

/** A seed; another one for each run unless it is given. */
export const seed = number(Date.now() % 1_000_000);

/** Which program is started: the source when it is asked for or there is no build, which starts faster. */
export const source: CommandOption<Program> = {
  type: 'boolean',
  read: (given) => (given !== true && existsSync(path.join(packageRoot(), 'dist', 'src', 'cli', 'main.js')) ? 'built' : 'source'),
};

/** A line for people. */
export function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Seconds since `startedMs` of `performance.now()`. */
export function secondsSince(startedMs: number): number {
  return Math.round((performance.now() - startedMs) / 1000);
}

/**
 * Runs a command and sets the exit code: 0, or 1 when the result is not ok, or 2 when the command line is wrong.
 *
 * @param options.takesWords - whether words may stand beside the options.
 */
export async function command<Options extends CommandOptions>({
  help,
  options,
  takesWords = false,
  run,
}: {
  readonly help: string;
  readonly options: Options;
  readonly takesWords?: boolean;
  /** Does what is asked; undefined when it has printed everything itself. */
  readonly run: (values: Values<Options>, words: readonly string[]) => Promise<CommandResult | undefined>;
}): Promise<void> {
  const given = readCommandLine(options, takesWords);
  if (typeof given === 'string') {
    progress(`${given}; --help says what there is`);
    process.exitCode = 2;
  } else if (given.isHelp) process.stdout.write(`${help.trimEnd()}\n`);
  else {
    const found = await run(given.values, given.words);
    if (found === undefined) return;
    const { described = [], ...result } = found;
    for (const line of described) progress(line.trimEnd());
    process.stdout.write(`${JSON.stringify(result)}\n`);
    process.exitCode = result.ok === false ? 1 : 0;
  }
}

/** @returns what is wrong, as a sentence. */
function readCommandLine<Options extends CommandOptions>(options: Options, takesWords: boolean) {
  try {
    const all = { ...options, help: toggle };
    const known = Object.fromEntries(Object.entries(all).map(([name, { type }]) => [name, { type }]));
    const { values, positionals } = parseArgs({ options: known, allowPositionals: takesWords });
    const read = Object.entries(options).map(([name, option]) => [name, option.read(values[name], name)]);
    // The entries of the options with what each of them reads.
    return { isHelp: values['help'] === true, values: Object.fromEntries(read) as Values<Options>, words: positionals };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
