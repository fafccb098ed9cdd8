// The settings under which a call was recorded, as the engine takes them.
import { checkSettings } from '../../app/config/load-settings.ts';
import { engineSettings } from '../../app/room-settings.ts';
import type { JsonValue } from '../../base/json.ts';
import type { Recording } from '../../recording/recording.ts';
import type { EngineSettings } from '../../session/settings.ts';

/** Turns streaming recognition on. Nothing connects to this address. */
const SOME_STREAM = 'recognizer.stream.url=ws://127.0.0.1:9';

/** The settings of the recorded call. A setting that the recording does not keep, or this version does not know, has its default. */
export function recordedSettings({ header, events }: Recording): EngineSettings {
  const given = flagsOf('', header.settings);
  // The recognizer was a streaming one, whose words decided how long a pause could be.
  if (events.some(({ kind }) => kind === 'interim')) given.push(`--${SOME_STREAM}`);
  return engineSettings(checkSettings({ argv: given, env: {} }).compiled);
}

function flagsOf(name: string, value: JsonValue): string[] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return Object.entries(value).flatMap(([key, member]) => flagsOf(name === '' ? key : `${name}.${key}`, member));
  return [`--${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`];
}
