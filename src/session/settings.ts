// The operator's choices for the engine, compiled once when the program starts. Times are ms.
import type { DeliveryMode, ListenSettings } from '../dialog/output.ts';

/** Settings of the engine; the keys of the configuration file are named in docs/config.md. */
export interface EngineSettings {
  /** Most sessions that may be open at once. */
  readonly maxSessions: number;
  /** A session in which nothing arrives for this long is ended (G-93). */
  readonly idleTimeoutMs: number;
  /** Longest life of a session (G-93). */
  readonly maxDurationMs: number;
  /** Pause between two sweeps for idle sessions. */
  readonly sweepMs: number;
  /** Largest record of a session as JSON, bytes. */
  readonly maxRecordBytes: number;
  /** Longest a bot may take for one reply. */
  readonly turnDeadlineMs: number;
  /** Longest wait for a client that does not read (G-91). */
  readonly slowReaderMs: number;
  /** How prompts travel (G-40). */
  readonly mode: DeliveryMode;
  /** May the welcome be cut by the caller (G-27). */
  readonly welcomeBargeIn: boolean;
  /** Fills in what a bot's `listen` leaves out. */
  readonly listen: ListenSettings;
  /** Heard when a bot fails for the first time. */
  readonly apology: string;
  /** Heard before a failing bot's call goes to a human. */
  readonly handover: string;
}
