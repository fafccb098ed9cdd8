// What the reference looks at beside what it is told. Kept small: what it takes from the engine it cannot hold against it.
import type { Snapshot } from '../../src/session/snapshot/snapshot.ts';

/** What the reference may look at beside what it is told: things that only the engine can know. */
export interface View {
  /** Every prompt is on the wire as soon as it is said, so that the reference knows when a reply begins. */
  readonly isHeardExact: boolean;
  readonly isSpokenInPieces: boolean;
  nowMs(): number;
  /** Of the session that the call has now. */
  snapshot(): Snapshot | undefined;
  /** A prompt that may not be cut waits for its sound. */
  isFloorHeld(): boolean;
  /** The end is decided; the farewell waits for its sound. */
  isEnding(): boolean;
  /** The engine ends the call from its side. */
  isLeaving(): boolean;
  /** The server stops, or the call lasts too long: the engine may hand the caller over. */
  mayHandOver(): boolean;
  wrong(rule: string, what: string): void;
}
