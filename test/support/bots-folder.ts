// Folders of bot modules for tests, in plain JavaScript so that any process can load them. They see the source's door.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import writeFileAtomic from 'write-file-atomic';

const door = new URL('../../src/bot/index.ts', import.meta.url).href;

/** Writes files, by their relative names, into a new folder. Whoever makes it removes it. */
export async function makeFolder(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await mkdtemp(path.join(os.tmpdir(), 'parley-bots-'));
  await writeFiles(root, files);
  return root;
}

/** Writes files into a folder. */
export async function writeFiles(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    // Whole at once: a folder that is watched must not be seen between the emptying and the writing.
    await writeFileAtomic(path.join(root, name), text);
  }
}

/** Removes such a folder. */
export async function removeFolder(root: string): Promise<void> {
  await rm(root, { recursive: true, force: true });
}

/**
 * A bot module; `members` replace or follow what every bot has.
 *
 * @param from - address of the door that it sees; default: the source's.
 */
export function botModule(id: string, members = '', from = door): string {
  return [
    `import { bot, go, listen, play, say } from ${JSON.stringify(from)};`,
    `export default bot({ id: '${id}', name: 'Bot ${id}', version: 1,`,
    `  session_start: () => go(null, say('Hello from ${id}.').listen()), otherwise: () => go(null, listen()), ${members} });`,
    '',
  ].join('\n');
}
