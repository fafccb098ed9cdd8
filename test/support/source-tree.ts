// The project's own files, for the tests that hold the house to its rules.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/** Absolute path of the project. */
export const ROOT = path.resolve(import.meta.dirname, '../..');

/** One file of ours. */
export interface SourceFile {
  /** Relative to the project, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/**
 * Reads every file at or under the given places, generated code left out. A place that does not exist has no files; a rule
 * that must see some demands so itself.
 *
 * @param places - relative to `root`: folders, or single files.
 * @param endings - such as `.ts`; without it every file.
 */
export function filesUnder(places: readonly string[], endings: readonly string[] = [''], root = ROOT): readonly SourceFile[] {
  return places
    .filter((place) => existsSync(path.join(root, place)))
    .flatMap((place) => (statSync(path.join(root, place)).isDirectory() ? inFolder(path.join(root, place)) : [path.join(root, place)]))
    .map((file) => path.relative(root, file).split(path.sep).join('/'))
    .filter((file) => !file.startsWith('src/contract/gen/') && endings.some((ending) => file.endsWith(ending)))
    .sort()
    .map((file) => ({ path: file, text: readFileSync(path.join(root, file), 'utf8') }));
}

function inFolder(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}
