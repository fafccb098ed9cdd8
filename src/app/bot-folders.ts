// Default folders of bots and their recordings.
import path from 'node:path';
import { packageRoot } from '../base/package-root.ts';
import type { Settings } from './config/settings.ts';

/** Default folder of bot modules: compiled bots beside compiled source, TypeScript bots beside TypeScript source. */
export function botsFolder({ folder }: Settings['bots']): string {
  return folder ?? path.join(import.meta.dirname, '..', '..', 'bots');
}

/** Default folder of recordings: always in the source tree, because they are not compiled. */
export function promptsFolder(bots: Settings['bots']): string {
  return bots.promptsFolder ?? path.join(bots.folder ?? path.join(packageRoot(), 'bots'), 'prompts');
}
