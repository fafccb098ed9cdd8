// The fields of an error in a log line. Messages of our own errors are kept, because they are written for operators; of foreign errors
// only name, code and stack locations, because a bot may have put what the caller said into the message.
import { fileURLToPath } from 'node:url';
import { AppError, isA } from './errors.ts';

// A stack line that names a location in a file; message lines that look like one have no line and column.
const FRAME = /^ {4}at .*:\d+:\d+\)?$/u;
/** The location in a stack frame, with or without the name of a function before it. */
const PLACE = /^at (?:async )?(?:.*\()?(?<file>.*?)(?:\?.*)?(?<position>:\d+:\d+)\)?$/u;
const MAX_FRAMES = 8;
const MAX_CAUSES = 3;
/** Longest message of a foreign error, characters. */
const MAX_MESSAGE = 2000;
/** Names and codes as programs write them; anything else may be a caller's words. */
const WORD = /^\w{1,64}$/u;
/** The compiled or uncompiled code of this package. */
const OWN_CODE = fileURLToPath(new URL('../', import.meta.url));

/**
 * The fields of an error.
 *
 * @param isDevelopment - adds the message of a foreign error, and its location in the bot author's own code (`place`).
 */
export function errorFields(error: unknown, isDevelopment = false, depth = 0): Readonly<Record<string, unknown>> {
  try {
    return isA(error, Error)
      ? fieldsOf(error, isDevelopment, depth)
      : { thrown: typeof error, at: [], ...thrownValue(error, isDevelopment) };
  } catch {
    // Members of a foreign error may throw or have the wrong type.
    return { thrown: 'unreadable', at: [] };
  }
}

function fieldsOf(error: Error, isDevelopment: boolean, depth: number): Readonly<Record<string, unknown>> {
  const own = error instanceof AppError;
  const thrown = error.constructor.name;
  const frames = framesOf(error);
  const place = isDevelopment ? placeOf(frames) : undefined;
  return {
    thrown,
    ...(error.name !== thrown && !own && WORD.test(error.name) ? { name: error.name } : {}),
    ...('code' in error && typeof error.code === 'string' && WORD.test(error.code) ? { code: error.code } : {}),
    ...(own || isDevelopment ? { message: own ? error.message : error.message.slice(0, MAX_MESSAGE) } : {}),
    ...(own ? error.details : {}),
    ...(place === undefined ? {} : { place }),
    at: frames.slice(0, MAX_FRAMES),
    ...(error.cause === undefined || depth >= MAX_CAUSES ? {} : { cause: errorFields(error.cause, isDevelopment, depth + 1) }),
  };
}

/** Foreign code throws strings as often as errors. */
function thrownValue(thrown: unknown, isDevelopment: boolean): { readonly message?: string } {
  return isDevelopment && typeof thrown === 'string' ? { message: thrown.slice(0, MAX_MESSAGE) } : {};
}

/** The stack without the message before it, which may contain lines that look like frames. */
function framesOf({ stack = '', message }: Error): readonly string[] {
  const at = stack.indexOf(message);
  return stack
    .slice(at < 0 ? 0 : at + message.length)
    .split('\n')
    .filter((line) => FRAME.test(line))
    .map((line) => line.trim());
}

/** The innermost location outside of this package, installed packages and Node: `FILE:LINE:COLUMN`. */
function placeOf(frames: readonly string[]): string | undefined {
  for (const frame of frames) {
    // A reloaded module has a query after its file name.
    const { file = '', position = '' } = PLACE.exec(frame)?.groups ?? {};
    const path = file.startsWith('file:') ? fileURLToPath(file) : file;
    if (path !== '' && !path.startsWith('node:') && !path.includes('node_modules') && !path.startsWith(OWN_CODE)) return path + position;
  }
  return undefined;
}
