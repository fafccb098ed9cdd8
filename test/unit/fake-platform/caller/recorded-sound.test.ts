import { describe, expect, it } from 'vitest';
import { AppError } from '../../../../src/base/errors.ts';
import { recordingReader, type ReadRecording } from '../../../../src/fake-platform/caller/recorded-sound.ts';
import { pcmWav } from '../../../../src/speech/wav.ts';

const FILES: Readonly<Record<string, Uint8Array>> = {
  'good.wav': pcmWav([new Int16Array(160).fill(9000)], 8000),
  'silent.wav': pcmWav([new Int16Array(160).fill(500)], 8000),
  'empty.wav': pcmWav([new Int16Array(0)], 8000),
  'slow.wav': pcmWav([new Int16Array(160).fill(9000)], 2000),
  'long.wav': pcmWav([new Int16Array(8000 * 601).fill(9000)], 8000),
  'text.txt': new TextEncoder().encode('no sound'),
};

function reader(): { readonly read: ReadRecording; readonly opened: readonly string[] } {
  const opened: string[] = [];
  const read = recordingReader({
    readFile: (file) => {
      opened.push(file);
      const bytes = FILES[file];
      return bytes === undefined ? Promise.reject(new RangeError(`${file} cannot be read`)) : Promise.resolve(bytes);
    },
    changeRate: (_, fromHz) => {
      throw new AppError('unsupported_audio', `${String(fromHz)} Hz cannot be changed`);
    },
  });
  return { read, opened };
}

describe('a recording that a user names', () => {
  it('is read once, however often it is named', async () => {
    const { read, opened } = reader();
    const all = await Promise.all([read('good.wav', 'a'), read('good.wav', 'b'), read('good.wav', 'c')]);
    expect([opened, all.map((mulaw) => mulaw.length)]).toEqual([['good.wav'], [160, 160, 160]]);
  });

  it.each([
    ['silent.wav', 'the recording is silent'],
    ['empty.wav', 'the recording is silent'],
    ['slow.wav', '2000 Hz cannot be changed'],
    ['long.wav', 'the recording is longer than 10 minutes'],
    ['text.txt', 'RIFF'],
    ['nowhere.wav', 'nowhere.wav cannot be read'],
  ])('is refused with the place that names it: %s', async (file, reason) => {
    const { read } = reader();
    for (const place of ['one.yaml:1:2  tests[0]', '--wav x']) {
      const refused: unknown = await read(file, place).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(RangeError);
      expect(String(refused)).toMatch(new RegExp(`^RangeError: ${place.replaceAll(/[[\]]/gu, String.raw`\$&`)}: .*${reason}`, 'u'));
    }
  });
});
