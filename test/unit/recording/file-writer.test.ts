// What becomes of files that cannot be written.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { FileWriter, type Appended } from '../../../src/recording/file-writer.ts';
import { PIECE } from '../../../src/recording/sealed-file.ts';
import { RECORDING_KEY, recordingsFolder } from '../../support/recording-lab.ts';

const pieces = (): Appended['pieces'] => [{ kind: PIECE.header, bytes: new Uint8Array(10) }];

it('writes nothing more to a file that has failed or is deleted, and nothing over a file that is there', () => {
  const folder = recordingsFolder();
  const writer = new FileWriter(RECORDING_KEY);
  const append = (file: string, more: Partial<Appended>): string | undefined =>
    writer.append({ path: path.join(folder, file), pieces: pieces(), isFirst: false, isLast: false, ...more });

  writeFileSync(path.join(folder, 'no-folder'), '');
  expect(append('no-folder/one', { isFirst: true })).toMatch(/^E(?:NOTDIR|EXIST)$/u);
  expect(append('no-folder/one', {})).toBe('ERR_UNKNOWN_FILE');

  mkdirSync(path.join(folder, 'calls'));
  writeFileSync(path.join(folder, 'calls', 'two'), 'of somebody else');
  expect(append('calls/two', { isFirst: true })).toBe('EEXIST');

  expect(append('calls/three', { isFirst: true })).toBeUndefined();
  rmSync(path.join(folder, 'calls', 'three'));
  expect(append('calls/three', {})).toBe('ENOENT');
  expect(append('calls/three', {})).toBe('ERR_UNKNOWN_FILE');

  expect(append('calls/four', { isFirst: true, isLast: true, summary: {} })).toBeUndefined();
  expect(append('calls/four', {})).toBe('ERR_UNKNOWN_FILE');
  expect(readdirSync(path.join(folder, 'calls')).sort()).toEqual(['four', 'two']);
});
