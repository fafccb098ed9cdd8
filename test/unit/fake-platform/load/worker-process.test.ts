// A worker is a process of its own: signals for the one that started it do not end it, and the reason of its end is reported.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

describe('the process of a worker', () => {
  it('outlives the signals that every process of a terminal or of a service gets, and says why it cannot go on', async () => {
    const file = fileURLToPath(new URL('../../../fixtures/load/signalled.ts', import.meta.url));
    // In a group of its own, or these tests would hear the signals, too.
    const child = spawn(process.execPath, ['--import=tsx', '--conditions=@parley/source', file], { detached: true });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await once(child, 'close');
    expect(said.trim().split('\n')).toEqual(['TypeError: a run was ordered out of turn', 'it ended with SIGKILL']);
  });
});
