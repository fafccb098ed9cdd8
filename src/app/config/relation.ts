// What a rule between two or more settings is made of. The rules themselves stand elsewhere.
import type { Compiled, SCHEMA, SettingKey } from './schema.ts';

/** The settings before the last step: every value is right in itself. */
export type CompiledSettings = Compiled<typeof SCHEMA>;

/** One rule between settings. */
export interface Relation {
  /** What it looks at; the first one is blamed. */
  readonly keys: readonly [SettingKey, ...SettingKey[]];
  readonly holds: (settings: CompiledSettings) => boolean;
  readonly rule: string;
  readonly mend: string;
}
