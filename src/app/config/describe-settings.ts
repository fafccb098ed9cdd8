// The effective configuration as printable rows of key, value and origin, and the differences between two configurations. Secrets are
// masked before they come here.
import type { LoadedSettings } from './load-settings.ts';
import { isSettingKey, RULES, type SettingKey } from './schema.ts';
import { shortText } from './rules.ts';
import { originText } from './sources.ts';

const KEYS = [...RULES.keys()].filter(isSettingKey);

/** One setting as `parley config` prints it. */
export interface SettingRow {
  readonly key: string;
  /** The value as written, secrets masked. */
  readonly value: unknown;
  /** The value on one line. */
  readonly text: string;
  /** `config/default.yaml:12`, `PARLEY_GRPC_PORT` or `--grpc.port`. */
  readonly origin: string;
  readonly isDefault: boolean;
}

/** The origin of one setting, as text. */
export function originOf({ origin, cwd }: Pick<LoadedSettings, 'origin' | 'cwd'>): (key: SettingKey) => string {
  return (key) => originText(origin(key), cwd);
}

/** The settings that differ, in the order of the schema. Ignores secrets that are in files of their own. */
export function changedSettings(before: LoadedSettings, after: LoadedSettings): readonly SettingKey[] {
  return KEYS.filter((key) => JSON.stringify(before.masked(key)) !== JSON.stringify(after.masked(key)));
}

/** One row per key, in the order of the schema. */
export function describeSettings(loaded: LoadedSettings): readonly SettingRow[] {
  return KEYS.map((key) => {
    const origin = loaded.origin(key);
    const value = loaded.masked(key);
    return { key, value, text: shortText(value), origin: originText(origin, loaded.cwd), isDefault: origin.kind === 'default' };
  });
}
