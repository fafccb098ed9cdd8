// The keys that open recordings.
import type { RecordingKeys } from '../../recording/sealed-file.ts';

export function recordingKeys(_argv: readonly string[]): RecordingKeys {
  return [];
}
