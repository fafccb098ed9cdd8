// `parley control`: commands a running server on this machine through its control socket.
import { Command } from 'commander';
import { loadSections } from '../app/config/load-settings.ts';
import type { Controlled } from '../app/control/commands.ts';
import { systemClock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { LOG_LEVELS, type LogLevel } from '../base/log.ts';
import { EXIT } from '../base/terminal/failure.ts';
import { durationMs } from '../base/terminal/option-values.ts';
import { sendCommand } from '../ops/control-socket.ts';
import { controlText, isDone } from './control/control-text.ts';
import { acceptSettings, neededOperand, settingsArguments } from './settings-arguments.ts';

const FOR = '--for <time>';
const DEFAULT_FOR_MS = durationMs('10m');

/** The command. Exit code 0 when every process has done what the command says. */
export function controlGroup(): Command {
  const group = new Command('control')
    .description('command the server that runs on this machine, through its socket (control.socket)')
    .addHelpText('after', '\nExample:\n  $ parley control status --socket /run/parley/0/control.sock');
  for (const part of [status(), logLevel(), trace(), drain(), undrain(), reload()]) group.addCommand(part.exitOverride());
  return group;
}

function status(): Command {
  return simple('status', 'show the processes of the server: readiness, calls, log level, traced calls');
}

function drain(): Command {
  return simple('drain', 'take no new calls: health checks say no, new calls go to other servers, running calls go on here');
}

function undrain(): Command {
  return simple('undrain', 'take new calls again');
}

function reload(): Command {
  return simple('reload', 'read certificates, secrets, watched bots and log.level again, as SIGHUP does; exit code 1 when one is refused');
}

function logLevel(): Command {
  const command = controlCommand('log-level', 'debug --for 15m', 'write lines of another level for a while').argument(
    '<level>',
    `one of ${LOG_LEVELS.join(', ')}`,
  );
  return lasting(command, (level, forMs) => {
    const known: LogLevel | undefined = LOG_LEVELS.find((each) => each === level);
    if (known === undefined) command.error(`error: ${level} is none of ${LOG_LEVELS.join(', ')}`, { exitCode: EXIT.usage });
    return { kind: 'log_level', level: known, forMs };
  });
}

function trace(): Command {
  const command = controlCommand(
    'trace',
    'f3b5a1c2-6d1e-4f0e-9b3a-2c4d5e6f7a8b',
    'write every line about one call, whatever the log level',
  ).argument('<conversation>', 'conversation id of the call');
  return lasting(command, (conversationId, forMs) => ({ kind: 'trace', conversationId, forMs }));
}

function simple(kind: 'status' | 'drain' | 'undrain' | 'reload', does: string): Command {
  const command = controlCommand(kind, '', does);
  return command.action(() => run(command, { kind }));
}

/** A command with an operand, for a change that ends by itself. */
function lasting(command: Command, commandOf: (operand: string, forMs: number) => { readonly kind: string }): Command {
  command.option(FOR, 'for how long, from 1s to 24h', durationMs, DEFAULT_FOR_MS);
  return command.action(() => {
    const forMs: unknown = command.getOptionValue('for');
    return run(command, commandOf(neededOperand(command), typeof forMs === 'number' ? forMs : DEFAULT_FOR_MS));
  });
}

function controlCommand(name: string, example: string, does: string): Command {
  return acceptSettings(new Command(name))
    .description(does)
    .option('--socket <path>', 'the control socket of the server (default: control.socket of the settings)')
    .option('--json', 'print JSON')
    .addHelpText('after', `\nExample:\n  $ parley control ${name} ${example}`.trimEnd());
}

async function run(command: Command, sent: { readonly kind: string }): Promise<void> {
  const answer = await sendCommand(socketOf(command), sent);
  if (!isControlled(answer)) throw new AppError('control_failed', 'what answers is no server of this version');
  const isJson = command.getOptionValue('json') === true;
  const text = isJson ? `${JSON.stringify(answer, null, 2)}\n` : controlText(answer, systemClock.nowMs());
  command.configureOutput().writeOut?.(text);
  if (!isDone(sent.kind, answer)) process.exitCode = EXIT.failed;
}

function socketOf(command: Command): string {
  const given: unknown = command.getOptionValue('socket');
  if (typeof given === 'string') return given;
  const { socket } = loadSections({ argv: settingsArguments(command) }, 'control').settings.control;
  if (socket === undefined) throw new AppError('control_failed', 'control.socket is not set, so no server listens for commands');
  return socket;
}

// The outer form is enough: server and command are one program, and a server of another version has the same outer form or none.
function isControlled(answer: unknown): answer is Controlled {
  return typeof answer === 'object' && answer !== null && 'processes' in answer && Array.isArray(answer.processes) && 'readiness' in answer;
}
