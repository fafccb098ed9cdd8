// Tools of the Debian machine that some tests need. A test whose tool is missing is reported as skipped with the command
// that installs it; with PARLEY_DEMAND_ALL=1 it fails instead, so that CI cannot pass by skipping.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import path from 'node:path';
import { beforeEach } from 'vitest';

/** Debian's own interpreter: others on the PATH do not see the modules that Debian packages install. */
export const DEBIAN_PYTHON = '/usr/bin/python3';

/** What a test needs beside Node. */
export interface DebianNeeds {
  /** Commands on the PATH, such as `sox`. */
  readonly commands?: readonly string[];
  /** Python modules, such as `google.protobuf`. */
  readonly python?: readonly string[];
  /** Absolute paths of files. */
  readonly files?: readonly string[];
  /** The Debian packages that bring them. */
  readonly packages: readonly string[];
}

/**
 * Call it once at the top of a `describe` or of a file: every test in it is then skipped with the reason, or fails when
 * PARLEY_DEMAND_ALL=1, as long as something is missing.
 *
 * @returns whether everything is there, for a `beforeAll` that would start the tool.
 */
export function requireDebian(needs: DebianNeeds): boolean {
  const reason = missingReason(needs);
  if (reason === undefined) return true;
  beforeEach((context) => {
    if (process.env['PARLEY_DEMAND_ALL'] === '1') throw new Error(`PARLEY_DEMAND_ALL=1, but ${reason}`);
    context.skip(reason);
  });
  return false;
}

/** Why a test with these needs cannot run, and what to install; undefined when it can. */
function missingReason(needs: DebianNeeds): string | undefined {
  const commands = (needs.commands ?? []).filter((command) => !isCommand(command));
  const modules = missingModules(needs.python ?? []);
  const files = (needs.files ?? []).filter((file) => !existsSync(file));
  const missing = [...commands, ...modules, ...files];
  if (missing.length === 0) return undefined;
  return `${missing.join(', ')} missing: apt-get install -y ${needs.packages.join(' ')}`;
}

function isCommand(command: string): boolean {
  return (process.env['PATH'] ?? '').split(path.delimiter).some((folder) => isExecutable(path.join(folder, command)));
}

function missingModules(modules: readonly string[]): readonly string[] {
  if (modules.length === 0) return [];
  if (!isExecutable(DEBIAN_PYTHON)) return [DEBIAN_PYTHON];
  return modules.filter(
    (module) => spawnSync(DEBIAN_PYTHON, ['-c', `import ${module}`], { stdio: 'ignore', timeout: 20_000 }).status !== 0,
  );
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
