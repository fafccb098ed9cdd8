// The rules that the schema consists of: which values are valid, how the text of a variable or flag becomes a value, and how a value is
// printed. A rule never guesses: `"8086"` is no number and `yes` is no boolean. Knows no setting of Parley.
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { parseJson } from '../../base/json.ts';

/** The result of `read` for an invalid value; the reason goes to {@link Place.refuse}. */
export const REFUSED = Symbol('refused');
type Refused = typeof REFUSED;

/** The path to a member of a list or record: `[0, 'url']`. Empty for the setting itself. */
export type Path = readonly (string | number)[];

export interface Fault {
  readonly path: Path;
  /** The value as printed, with secrets masked. */
  readonly shown: string;
  readonly wants: string;
  readonly mend: string;
}

export interface Place {
  /** Absolute folder for relative paths. */
  readonly baseFolder: string;
  readonly path: Path;
  refuse(fault: Fault): void;
  /** Reads the file at this absolute path. Default: from disk. */
  readonly contentOf?: (file: string) => Buffer;
}

/**
 * The rule for the value of one setting.
 *
 * @typeParam T - the final value.
 * @typeParam W - the value as written in a file or in code.
 */
export interface Rule<T, W = T> {
  /** Never set; carries the type W. */
  readonly written?: W;
  /** Continues "must be …", with the bounds. */
  readonly wants: string;
  /** Whether the value or a part of it is secret. */
  readonly holdsSecrets: boolean;
  /** Converts the text of a variable or flag to a value. Returns text that it cannot convert unchanged. */
  fromText(text: string): unknown;
  /** A copy to print, with secrets masked; also for invalid values. */
  mask(value: unknown): unknown;
  /** Converts a written value to the final value. */
  read(value: unknown, place: Place): T | Refused;
}

const MASK = '****';
const MAX_SHOWN_CHARACTERS = 200;
const MAX_SECRET_BYTES = 4096;

/** A value as one short line, with secrets masked. */
export function showValue(rule: Pick<Rule<unknown>, 'mask'>, value: unknown): string {
  return shortText(rule.mask(value));
}

/** A value without secrets as one short line; empty text as ''. */
export function shortText(masked: unknown): string {
  if (masked === '') return "''";
  const text = typeof masked === 'string' ? masked : ((JSON.stringify(masked) as string | undefined) ?? String(masked));
  return text.length <= MAX_SHOWN_CHARACTERS ? text : `${text.slice(0, MAX_SHOWN_CHARACTERS)}…`;
}

function refuse(rule: Pick<Rule<unknown>, 'mask' | 'wants'>, value: unknown, place: Place, mend: string, wants = rule.wants): Refused {
  place.refuse({ path: place.path, shown: showValue(rule, value), wants, mend });
  return REFUSED;
}

/** A rule for a single value that `accepts` decides on. */
function plain<T>(wants: string, mend: string, accepts: (value: unknown) => value is T, fromText: (text: string) => unknown): Rule<T> {
  return {
    wants,
    holdsSecrets: false,
    fromText,
    mask: (value) => value,
    read(value, place) {
      return accepts(value) ? value : refuse(this, value, place, mend);
    },
  };
}

const asIs = (text: string): string => text;

/** A whole number between two bounds, both included. */
export function integer(min: number, max: number): Rule<number> {
  return plain(
    `a whole number from ${String(min)} to ${String(max)}`,
    'write a number within the bounds, digits only and without quotes',
    (value): value is number => typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max,
    (text) => (/^-?\d{1,15}$/u.test(text) ? Number(text) : text),
  );
}

/** A number between two bounds, both included. */
export function number(min: number, max: number): Rule<number> {
  return plain(
    `a number from ${String(min)} to ${String(max)}`,
    'write a number within the bounds, with a point and without quotes',
    (value): value is number => typeof value === 'number' && value >= min && value <= max,
    (text) => (/^\d{1,15}(?:\.\d{1,15})?$/u.test(text) ? Number(text) : text),
  );
}

export function flag(): Rule<boolean> {
  return plain(
    'true or false',
    'write true or false, without quotes',
    (value) => typeof value === 'boolean',
    (text) => (text === 'true' ? true : text === 'false' ? false : text),
  );
}

export function oneOf<const T extends string>(...words: readonly T[]): Rule<T> {
  const known: readonly string[] = words;
  return plain(
    `one of ${words.join(', ')}`,
    'choose one of the listed words',
    (value): value is T => typeof value === 'string' && known.includes(value),
    asIs,
  );
}

/** Text of 1 to `max` characters that matches `pattern`, when there is one. */
export function text(max: number, wants = `text of 1 to ${String(max)} characters`, pattern = /^[^\p{Cc}]+$/u): Rule<string> {
  const accepts = (value: unknown): value is string => typeof value === 'string' && value.length <= max && pattern.test(value);
  return plain(wants, 'write such text; put quotes around it when it looks like a number or holds #, * or :', accepts, asIs);
}

/** A name or id without blanks. */
export function word(max: number): Rule<string> {
  return text(max, `a word of 1 to ${String(max)} characters without blanks`, /^[^\s\p{Cc}]+$/u);
}

/** An address to listen on: IPv4, IPv6 without brackets, or a host name. */
export function host(): Rule<string> {
  const accepts = (value: unknown): value is string =>
    typeof value === 'string' && (isIP(value) !== 0 || (value.length <= 253 && /^[a-z\d](?:[a-z\d.-]*[a-z\d])?$/iu.test(value)));
  return plain('an IP address without brackets or a host name', 'write for example 127.0.0.1, ::1 or localhost', accepts, asIs);
}

