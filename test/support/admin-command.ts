// An admin command in this process, exactly as `parley` runs it: the same flags, the same exit codes, its output caught.
import { CommanderError, type Command, type OutputConfiguration } from 'commander';
import { expect } from 'vitest';
import { adminGroup } from '../../src/cli/admin.ts';
import type { Person } from '../../src/cli/admin/person.ts';
import { EXIT, reportFailure } from '../../src/base/terminal/failure.ts';
import { within } from './until.ts';

/** How a command ended. */
export interface AdminEnd {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Who is in front of it; by default nobody, and nothing is piped in. */
export interface AdminCommandOptions {
  readonly person?: Partial<Person>;
  /** Gets everything that is printed to standard error, while the command runs. */
  readonly onErr?: (text: string) => void;
}

/** What makes the settings valid that have nothing to do with the administration. */
export const OTHER_FLAGS = ['--platform.profile=fake', '--grpc.host=127.0.0.1', '--tls.mode=off'];

const NOBODY: Person = {
  isThere: false,
  openBrowser: () => Promise.reject(new Error('there is no browser')),
  confirms: () => Promise.resolve(false),
  asksFor: () => Promise.resolve(undefined),
  readInput: () => Promise.resolve(''),
};

/**
 * Runs `parley admin …`. One at a time: the exit code is the process's.
 *
 * @param argv - after `admin`; operands first, then flags such as those of `adminSurroundings`.
 */
export function runAdmin(argv: readonly string[], { person = {}, onErr }: AdminCommandOptions = {}): Promise<AdminEnd> {
  // The last one of two counts: what a test says itself is left out.
  const others = OTHER_FLAGS.filter((flag) => !argv.some((own) => own.split('=')[0] === flag.split('=')[0]));
  return runCommand(adminGroup({ ...NOBODY, ...person }), [...argv, ...others], onErr);
}

/** Runs any command, its output caught; otherwise as {@link runAdmin}. */
export async function runCommand(command: Command, argv: readonly string[], onErr?: (text: string) => void): Promise<AdminEnd> {
  const before = process.exitCode;
  process.exitCode = undefined;
  let out = '';
  let err = '';
  const writeErr = (text: string): void => {
    err += text;
    onErr?.(text);
  };
  command.exitOverride();
  catchOutput(command, { writeOut: (text) => (out += text), writeErr, getOutHasColors: () => false });
  let code: number;
  try {
    await within(() => `the command ends; it said: ${out}${err}`, command.parseAsync(argv, { from: 'user' }));
    code = exitCode();
  } catch (thrown) {
    if (thrown instanceof CommanderError) code = thrown.exitCode === 0 ? EXIT.ok : EXIT.usage;
    else {
      code = reportFailure(thrown, (line) => {
        writeErr(`${String(line)}\n`);
      });
    }
  } finally {
    process.exitCode = before;
  }
  return { code, out, err };
}

/** What the command has set meanwhile. */
function exitCode(): number {
  return Number(process.exitCode ?? EXIT.ok);
}

/** {@link runAdmin} with `--json`: what it printed, after it has ended well. */
export async function adminJson(argv: readonly string[], options?: AdminCommandOptions): Promise<unknown> {
  const { code, out, err } = await runAdmin([...argv, '--json'], options);
  expect({ code, err }).toEqual({ code: EXIT.ok, err: '' });
  return JSON.parse(out);
}

function catchOutput(command: Command, output: OutputConfiguration): void {
  command.configureOutput(output);
  for (const part of command.commands) catchOutput(part, output);
}
