// The files of the page that the build of `console/` has left beside the code.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export interface PageFile {
  readonly type: string;
  readonly content: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The page by path of its address: `operations.html` is `/console`, every other file is below it. Empty without the folder. */
export function pageFiles(folder: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  for (const name of namesIn(folder)) {
    const type = TYPES[path.extname(name)];
    if (type === undefined) continue;
    const file = { type, content: readFileSync(path.join(folder, name)) };
    files.set(name === 'operations.html' ? '/console' : `/console/${name}`, file);
  }
  return files;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Not built: the server itself needs no page.
    return [];
  }
}
