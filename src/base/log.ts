// Structured logging. What is logged is decided here once: JSON lines, a fixed set of levels, and a redaction list as a
// second net under the rule that callers' data never reaches a log call.
import { constants, fstatSync, openSync } from 'node:fs';
import { pino, type DestinationStream } from 'pino';
import { AppError, isA } from './errors.ts';

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

/** The logger of a process. */
export interface ProcessLogger extends Logger {
  /** Changes the level of this logger and of all its children. */
  readonly setLevel: (level: LogLevel) => void;
}

// The second net. Each name is one that a careless caller might use for data that must not be logged.
const REDACTED = ['token', 'authorization', 'nonce', 'digits', 'text', 'transcript', 'audio', 'secret', 'password'];

// A line of a stack that names a place in a file; lines of a message that look like one lack line and column.
const FRAME = /^ {4}at .*:\d+:\d+\)?$/u;
const MAX_FRAMES = 8;
const MAX_CAUSES = 3;

/** Lines that wait for a destination which takes none at the moment, bytes: some thousands. Those beyond are dropped. */
const MAX_WAITING_BYTES = 1_048_576;

/**
 * What a log line says of an error. Our own errors may speak, their messages are written for operators; of foreign
 * errors only class, system code and place are kept, because a bot may have put what the caller said into the message.
 */
export function errorFields(error: unknown, depth = 0): LogFields {
  try {
    return isA(error, Error) ? fieldsOf(error, depth) : { thrown: typeof error, at: [] };
  } catch {
    // Foreign code may have made an error whose members throw, or hold something else than they should.
    return { thrown: 'unreadable', at: [] };
  }
}

function fieldsOf(error: Error, depth: number): LogFields {
  const own = error instanceof AppError;
  const code = own ? error.code : 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return {
    thrown: error.constructor.name,
    ...(code === undefined ? {} : { code }),
    ...(own ? { message: error.message, ...error.details } : {}),
    at: (error.stack ?? '')
      .split('\n')
      .filter((line) => FRAME.test(line))
      .slice(0, MAX_FRAMES)
      .map((line) => line.trim()),
    ...(error.cause === undefined || depth >= MAX_CAUSES ? {} : { cause: errorFields(error.cause, depth + 1) }),
  };
}

/**
 * Where lines go by default. A disk that is full, or a pipe that nobody reads, costs lines and never the server: what could not
 * be written is tried again with the next line.
 *
 * @param fd - stays open as long as the process runs.
 */
export function logDestination(fd = 2): DestinationStream {
  const destination = pino.destination({ dest: unblocked(fd), sync: true, maxLength: MAX_WAITING_BYTES, retryEAGAIN: () => false });
  // Without a listener it would end the process; there is no place to tell it in.
  destination.on('error', () => undefined);
  return destination;
}

/**
 * The same pipe, opened once more: who waits for its reader would stand still with all calls. Nobody else who has the pipe is
 * concerned. What is no pipe, or cannot be opened, stays as it is.
 */
function unblocked(fd: number): number {
  try {
    if (!fstatSync(fd).isFIFO()) return fd;
    return openSync(`/proc/self/fd/${String(fd)}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return fd;
  }
}

/**
 * Creates the process logger. Its level is kept beside it, because children of the library's loggers do not follow their parent's.
 *
 * @param options.destination - where lines go; default standard error, so that standard output stays for results.
 */
export function createLogger(options: { level: LogLevel; destination?: DestinationStream }): ProcessLogger {
  let least = numberOf(options.level);
  const root = pino(
    {
      level: 'trace',
      hooks: {
        logMethod(args, method, level) {
          if (level >= least) method.apply(this, args);
        },
      },
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => errorFields(error) },
      redact: { paths: REDACTED.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
    },
    options.destination ?? logDestination(),
  );
  return Object.assign(root, {
    setLevel: (level: LogLevel) => {
      least = numberOf(level);
    },
  });
}

function numberOf(level: LogLevel): number {
  return pino.levels.values[level] ?? Infinity;
}
