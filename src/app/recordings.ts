// Opens the recorder of calls, if recording is configured, and the reader of recordings.
import type { JsonObject, JsonValue } from '../base/json.ts';
import { packageVersion } from '../base/package-root.ts';
import { RecordedCalls } from '../recording/recorded-calls.ts';
import { FolderRecorder, type RecordingObserver } from '../recording/recorder.ts';
import { RecordingFolder } from '../recording/recording-folder.ts';
import { Tidying } from '../recording/tidying.ts';
import { sealKeys } from './changing-secrets.ts';
import { toSnake } from './config/naming.ts';
import type { Settings } from './config/settings.ts';
import type { ProcessParts } from './process-parts.ts';

/** The recorder of this process. Undefined when calls are not recorded; then only the limits of the folder are enforced. */
export function openRecorder(
  settings: Settings,
  { clock, log, lifecycle, observer }: ProcessParts & { readonly observer: RecordingObserver },
): FolderRecorder | undefined {
  const { enabled, folder, keys, parameters, maxCallBytes, ...others } = settings.recordings;
  const [key] = sealKeys(keys);
  const { share, bots, organizations, maxCalls, maxBytes, maxAgeDays } = others;
  const keeping = { maxCalls, maxBytes, maxAgeDays };
  if (!enabled || key === undefined) {
    // Older recordings are deleted when their retention ends.
    const tidying = new Tidying({ folder: new RecordingFolder(folder, []), keeping, clock, log });
    lifecycle.opened('recordings', () => tidying.close());
    return undefined;
  }
  const recorder = new FolderRecorder({
    ...{ folder, key, parameters, maxCallBytes, clock, log, observer },
    choice: { share, bots, organizations },
    keeping,
    settings: recordedSettings(settings),
    version: packageVersion(),
  });
  lifecycle.opened('recordings', () => recorder.close());
  return recorder;
}

/** Recorded calls for the console; undefined without a key to read them. The caller closes them. */
export function openRecordedCalls(
  { recordings: { folder, keys } }: Pick<Settings, 'recordings'>,
  parts: Pick<ProcessParts, 'clock' | 'log'>,
): RecordedCalls | undefined {
  return keys.length === 0 ? undefined : new RecordedCalls({ folder, keys: sealKeys(keys), ...parts });
}

/** The settings that affect a call, by their names in the configuration. None of them is secret. */
function recordedSettings({ turns, media, listen, speech, prompts, synthesizer, recognizer }: Settings): JsonObject {
  const { languages: _, ...lines } = prompts;
  const sections = { turns, media, listen, speech, prompts: lines, synthesizer: { engine: synthesizer.engine, voice: synthesizer.voice } };
  const named = (section: Readonly<Record<string, JsonValue | undefined>>): JsonObject =>
    Object.fromEntries(Object.entries(section).flatMap(([name, value]) => (value === undefined ? [] : [[toSnake(name), value]])));
  return {
    ...Object.fromEntries(Object.entries(sections).map(([name, section]) => [name, named(section)])),
    recognizer: { engine: recognizer.engine, stream: { pause_ms: recognizer.stream.pauseMs } },
  };
}
