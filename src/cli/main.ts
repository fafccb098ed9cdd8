#!/usr/bin/env node
// The `parley` command. Each sub-command has a file of its own; this one names them and ends the process properly.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Command, CommanderError } from 'commander';
import { packageRoot } from '../base/package-root.ts';
import { configCommand } from './config.ts';
import { demoCommand } from './demo.ts';
import { EXIT, reportFailure } from './failure.ts';
import { healthCommand } from './health.ts';
import { serveCommand } from './serve.ts';

const program = new Command('parley')
  .description('the server behind a contact-center platform’s voice virtual agents')
  .version(version())
  .showHelpAfterError('(add --help for an example)')
  .exitOverride();
for (const command of [serveCommand(), configCommand(), healthCommand(), demoCommand()]) program.addCommand(command.exitOverride());

try {
  await program.parseAsync();
} catch (thrown) {
  process.exitCode = thrown instanceof CommanderError ? (thrown.exitCode === 0 ? EXIT.ok : EXIT.usage) : reportFailure(thrown);
}

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(path.join(packageRoot(), 'package.json'), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : 'unknown';
}
