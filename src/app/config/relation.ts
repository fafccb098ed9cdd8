// What rules between two or more settings are made of. The rules themselves stand elsewhere.
import type { Compiled, SCHEMA, SettingKey } from './schema.ts';

/** The settings before the last step: every value is right in itself. */
export type CompiledSettings = Compiled<typeof SCHEMA>;

/** True when the WebSocket server listens on this port; 0 is never taken. */
export function hasSocketPort({ websocket }: CompiledSettings, port: number): boolean {
  return websocket.enabled && websocket.listen === 'own' && port !== 0 && websocket.port === port;
}

/** What a rule between settings finds wrong. */
export interface BrokenRelation {
  /** Whose value is blamed. */
  readonly key: SettingKey;
  readonly rule: string;
  readonly mend: string;
}

/** One rule between settings. It reads no more than it needs: it is not asked where one of these is wrong in itself. */
export type Relation = (settings: CompiledSettings) => BrokenRelation | undefined;

/** What is wrong, unless the rule holds. */
export function unless(holds: boolean, key: SettingKey, rule: string, mend: string): BrokenRelation | undefined {
  return holds ? undefined : { key, rule, mend };
}
