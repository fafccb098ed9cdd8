// Finds where in a bots folder an error arose, from its stack. Knows the stack formats of Node and tsx, and nothing of bots.
import { pathToFileURL } from 'node:url';

/**
 * The topmost frame of an error's stack inside the folder, as `file:line`; undefined when there is none.
 *
 * @param folder - absolute path.
 */
export function locationInFolder(folder: string, thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || thrown.stack === undefined) return undefined;
  for (const start of [`${pathToFileURL(folder).href}/`, `${folder}/`]) {
    // A reloaded module has a query after its name.
    const frame = new RegExp(`${escape(start)}(?<file>[^\\s:?()]+)(?:\\?[^\\s:()]*)?:(?<line>\\d+)`, 'u').exec(thrown.stack)?.groups;
    if (frame !== undefined) return `${String(frame['file'])}:${String(frame['line'])}`;
  }
  return undefined;
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/gu, '\\$&');
}
