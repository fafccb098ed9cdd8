// Writes WAV files of tests: one for each recorded call, named after its test. Knows no calls under way.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { callRecording } from '../../caller/recorded-sound.ts';
import type { TestFrame } from '../../scenario/plan.ts';
import type { TestResult } from '../../scenario/run.ts';

export interface RecordingChoice {
  readonly failures: string | undefined;
  readonly all: string | undefined;
}

export class Recordings {
  readonly #choice: RecordingChoice;
  readonly #names = new Map<TestFrame, string>();

  /** @param tests - their order decides the names, whichever call ends first: so two runs can be compared. */
  constructor(choice: RecordingChoice, tests: readonly TestFrame[]) {
    this.#choice = choice;
    const taken = new Set<string>();
    for (const test of tests) {
      const base = `${slug(path.parse(test.file).name)}-${slug(test.name)}`;
      let name = base;
      for (let more = 2; taken.has(name); more += 1) name = `${base}_${String(more)}`;
      taken.add(name);
      this.#names.set(test, name);
    }
  }

  /**
   * Writes the recording of a test if the options ask for it.
   *
   * @returns the paths of the files.
   * @throws the operating system's error when a file cannot be written.
   */
  async keep({ call, status, test, round }: TestResult): Promise<readonly string[]> {
    const { failures, all } = this.#choice;
    const folders = [...(status === 'failed' && failures !== undefined ? [failures] : []), ...(all === undefined ? [] : [all])];
    const name = this.#names.get(test);
    if (call === undefined || name === undefined || folders.length === 0) return [];
    // The name of a test has no dot here, so a round cannot take the name of another test.
    const files = [...new Set(folders)].map((folder) => path.join(folder, `${name}${round === 1 ? '' : `.${String(round)}`}.wav`));
    for (const file of files) {
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, callRecording(call));
    }
    return files;
  }
}

/** Converts a name to a part of a file name. */
export function slug(text: string): string {
  return (
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
      .replaceAll(/^-+|-+$/gu, '')
      .slice(0, 60) || 'test'
  );
}
