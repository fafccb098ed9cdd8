#!/usr/bin/env node
// The `parley` command: finds the sub-command, runs it, and turns errors into a message and an exit code.
import module from 'node:module';
import { Command, CommanderError } from 'commander';
import { systemClock } from '../base/clock.ts';
import { packageVersion } from '../base/package-root.ts';
import { COMMANDS } from './commands.ts';
import { EXIT, reportFailure } from '../base/terminal/failure.ts';

/** How long the process may go on after its command has finished, ms. */
const LEAVE_MS = 500;

// Node 22 and newer can cache compiled modules between starts; Node 20 has no such function.
const enableCompileCache: unknown = Reflect.get(module, 'enableCompileCache');
if (typeof enableCompileCache === 'function') Reflect.apply(enableCompileCache, module, []);

try {
  const program = new Command('parley')
    .description('the server behind a contact-center platform’s voice virtual agents')
    .version(packageVersion())
    .showHelpAfterError('(add --help for an example)')
    .exitOverride();
  for (const command of await wanted(process.argv[2])) program.addCommand(command.exitOverride());
  await program.parseAsync();
} catch (thrown) {
  process.exitCode = thrown instanceof CommanderError ? (thrown.exitCode === 0 ? EXIT.ok : EXIT.usage) : reportFailure(thrown);
}

/** The named command alone; all commands for the help and for unknown names. */
async function wanted(name: string | undefined): Promise<readonly Command[]> {
  const one = COMMANDS.get(name ?? '');
  return one === undefined ? Promise.all([...COMMANDS.values()].map((load) => load(leaveSoon))) : [await one(leaveSoon)];
}

/** Ends the process, even when a loaded bot keeps a timer or a socket open. Leaves time to write the output. */
function leaveSoon(): void {
  systemClock.after(LEAVE_MS, () => process.exit());
}
