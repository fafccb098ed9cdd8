// The WAV files of tests: one for each call that is to be kept, named after its test. Knows no calls under way.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { callRecording } from '../../fake-platform/recording.ts';
import type { TestResult } from '../../fake-platform/scenario/run.ts';

/** Which calls are kept, and where. */
export interface RecordingChoice {
  readonly failures: string | undefined;
  readonly all: string | undefined;
}

/** Writes the recordings of a run. */
export class Recordings {
  readonly #choice: RecordingChoice;
  readonly #names = new Set<string>();

  constructor(choice: RecordingChoice) {
    this.#choice = choice;
  }

  /**
   * Keeps the call of a test when it was asked for.
   *
   * @returns the files.
   * @throws what the operating system says when a file cannot be written.
   */
  async keep(result: TestResult): Promise<readonly string[]> {
    const { failures, all } = this.#choice;
    const { call, status } = result;
    const folders = [...(status === 'failed' && failures !== undefined ? [failures] : []), ...(all === undefined ? [] : [all])];
    if (call === undefined || folders.length === 0) return [];
    const name = this.#nameOf(result);
    const files = [...new Set(folders)].map((folder) => path.join(folder, `${name}.wav`));
    for (const file of files) {
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, callRecording(call));
    }
    return files;
  }

  #nameOf({ test, round }: TestResult): string {
    const base = `${slug(path.parse(test.file).name)}-${slug(test.name)}${round === 1 ? '' : `-${String(round)}`}`;
    let name = base;
    for (let more = 2; this.#names.has(name); more += 1) name = `${base}_${String(more)}`;
    this.#names.add(name);
    return name;
  }
}

function slug(text: string): string {
  return (
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
      .replaceAll(/^-+|-+$/gu, '')
      .slice(0, 60) || 'test'
  );
}
