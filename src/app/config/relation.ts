// What rules between two or more settings are made of. The rules themselves stand elsewhere.
import type { Compiled, SCHEMA, SettingKey } from './schema.ts';

/** The settings before the last step: every value is right in itself. */
export type CompiledSettings = Compiled<typeof SCHEMA>;

/** True when the WebSocket server listens on this port; 0 is never taken. */
export function hasSocketPort({ websocket }: CompiledSettings, port: number): boolean {
  return websocket.enabled && websocket.listen === 'own' && port !== 0 && websocket.port === port;
}

/** One rule between settings. */
export interface Relation {
  /** What it looks at; the first one is blamed. */
  readonly keys: readonly [SettingKey, ...SettingKey[]];
  readonly holds: (settings: CompiledSettings) => boolean;
  readonly rule: string;
  readonly mend: string;
}
