// Which settings differ between two readings of the configuration. Compares what was written, with secrets masked: secrets have
// files of their own, which are watched.
import type { LoadedSettings } from './load-settings.ts';
import { isSettingKey, RULES, type SettingKey } from './schema.ts';

/** Their keys, in the order of the schema. */
export function changedSettings(before: LoadedSettings, after: LoadedSettings): readonly SettingKey[] {
  return [...RULES.keys()].filter(isSettingKey).filter((key) => JSON.stringify(before.masked(key)) !== JSON.stringify(after.masked(key)));
}
