// Formats log lines for a person at a terminal. Knows the form of our lines, and nothing of what they are about.
import { createColors } from 'picocolors';
import type { DestinationStream } from 'pino';
import { oneLine } from './one-line.ts';

/** Longest text of one field or message, characters. */
const MAX_TEXT = 400;

type Colours = ReturnType<typeof createColors>;
type Fields = Readonly<Record<string, unknown>>;

/** Writes JSON lines to `destination` in a form that people can read. */
export function readableLines(destination: DestinationStream, isColoured: boolean): DestinationStream {
  const colours = createColors(isColoured);
  return {
    write: (line) => {
      destination.write(readableLine(line, colours));
    },
  };
}

/** Time, level and message, then the fields; below them an error with its message and where it was thrown. */
function readableLine(line: string, colours: Colours): string {
  // A terminal shows one server, so its name and version add nothing.
  const { time, level, msg, err, server: _, version: __, ...fields } = JSON.parse(line) as Fields;
  // A failed bot has its own log line, with the fields of the error among the others.
  const isThrown = 'thrown' in fields;
  const error = isThrown ? fields : isFields(err) ? err : undefined;
  const paint = paintOf(level, colours);
  const head = `${colours.dim(shown(time).slice(11, 23))} ${paint(shown(level).padEnd(5))} ${paint(shown(msg))}`;
  const rest = Object.entries(fields).filter(([name]) => !isThrown || !OF_ERRORS.has(name));
  const words = rest.map(([name, value]) =>
    name === 'words' ? colours.cyan(`"${shown(value)}"`) : colours.dim(`${name}=${shown(value)}`),
  );
  return `${[[head, ...words].join('  '), ...(error === undefined ? [] : errorLines(error, colours))].join('\n')}\n`;
}

const OF_ERRORS = new Set(['thrown', 'name', 'message', 'place', 'at', 'cause']);

function errorLines(error: Fields, colours: Colours): readonly string[] {
  const { thrown, name = thrown, message, place, at, cause } = error;
  const said = `    ${colours.red(shown(name))}${message === undefined ? '' : `: ${shown(message)}`}`;
  const frames = Array.isArray(at) ? at.map((frame) => colours.dim(`      ${shown(frame)}`)) : [];
  const own = place === undefined ? [] : [`      ${colours.yellow(`in ${shown(place)}`)}`];
  return [said, ...own, ...frames, ...(isFields(cause) ? errorLines(cause, colours) : [])];
}

function paintOf(level: unknown, colours: Colours): (text: string) => string {
  if (level === 'error' || level === 'fatal') return colours.red;
  if (level === 'warn') return colours.yellow;
  return level === 'info' ? String : colours.dim;
}

/** A value on one line, without anything that steers the terminal. */
function shown(value: unknown): string {
  return oneLine(typeof value === 'string' ? value : JSON.stringify(value), MAX_TEXT);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
