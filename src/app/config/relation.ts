// The type of a rule between two or more settings.
import type { SettingKey } from './schema.ts';
import type { CompiledSettings } from './settings.ts';

export interface Relation {
  /** The setting that an error message names. */
  readonly key: SettingKey;
  /** Reads only the settings of this rule. Not called when one of them is invalid. */
  readonly holds: (settings: CompiledSettings) => boolean;
  /** A sentence without a full stop. */
  readonly rule: string;
  readonly mend: string;
}

/** Whether the WebSocket server has this port of its own; port 0 never collides. */
export function hasSocketPort({ websocket }: CompiledSettings, port: number): boolean {
  return websocket.enabled && websocket.listen === 'own' && port !== 0 && websocket.port === port;
}
