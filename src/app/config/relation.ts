// What a rule between two or more settings is made of. The rules themselves stand elsewhere.
import type { SettingKey } from './schema.ts';
import type { CompiledSettings } from './settings.ts';

export interface Relation {
  /** Whose value is blamed. */
  readonly key: SettingKey;
  /** Reads no more settings than the rule is about: it is not asked where one of them is wrong in itself. */
  readonly holds: (settings: CompiledSettings) => boolean;
  /** As a sentence without a full stop. */
  readonly rule: string;
  readonly mend: string;
}

/** True when the WebSocket server listens on this port; 0 is never taken. */
export function hasSocketPort({ websocket }: CompiledSettings, port: number): boolean {
  return websocket.enabled && websocket.listen === 'own' && port !== 0 && websocket.port === port;
}
