// The settings under which a call was recorded, as the engine takes them.
import { checkSettings } from '../../app/config/load-settings.ts';
import { engineSettings } from '../../app/room-settings.ts';
import type { JsonValue } from '../../base/json.ts';
import type { Recording } from '../../recording/recording.ts';
import type { EngineSettings } from '../../session/settings.ts';

/** Nothing is connected to it. */
const SOME_STREAM = 'recognizer.stream.url=ws://127.0.0.1:9';

/** Settings that this version does not know, and those that a recording does not keep, have their defaults. */
export function recordedSettings({ header, events }: Recording): EngineSettings {
  const given = flagsOf('', header.settings);
  // Words that came while the caller spoke decided how long a pause could be.
  if (events.some(({ kind }) => kind === 'interim')) given.push(`--${SOME_STREAM}`);
  return engineSettings(checkSettings({ argv: given, env: {} }).compiled);
}

function flagsOf(name: string, value: JsonValue): string[] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return Object.entries(value).flatMap(([key, member]) => flagsOf(name === '' ? key : `${name}.${key}`, member));
  return [`--${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`];
}
