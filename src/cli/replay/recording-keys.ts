// The keys that open recordings, for commands that take recordings as files.
import { sealKeys } from '../../app/changing-secrets.ts';
import { loadSections } from '../../app/config/load-settings.ts';
import { projectFile } from '../../app/config/sources.ts';
import type { RecordingKeys } from '../../recording/sealed-file.ts';

/** @param argv - flags of settings; default: the project's file. @throws AppError `config_invalid`. */
export function recordingKeys(argv: readonly string[] = ofProject()): RecordingKeys {
  return sealKeys(loadSections({ argv }, 'recordings').settings.recordings.keys);
}

function ofProject(): readonly string[] {
  const file = projectFile();
  return file === undefined ? [] : [`--config=${file}`];
}
