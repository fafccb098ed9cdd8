// The operator's choices for the engine, compiled once when the program starts. Times are ms.
import type { SpeechPatience } from '../speech/patience.ts';
import type { DeliveryMode, ListenSettings } from '../dialog/output.ts';

/** Settings of the engine; the keys of the configuration file are explained in config/default.yaml. */
export interface EngineSettings {
  /** Most sessions that may be open at once. */
  readonly maxSessions: number;
  /** A session in which nothing arrives for this long is ended (G-93). */
  readonly idleTimeoutMs: number;
  /** Longest life of a session (G-93). */
  readonly maxDurationMs: number;
  /** Pause between two sweeps for idle sessions. */
  readonly sweepMs: number;
  /** Largest state that a bot may keep of a call, and largest reply that is kept for another home, as JSON, bytes. */
  readonly maxStateBytes: number;
  /** Longest a bot may take for one reply. */
  readonly turnDeadlineMs: number;
  /** Longest wait for a client that does not read (G-91). */
  readonly slowReaderMs: number;
  /** Most that a handler may have said and its caller not heard; beyond it, it waits, or fails where nothing is heard yet. */
  readonly maxAheadMs: number;
  /** A bot that thinks for this long lets the caller hear `filler`; 0 never. */
  readonly fillerAfterMs: number;
  /** Longest wait until a farewell was heard, before a call is transferred or ended (G-7A). */
  readonly maxFarewellMs: number;
  /** Whether prompts go on that were cut by something in which a recognizer finds no words. */
  readonly resumesPrompts: boolean;
  /** Whether the platform gets a transcript with the last response (G-7B). */
  readonly keepsTranscript: boolean;
  /** Whether the log shows what was understood of callers; for a developer's own server. */
  readonly logsWords: boolean;
  /** How patiently callers are listened to. */
  readonly patience: SpeechPatience;
  /** Silence that ends an input while digits are being read out. */
  readonly digitSilenceMs: number;
  /** How prompts travel (G-40). */
  readonly mode: DeliveryMode;
  /** May the welcome be cut by the caller (G-27). */
  readonly welcomeBargeIn: boolean;
  /** Fills in what a bot's `listen` leaves out. */
  readonly listen: ListenSettings;
  /** Heard while a bot takes its time. */
  readonly filler: string;
  /** Heard when a bot fails for the first time. */
  readonly apology: string;
  /** Heard before a failing bot's call goes to a human. */
  readonly handover: string;
}
