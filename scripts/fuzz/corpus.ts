// Inputs as files: the corpus of the repository, and the folder of what a run has found. The folder of a file names its area.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../../src/base/package-root.ts';

/** Inputs by area, of which there are so many at most, bytes. */
export interface Corpus {
  readonly folder: string;
  readonly maxInputBytes: number;
  readonly maxAreaBytes: number;
}

/** What runs leave behind. */
const LEFT = path.join(packageRoot(), 'cache', 'fuzz');
/** What they find. */
export const FINDINGS = path.join(LEFT, 'findings');
/** What they keep for the next one. */
export const KEPT: Corpus = { folder: path.join(LEFT, 'corpus'), maxInputBytes: 65_536, maxAreaBytes: 8_388_608 };
/** What is committed: a clone stays small. */
export const COMMITTED: Corpus = { folder: path.join(packageRoot(), 'test', 'fuzz-corpus'), maxInputBytes: 4096, maxAreaBytes: 32_768 };

/** The inputs of an area, each once. */
export function inputsOf(area: string, ...corpora: readonly Corpus[]): readonly Buffer[] {
  const files = corpora
    .map(({ folder }) => path.join(folder, area))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((name) => path.join(folder, name)));
  return [...new Map(files.map((file) => [path.basename(file), readFileSync(file)])).values()];
}

/** Writes an input under its digest. @returns the file. */
export function keep(folder: string, area: string, input: Uint8Array): string {
  const file = path.join(folder, area, `${createHash('sha256').update(input).digest('hex').slice(0, 12)}.bin`);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, input);
  return file;
}

/** Writes those that the corpus has room for. */
export function keepIn({ folder, maxInputBytes, maxAreaBytes }: Corpus, area: string, inputs: readonly Buffer[]): void {
  let bytes = inputsOf(area, { folder, maxInputBytes, maxAreaBytes }).reduce((sum, { length }) => sum + length, 0);
  for (const input of inputs) {
    if (input.length > maxInputBytes || bytes + input.length > maxAreaBytes) continue;
    bytes += input.length;
    keep(folder, area, input);
  }
}

/** The input in a file, and its area. */
export function inputOf(file: string): { readonly area: string; readonly input: Buffer } {
  return { area: path.basename(path.dirname(path.resolve(file))), input: readFileSync(file) };
}
