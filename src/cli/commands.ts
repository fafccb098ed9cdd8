// The sub-commands of `parley`. Each file is loaded on demand, so that `serve` does not load what only `demo` needs.
import type { Command } from 'commander';
import { BENCH_COMMANDS } from './bench-commands.ts';

/** Loads a command. `leaveSoon` ends the process, even when a loaded bot keeps a timer or a socket open. */
type LoadCommand = (leaveSoon: () => void) => Promise<Command>;

/** All sub-commands by name, in the order of the help. */
export const COMMANDS: ReadonlyMap<string, LoadCommand> = new Map<string, LoadCommand>([
  ['init', async () => (await import('./init.ts')).initCommand()],
  ['serve', async (leaveSoon) => (await import('./serve.ts')).serveCommand(leaveSoon)],
  ['doctor', async (leaveSoon) => (await import('./doctor.ts')).doctorCommand(leaveSoon)],
  ['admin', async () => (await import('./admin.ts')).adminGroup()],
  ['bots', async (leaveSoon) => (await import('./bots.ts')).botsCommand(leaveSoon)],
  ['replay', async (leaveSoon) => (await import('./replay.ts')).replayCommand(leaveSoon)],
  ['say', async () => (await import('./say.ts')).sayCommand()],
  ['calls', async () => (await import('./calls.ts')).callsGroup()],
  ['organizations', async () => (await import('./organizations.ts')).organizationsCommand()],
  ['config', async (leaveSoon) => (await import('./config.ts')).configCommand(leaveSoon)],
  ['control', async () => (await import('./control.ts')).controlGroup()],
  ['health', async () => (await import('./health.ts')).healthCommand()],
  ...BENCH_COMMANDS,
]);
