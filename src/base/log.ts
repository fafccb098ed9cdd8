// Structured logging. What is logged is decided here once: JSON lines, a fixed set of levels, and a redaction list as a
// second net under the rule that callers' data never reaches a log call.
import { pino, type DestinationStream } from 'pino';

/** Log levels, the quietest last. `silent` writes nothing. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Plain values for one log line. Never tokens, nonces, digits, transcripts or audio. */
export type LogFields = Readonly<Record<string, unknown>>;

/** What the rooms see of the logger. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  /** A logger that adds `fields` to every line. */
  child(fields: LogFields): Logger;
}

// The second net. Each name is one that a careless caller might use for data that must not be logged.
const REDACTED = ['token', 'authorization', 'nonce', 'digits', 'text', 'transcript', 'audio', 'secret', 'password'];

/**
 * Creates the process logger.
 *
 * @param options.destination - where lines go; default standard error, so that standard output stays for results.
 */
export function createLogger(options: { level: LogLevel; destination?: DestinationStream }): Logger {
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: REDACTED.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
    },
    options.destination ?? pino.destination({ dest: 2, sync: true }),
  );
}
