// The type of a rule between two or more settings.
import type { SettingKey } from './schema.ts';
import type { CompiledSettings } from './settings.ts';

export interface Relation {
  /** The setting to blame. */
  readonly key: SettingKey;
  /** Reads only the settings it is about. Not called when one of them is invalid. */
  readonly holds: (settings: CompiledSettings) => boolean;
  /** As a sentence without a full stop. */
  readonly rule: string;
  readonly mend: string;
}

/** Whether the WebSocket server listens on this port; 0 never collides. */
export function hasSocketPort({ websocket }: CompiledSettings, port: number): boolean {
  return websocket.enabled && websocket.listen === 'own' && port !== 0 && websocket.port === port;
}
