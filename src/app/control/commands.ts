// The commands of an operator to a running server, and what each of its processes answers: plain JSON, between processes of one
// program.
import { AppError } from '../../base/errors.ts';
import { LOG_LEVELS, type LogLevel } from '../../base/log.ts';
import type { ReadinessState } from '../../ops/readiness.ts';
import type { Reloaded } from './reloading.ts';

/** How long a log level or the trace of a call may last, ms. */
const FOR_MS = { least: 1000, most: 24 * 3_600_000 } as const;
/** Longest conversation id. */
const MAX_ID_CHARACTERS = 512;
const SIMPLE = ['status', 'drain', 'undrain', 'reload'] as const;

/** `untilMs`: since the epoch. The processes of one server share a clock. */
export type Command =
  | { readonly kind: (typeof SIMPLE)[number] }
  | { readonly kind: 'log_level'; readonly level: LogLevel; readonly untilMs: number }
  | { readonly kind: 'trace'; readonly conversationId: string; readonly untilMs: number };

/** One process after a command. */
export interface ProcessReport {
  /** `server`, `primary` or `worker N`. */
  readonly process: string;
  /** As on the lines of its log. */
  readonly server: string;
  readonly version: string;
  readonly pid: number;
  readonly startedAtMs: number;
  readonly readiness: ReadinessState;
  /** Calls that live here, and their open turns. */
  readonly calls: number;
  readonly turns: number;
  readonly logLevel: LogLevel;
  /** When the configured log level comes back, ms since the epoch; absent: it is the configured one. */
  readonly logLevelUntilMs?: number;
  readonly traced: readonly TracedCall[];
  /** Only after `reload`. */
  readonly reloaded?: Reloaded;
}

/** A call all of whose lines are in the log. */
export interface TracedCall {
  readonly conversationId: string;
  /** ms since the epoch. */
  readonly untilMs: number;
  /** Whether the process knows the call. */
  readonly isHere: boolean;
}

/** The answer to a command. */
export interface Controlled {
  /** Whether the server as a whole is ready. */
  readonly readiness: ReadinessState;
  readonly processes: readonly ProcessReport[];
  /** Workers that did not answer in time. */
  readonly silent: number;
}

/**
 * The command that was sent.
 *
 * @param nowMs - since the epoch.
 * @throws AppError `bad_message`.
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
