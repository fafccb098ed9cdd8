// The configuration of a project is taken where no other is named.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { acceptSettings, settingsArguments } from '../../../src/cli/settings-arguments.ts';

let folder = '';
let told = '';

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'parley-project-'));
  told = '';
  vi.spyOn(process, 'cwd').mockReturnValue(folder);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

async function argumentsOf(...argv: string[]): Promise<readonly string[]> {
  const command = acceptSettings(new Command('try')).configureOutput({ writeErr: (text) => (told += text) });
  let found: readonly string[] = [];
  command.action(() => {
    found = settingsArguments(command);
  });
  await command.parseAsync(argv, { from: 'user' });
  return found;
}

describe('a command in the folder of a project', () => {
  it('takes parley.yaml and says so', async () => {
    writeFileSync(path.join(folder, 'parley.yaml'), '');
    expect(await argumentsOf('--log.level=warn')).toEqual(['--log.level=warn', '--config=parley.yaml']);
    expect(told).toBe('using parley.yaml\n');
  });

  it('takes nothing where there is none, or another file is named', async () => {
    expect(await argumentsOf()).toEqual([]);
    writeFileSync(path.join(folder, 'parley.yaml'), '');
    expect(await argumentsOf('--config', 'mine.yaml')).toEqual(['--config=mine.yaml']);
    vi.stubEnv('PARLEY_CONFIG', '/etc/parley.yaml');
    expect(await argumentsOf()).toEqual([]);
    expect(told).toBe('');
  });
});
