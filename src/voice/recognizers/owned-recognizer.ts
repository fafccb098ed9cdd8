// A recognizer that its owner closes.
import type { Recognizer } from '../../session/ports.ts';

/** A recognizer that must be closed. */
export interface OwnedRecognizer extends Recognizer {
  /** Aborts pending work and resolves when it has ended. */
  close(): Promise<void>;
}
