import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MULAW_WAV_HEADER_BYTES, mulawWav } from '../../../src/speech/wav.ts';
import { PromptDiskCache } from '../../../src/voice/prompt-disk-cache.ts';
import { recordingLog } from '../../support/engine.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { temporaryFolder } from '../../support/voice.ts';

const key = (digit: string): string => digit.repeat(64);
const sound = (fill: number, bytes = 1000): Uint8Array => new Uint8Array(bytes).fill(fill);

function disk(folder: string, maxBytes?: number): { disk: PromptDiskCache; clock: FakeClock; log: ReturnType<typeof recordingLog> } {
  const clock = new FakeClock();
  const log = recordingLog();
  return { disk: new PromptDiskCache({ folder, clock, log, ...(maxBytes === undefined ? {} : { maxBytes }) }), clock, log };
}

describe('PromptDiskCache', () => {
  it.each([1, 999, 1000])('gives back %i bytes to another process, as a WAV file with the 58-byte header (G-41)', async (bytes) => {
    const folder = join(temporaryFolder(), 'made', 'when', 'missing');
    await disk(folder).disk.write(key('a'), sound(7, bytes));
    expect(await disk(folder).disk.read(key('a'))).toEqual(sound(7, bytes));
    expect(new Uint8Array(readFileSync(join(folder, `${key('a')}.wav`)))).toEqual(mulawWav(sound(7, bytes)));
    expect(statSync(join(folder, `${key('a')}.wav`)).mode & 0o077).toBe(0);
  });

  it('has nothing under a key that was never written', async () => {
    expect(await disk(temporaryFolder()).disk.read(key('a'))).toBeUndefined();
  });

  it.each<[string, (file: string) => void]>([
    [
      'empty',
      (file) => {
        truncateSync(file, 0);
      },
    ],
    [
      'cut short',
      (file) => {
        truncateSync(file, 900);
      },
    ],
    [
      'too long',
      (file) => {
        writeFileSync(file, new Uint8Array(10), { flag: 'a' });
      },
    ],
    [
      'no WAV',
      (file) => {
        writeFileSync(file, new Uint8Array(1058));
      },
    ],
    [
      'a WAV of another kind',
      (file) => {
        writeFileSync(file, mulawWav(sound(1)).fill(1, 20, 21));
      },
    ],
    [
      'a header without sound',
      (file) => {
        writeFileSync(file, mulawWav(new Uint8Array(0)));
      },
    ],
    [
      'far too large',
      (file) => {
        truncateSync(file, 3_000_000);
      },
    ],
  ])('ignores a file that is %s and replaces it', async (_, damage) => {
    const folder = temporaryFolder();
    const { disk: own } = disk(folder);
    await own.write(key('a'), sound(7));
    damage(join(folder, `${key('a')}.wav`));
    expect(await own.read(key('a'))).toBeUndefined();
    await own.write(key('a'), sound(8));
    expect(await own.read(key('a'))).toEqual(sound(8));
  });

  it('follows no link and waits for no pipe under its names', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'elsewhere'), mulawWav(sound(1)));
    symlinkSync(join(folder, 'elsewhere'), join(folder, `${key('a')}.wav`));
    execFileSync('mkfifo', [join(folder, `${key('b')}.wav`)]);
    mkdirSync(join(folder, `${key('c')}.wav`));
    const { disk: own } = disk(folder);
    for (const digit of ['a', 'b', 'c']) expect(await own.read(key(digit))).toBeUndefined();
  });

  it('removes the longest unused prompts at start until the limit is kept, and nothing that is not its own', async () => {
    const folder = temporaryFolder();
    const { disk: first } = disk(folder);
    for (const [index, digit] of ['a', 'b', 'c', 'd'].entries()) {
      await first.write(key(digit), sound(1));
      utimesSync(join(folder, `${key(digit)}.wav`), 1000 + index, 1000 + index);
    }
    writeFileSync(join(folder, 'notes.wav'), new Uint8Array(5000));
    utimesSync(join(folder, 'notes.wav'), 1, 1);
    const { disk: second } = disk(folder, 2 * (1000 + MULAW_WAV_HEADER_BYTES));
    expect(await second.read(key('a'))).toBeUndefined();
    expect(readdirSync(folder).sort()).toEqual([`${key('c')}.wav`, `${key('d')}.wav`, 'notes.wav'].sort());
  });

  it('makes room for a new prompt and keeps what was used last', async () => {
    const folder = temporaryFolder();
    const { disk: own, clock } = disk(folder, 2500);
    await own.write(key('a'), sound(1));
    clock.advance(1000);
    await own.write(key('b'), sound(2));
    clock.advance(1000);
    await own.read(key('a'));
    await own.write(key('c'), sound(3));
    expect(await own.read(key('b'))).toBeUndefined();
    expect(await own.read(key('a'))).toEqual(sound(1));
    expect(await own.read(key('c'))).toEqual(sound(3));
    // The time of last use has reached the disk, so that the next start decides alike.
    expect(statSync(join(folder, `${key('a')}.wav`)).mtimeMs).toBeCloseTo(clock.nowMs(), -1);
  });

  it('does not count a prompt twice that is written twice', async () => {
    const { disk: own } = disk(temporaryFolder(), 2500);
    await own.write(key('a'), sound(1));
    for (let again = 0; again < 5; again += 1) await own.write(key('b'), sound(2));
    expect(await own.read(key('a'))).toEqual(sound(1));
  });

  it('does not store what is larger than the whole disk', async () => {
    const folder = temporaryFolder();
    await disk(folder, 500).disk.write(key('a'), sound(1));
    expect(readdirSync(folder)).toEqual([]);
  });

  it('sweeps up what an interrupted write left an hour ago, and leaves a younger one to its writer', async () => {
    const folder = temporaryFolder();
    const [old, young] = [join(folder, `${key('a')}.wav.123`), join(folder, `${key('b')}.wav.456`)];
    const { disk: own, clock } = disk(folder);
    for (const file of [old, young]) writeFileSync(file, 'half');
    utimesSync(old, clock.nowMs() / 1000 - 3601, clock.nowMs() / 1000 - 3601);
    utimesSync(young, clock.nowMs() / 1000 - 3500, clock.nowMs() / 1000 - 3500);
    await own.read(key('a'));
    expect([existsSync(old), existsSync(young)]).toEqual([false, true]);
  });

  it.each([
    ['that cannot be made', (): string => join(fileInTheWay(), 'folder')],
    // Not even root can write there.
    ['that cannot be written to', (): string => '/proc/self/fdinfo'],
  ])('warns once about a folder %s and goes on without it', async (_, folder) => {
    const { disk: own, log } = disk(folder());
    for (const digit of ['a', 'b']) await own.write(key(digit), sound(1));
    expect(await own.read(key('a'))).toBeUndefined();
    expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
  });

  it('still reads from a folder that can no longer be written to', async () => {
    const folder = temporaryFolder();
    const { disk: own } = disk(folder);
    await own.write(key('a'), sound(1));
    mkdirSync(join(folder, `${key('b')}.wav`));
    // A folder stands where the file should go: the write fails as on a read-only disk.
    await own.write(key('b'), sound(2));
    expect(await own.read(key('a'))).toEqual(sound(1));
  });
});

function fileInTheWay(): string {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  return file;
}
