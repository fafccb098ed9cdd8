// Default folders of bots and their recordings.
import path from 'node:path';
import { packageRoot } from '../base/package-root.ts';
import type { Settings } from './config/settings.ts';

/** Default folder of bot modules: compiled bots next to compiled source, TypeScript bots next to TypeScript source. */
export function botsFolder({ folder }: Settings['bots']): string {
  return folder ?? path.join(import.meta.dirname, '..', '..', 'bots');
}

/** Default folder of recorded prompts: always in the source tree, because audio files are not compiled. */
export function promptsFolder(bots: Settings['bots']): string {
  return bots.promptsFolder ?? path.join(bots.folder ?? path.join(packageRoot(), 'bots'), 'prompts');
}
