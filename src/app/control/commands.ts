// Operators' commands to a running server, and the answer of each of its processes: plain JSON, between processes of one program.
import { AppError } from '../../base/errors.ts';
import { LOG_LEVELS, type LogLevel } from '../../base/log.ts';
import type { ReadinessState } from '../../ops/readiness.ts';
import type { Reloaded } from './reloading.ts';

/** Shortest and longest duration of a log level or of the trace of a call, ms. */
const FOR_MS = { least: 1000, most: 24 * 3_600_000 } as const;
/** Most characters of a conversation id. */
const MAX_ID_CHARACTERS = 512;
const SIMPLE = ['status', 'drain', 'undrain', 'reload'] as const;

/** `untilMs`: ms since the epoch. All processes of a server have the same clock. */
export type Command =
  | { readonly kind: (typeof SIMPLE)[number] }
  | { readonly kind: 'log_level'; readonly level: LogLevel; readonly untilMs: number }
  | { readonly kind: 'trace'; readonly conversationId: string; readonly untilMs: number };

/** The state of one process after a command. */
export interface ProcessReport {
  /** `server`, `primary` or `worker N`. */
  readonly process: string;
  /** The short instance id that every log line of the process has. */
  readonly server: string;
  readonly version: string;
  readonly pid: number;
  readonly startedAtMs: number;
  readonly readiness: ReadinessState;
  /** Calls that live in this process, and their open turns. */
  readonly calls: number;
  readonly turns: number;
  readonly logLevel: LogLevel;
  /** When the configured log level returns, ms since the epoch; absent: it is in force. */
  readonly logLevelUntilMs?: number;
  readonly traced: readonly TracedCall[];
  /** Set after `reload`. */
  readonly reloaded?: Reloaded;
}

/** A traced call: all its lines are logged, whatever the log level. */
export interface TracedCall {
  readonly conversationId: string;
  /** End of the trace, ms since the epoch. */
  readonly untilMs: number;
  /** Whether the process knows the call. */
  readonly isHere: boolean;
}

/** The answer to a command. */
export interface Controlled {
  /** Whether the server as a whole may get new calls. */
  readonly readiness: ReadinessState;
  readonly processes: readonly ProcessReport[];
  /** Number of workers that did not answer in time. */
  readonly silent: number;
}

/**
 * Reads a command.
 *
 * @param nowMs - ms since the epoch.
 * @throws AppError `bad_message` for an invalid command.
 */
export function commandIn(sent: unknown, nowMs: number): Command {
  const { kind, level, conversationId, forMs }: Partial<Record<string, unknown>> = typeof sent === 'object' ? { ...sent } : {};
  const simple = SIMPLE.find((each) => each === kind);
  if (simple !== undefined) return { kind: simple };
  const isBounded = typeof forMs === 'number' && forMs >= FOR_MS.least && forMs <= FOR_MS.most;
  const known = LOG_LEVELS.find((each) => each === level);
  if (isBounded && kind === 'log_level' && known !== undefined) return { kind, level: known, untilMs: nowMs + forMs };
  const isId = typeof conversationId === 'string' && conversationId !== '' && conversationId.length <= MAX_ID_CHARACTERS;
  if (isBounded && kind === 'trace' && isId) return { kind, conversationId, untilMs: nowMs + forMs };
  throw new AppError('bad_message', 'this is no command of this version');
}
