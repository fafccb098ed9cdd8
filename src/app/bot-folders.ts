// Where bots and their recordings lie when the settings do not say it.
import path from 'node:path';
import { packageRoot } from '../base/package-root.ts';
import type { Settings } from './config/settings.ts';

/** The folder of the bot modules. The compiled bots stand beside the compiled source, the written ones beside the written source. */
export function botsFolder({ folder }: Settings['bots']): string {
  return folder ?? path.join(import.meta.dirname, '..', '..', 'bots');
}

/** The folder of the recordings. They are not compiled: those of the bundled bots stay where they were written. */
export function promptsFolder(bots: Settings['bots']): string {
  return bots.promptsFolder ?? path.join(bots.folder ?? path.join(packageRoot(), 'bots'), 'prompts');
}
