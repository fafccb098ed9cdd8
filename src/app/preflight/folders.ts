// Checks the folders that a server writes: permissions and free space. Creates nothing.
import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import type { CheckTask, Verdict } from '../../admin/doctor/check.ts';
import { fault, warning } from '../../admin/doctor/finding.ts';
import type { Settings } from '../config/settings.ts';

const MIB = 1_048_576;
/** Free space below which there is a warning, bytes: recording stops at recordings.max_bytes, or when the disk is full. */
const RECORDINGS_ROOM = 1024 * MIB;
/** A store with thousands of organizations, of which a write makes a second copy, bytes. */
const STORE_ROOM = 64 * MIB;

interface Folder {
  readonly key: string;
  readonly folder: string;
  /** Needed free space, bytes. */
  readonly room: number;
}

/** Examines each folder of the settings. */
export function folderTasks({ admin, store, recordings, synthesizer }: Settings): readonly CheckTask[] {
  const { cacheFolder, cacheMaxBytes } = synthesizer;
  const folders: readonly Folder[] = [
    ...(recordings.enabled ? [{ key: 'recordings.folder', folder: recordings.folder, room: RECORDINGS_ROOM }] : []),
    ...(admin.enabled && store.kind === 'memory'
      ? [{ key: 'admin.store.file', folder: path.dirname(admin.store.file), room: STORE_ROOM }]
      : []),
    ...(cacheFolder === undefined ? [] : [{ key: 'synthesizer.cache_folder', folder: cacheFolder, room: cacheMaxBytes }]),
  ];
  return folders.map((each) => ({ subject: { text: each.key, path: ['all', each.key] }, run: () => examined(each) }));
}

async function examined({ folder, room }: Folder): Promise<Verdict> {
  const there = await nearest(folder);
  const problem = await access(there, constants.W_OK | constants.X_OK).then(
    async () => ((await stat(there)).isDirectory() ? undefined : 'ENOTDIR'),
    (thrown: unknown) => (thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown'),
  );
  if (problem !== undefined) {
    const mend = 'let the user of the server write there, or name another folder';
    return [fault('folder_unusable', `nothing can be written to ${there} (${problem})`, mend, folder)];
  }
  const { bavail, bsize } = await statfs(there);
  if (bavail * bsize >= room) return [];
  const what = `${mib(bavail * bsize)} are free there, and ${mib(room)} may be needed`;
  return [warning('folder_full', what, 'make room, or name a folder on another disk', folder)];
}

/** The folder, or its nearest existing parent: the server creates missing folders. */
async function nearest(folder: string): Promise<string> {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    const isThere = await stat(at).then(
      () => true,
      () => at === path.dirname(at),
    );
    if (isThere) return at;
  }
}

function mib(bytes: number): string {
  return `${String(Math.floor(bytes / MIB))} MiB`;
}
