// Structured logging. What is logged is decided here once: JSON lines, a fixed set of levels, and a redaction list as a
// second net under the rule that callers' data never reaches a log call.
import { constants, fstatSync, openSync } from 'node:fs';
import { pino, type DestinationStream, type Logger as PinoLogger } from 'pino';
import { errorFields } from './error-fields.ts';
import { readableLines } from './readable-log.ts';

/** Log levels, the quietest last. `silent` writes nothing. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Plain values for one log line. Never tokens, nonces, digits, transcripts or audio. */
export type LogFields = Readonly<Record<string, unknown>>;

/** What a process logs, and where. */
export interface LogOptions {
  readonly level: LogLevel;
  /** Only the bot's author calls this server: errors are logged with their messages, and a terminal gets readable lines. Default false. */
  readonly isDevelopment?: boolean;
  /** Where lines go; default standard error, so that standard output stays for results. */
  readonly destination?: DestinationStream;
  /** Called with every line of JSON, too. */
  readonly onLine?: (line: string) => void;
}

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
  /** From now on, lines whose `field` is one of `values` are written whatever their level. The set of values may change later. */
  readonly writeAll: (field: string, values: Values) => void;
}

/** A set, or the keys of a map. */
type Values = Pick<ReadonlySet<unknown>, 'has' | 'size'>;

// The second net: names that careless code might give to data that must not be logged.
const REDACTED = ['token', 'authorization', 'nonce', 'digits', 'text', 'transcript', 'audio', 'secret', 'password'];

/** Most bytes, some thousand lines, that wait while the destination accepts none. Further lines are dropped. */
const MAX_WAITING_BYTES = 1_048_576;

/**
 * Where lines go by default. A full disk, or a pipe that nobody reads, can lose lines but never stops the server. Lines that could
 * not be written are tried again with the next line.
 *
 * @param fd - stays open as long as the process runs.
 */
export function logDestination(fd = 2): DestinationStream {
  const destination = pino.destination({ dest: unblocked(fd), sync: true, maxLength: MAX_WAITING_BYTES, retryEAGAIN: () => false });
  // Without a listener this error would end the process; it cannot be logged.
  destination.on('error', () => undefined);
  return destination;
}

/**
 * Opens the same pipe once more, without blocking: otherwise a slow reader would stop all calls. Other processes that use the pipe are
 * not affected. A descriptor that is no pipe or cannot be opened again is used unchanged.
 */
function unblocked(fd: number): number {
  try {
    if (!fstatSync(fd).isFIFO()) return fd;
    return openSync(`/proc/self/fd/${String(fd)}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return fd;
  }
}

/** Creates the process logger. Keeps the level itself, because children of the library's loggers do not follow their parent's. */
export function createLogger({ level, isDevelopment = false, onLine, ...options }: LogOptions): ProcessLogger {
  const destination = options.destination ?? usualDestination(isDevelopment);
  let least = numberOf(level);
  let wanted: { readonly field: string; readonly values: Values } | undefined;
  const isWanted = (logger: PinoLogger, fields: unknown): boolean => {
    if (wanted === undefined || wanted.values.size === 0) return false;
    const own = typeof fields === 'object' && fields !== null ? Object.getOwnPropertyDescriptor(fields, wanted.field) : undefined;
    return wanted.values.has(own === undefined ? logger.bindings()[wanted.field] : own.value);
  };
  const root = pino(
    {
      level: 'trace',
      hooks: {
        logMethod(args, method, level) {
          if (level >= least || isWanted(this, args[0])) method.apply(this, args);
        },
      },
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => errorFields(error, isDevelopment) },
      redact: { paths: REDACTED.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
    },
    onLine === undefined ? destination : seenBy(onLine, destination),
  );
  return Object.assign(root, {
    setLevel: (level: LogLevel) => {
      least = numberOf(level);
    },
    writeAll: (field: string, values: Values) => {
      wanted = { field, values };
    },
  });
}

function seenBy(onLine: NonNullable<LogOptions['onLine']>, destination: DestinationStream): DestinationStream {
  return {
    write: (line) => {
      onLine(line);
      destination.write(line);
    },
  };
}

function usualDestination(isDevelopment: boolean): DestinationStream {
  const destination = logDestination();
  const { isTTY } = process.stderr;
  return isDevelopment && isTTY ? readableLines(destination, process.stderr.hasColors()) : destination;
}

function numberOf(level: LogLevel): number {
  return pino.levels.values[level] ?? Infinity;
}
