// The thread that writes recordings.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Appended } from '../../../src/recording/file-writer.ts';
import { FileOpener, PIECE } from '../../../src/recording/sealed-file.ts';
import { WritingThread } from '../../../src/recording/writing-thread.ts';
import { RECORDING_KEY, recordingsFolder } from '../../support/recording-lab.ts';

const piece = (kind: number, text: string) => ({ kind, bytes: new TextEncoder().encode(text) });

it('seals many files at once, and loses those that it was writing when it dies, but no later ones', async () => {
  const folder = recordingsFolder();
  const thread = new WritingThread(RECORDING_KEY);
  onTestFinished(() => thread.close());
  const first = (name: string): Appended => ({
    ...{ path: path.join(folder, 'new', name), isFirst: true, isLast: false },
    pieces: [piece(PIECE.header, `header of ${name}`)],
  });
  const next = (name: string): Appended => ({
    ...{ ...first(name), isFirst: false, isLast: true, summary: { end: 'caller' } },
    pieces: [piece(PIECE.events, 'events')],
  });
  const lost = thread.write([first('zero')]);
  await thread.close();
  expect(await lost).toEqual(['ERR_THREAD: it ended']);

  expect(await thread.write([first('one'), first('two')])).toEqual([undefined, undefined]);
  expect(await thread.write([next('one'), next('zero')])).toEqual([undefined, 'ERR_UNKNOWN_FILE']);

  expect(readdirSync(path.join(folder, 'new')).sort()).toEqual(['one', 'two']);
  const bytes = readFileSync(path.join(folder, 'new', 'one'));
  const { pieces, summary } = new FileOpener(bytes, [RECORDING_KEY]).all(bytes);
  expect([pieces.map((each) => each.bytes.toString()), summary]).toEqual([['header of one', 'events'], { end: 'caller', pieces: 2 }]);
});
