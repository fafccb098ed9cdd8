// What a mix takes, before anything is spoken.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readMix } from '../../../../../src/fake-platform/cli/load/mix.ts';

/** A file with one test whose line is so. */
async function fileWithLine(line: string): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'mix-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'tests.yaml');
  await writeFile(file, `tests:\n  - name: one\n    line: ${line}\n`);
  return file;
}

it('takes a test that says nothing about its line', async () => {
  const file = await fileWithLine('{}');
  expect(await readMix(`keys,${file}:2`)).toMatchObject([
    { weight: 1, source: { kind: 'built_in', name: 'keys' } },
    { weight: 2, source: { kind: 'tests', tests: [{ name: 'one' }] } },
  ]);
});

it.each(['{ jitter_ms: 20 }', '{ slow_reader: {} }'])('refuses a test with a bad line: %s', async (line) => {
  await expect(readMix(await fileWithLine(line))).rejects.toThrow('"one" asks for a bad line');
});