/** The address of another server. */
export function address(): Rule<string> {
  const accepts = (value: unknown): value is string =>
    typeof value === 'string' && /^[^\s@/?#]{1,253}:\d{1,5}$/u.test(value) && URL.canParse(`redis://${value}`);
  return plain('HOST:PORT', 'write for example 10.0.0.1:26379, [::1]:26379 or cache.example.com:26379', accepts, asIs);
}

/** An absolute web address, kept character for character. @param allowed - gets the parsed and the written address. */
export function webUrl(wants: string, allowed: (url: URL, text: string) => boolean): Rule<string> {
  const accepts = (value: unknown): value is string =>
    typeof value === 'string' && value.length <= 2000 && !/\s/u.test(value) && URL.canParse(value) && allowed(new URL(value), value);
  return plain(wants, 'write the whole address with its scheme', accepts, asIs);
}

/** A rule that also accepts empty text, which disables the setting. */
export function orNone<T, W>(rule: Rule<T, W>): Rule<T | undefined, W | ''> {
  return {
    ...rule,
    wants: `${rule.wants}, or '' for none`,
    mask: (value) => (value === '' ? value : rule.mask(value)),
    read: (value, place) => (value === '' ? undefined : rule.read(value, place)),
  };
}

/** A path. A relative path starts from the folder of the file in which it is written. The path need not exist. */
export function path(): Rule<string> {
  const written = text(4096, 'a path');
  return {
    ...written,
    read(value, place) {
      const given = written.read(value, place);
      return given === REFUSED ? REFUSED : resolve(place.baseFolder, given);
    },
  };
}

/** The name of a shipped file, or a path when it contains a slash or ends in `.yaml`. */
export function nameOrPath(): Rule<string> {
  const written = text(4096, 'a name, or a path that holds a slash or ends in .yaml');
  return {
    ...written,
    read(value, place) {
      const given = written.read(value, place);
      return given !== REFUSED && /[/\\]|\.ya?ml$/u.test(given) ? resolve(place.baseFolder, given) : given;
    },
  };
}

/** A secret in a file of its own. */
export interface SecretFile {
  readonly file: string;
}

/** Secret text, either in place or as `{ file: PATH }`, which is read from that file. */
export function secret(max: number, pattern = /^[^\s\p{Cc}]+$/u, kind = 'characters without blanks'): Rule<string, string | SecretFile> {
  const wants = `a secret of 1 to ${String(max)} ${kind}, or { file: PATH }`;
  const inPlace = (value: unknown): value is string => typeof value === 'string' && value.length <= max && pattern.test(value);
  return {
    wants,
    holdsSecrets: true,
    fromText(given) {
      const parsed = parseJson(given);
      return isFileReference(parsed) ? parsed : given;
    },
    mask: (value) => (isFileReference(value) ? value : MASK),
    read(value, place) {
      if (!isFileReference(value))
        return inPlace(value) ? value : refuse(this, value, place, 'write the secret or name a file that holds it');
      try {
        const content = (place.contentOf ?? readFileSync)(resolve(place.baseFolder, value.file));
        const found = content.length > MAX_SECRET_BYTES ? '' : content.toString('utf8').trim();
        return inPlace(found) ? found : refuse(this, value, place, 'put nothing but the secret into the file');
      } catch (cause) {
        return refuse(this, value, place, `make the file readable (${errorCode(cause)})`);
      }
    },
  };
}

/** A list of at most `max` values of one kind. In a variable or flag: a JSON list, or words separated by commas. */
export function list<T, W>(item: Rule<T, W>, max: number): Rule<readonly T[], readonly W[]> {
  const wants = `a list of at most ${String(max)}, each ${item.wants}`;
  return {
    wants,
    holdsSecrets: item.holdsSecrets,
    fromText(given) {
      if (given.trim() === '') return [];
      const parsed = parseJson(given);
      return parsed === undefined && !item.holdsSecrets ? given.split(',').map((part) => item.fromText(part.trim())) : (parsed ?? given);
    },
    mask: (value) => (Array.isArray(value) ? value.map((member: unknown) => item.mask(member)) : item.holdsSecrets ? MASK : value),
    read(value, place) {
      if (!Array.isArray(value) || value.length > max) return refuse(this, value, place, 'write a list: [first, second]');
      const members: T[] = [];
      let isWhole = true;
      for (const [index, member] of value.entries()) {
        const read = item.read(member, { ...place, path: [...place.path, index] });
        if (read === REFUSED) isWhole = false;
        else members.push(read);
      }
      return isWhole ? Object.freeze(members) : REFUSED;
    },
  };
}

/** Whether a value is a mapping, neither a list nor null. */
export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The system's error code (`ENOENT`), which reveals no content of files. */
export function errorCode(cause: unknown): string {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : 'unknown error';
}

/** The absolute paths of the files that secrets within a value name, without repetitions. */
export function filesNamedIn(value: unknown, baseFolder: string): readonly string[] {
  if (isFileReference(value)) return [resolve(baseFolder, value.file)];
  const members: readonly unknown[] = Array.isArray(value) ? value : isMapping(value) ? Object.values(value) : [];
  return [...new Set(members.flatMap((member) => filesNamedIn(member, baseFolder)))];
}

function isFileReference(value: unknown): value is SecretFile {
  return isMapping(value) && Object.keys(value).length === 1 && typeof value['file'] === 'string';
}
