// Takes what must stay secret out of a text of the platform, which may quote what we sent it.

/** Longest text that is kept, characters. */
const MAX_CHARS = 300;
/** Longest text that is read, characters. */
const MAX_READ_CHARS = 10_000;
const HIDDEN = '[hidden]';
/** Other spellings of a character, as regular expressions: in forms, in HTML, and after a backslash. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  ' ': ['\\+'],
  '&': ['&amp;'],
  '<': ['&lt;'],
  '>': ['&gt;'],
  '"': ['&quot;'],
  "'": ['&apos;'],
  '\n': ['n'],
  '\r': ['r'],
  '\t': ['t'],
};
/** Tokens, also those that we did not send: what looks like a JWS, and what follows the word "bearer". */
const TOKENS = [/\beyJ[\w-]+(?:\.[\w-]+){1,4}\.?/gu, /(?<=\bbearer[ :=]+)\S+/giu];
/** Line ends, escapes of terminals, and characters that turn the direction of writing. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu;

/** Members of request bodies that are secret, by their names on the wire: in records, and in forms that ask for a token. */
const SECRET_MEMBERS: ReadonlySet<string> = new Set([
  ...['clientSecret', 'nonce', 'secret'],
  ...['client_secret', 'refresh_token', 'code', 'code_verifier'],
]);

/** The values in a body that no message may repeat. */
export function secretsIn(body: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(body).flatMap(([name, value]) => (SECRET_MEMBERS.has(name) && typeof value === 'string' ? [value] : []));
}

/**
 * A text of the platform, fit for a message or a log: without secrets, in one line, and not long.
 *
 * @param secrets - what we sent and nobody may read; found in any quoting: as JSON, in an address, a form or a page.
 */
export function scrub(text: string, secrets: readonly string[]): string {
  // Cutting it first could leave half a secret, which is not found.
  if (text.length > MAX_READ_CHARS) return '';
  // The longest first: one secret may be the beginning of another.
  const known = [...new Set(secrets)].filter((secret) => secret !== '').sort((one, other) => other.length - one.length);
  const patterns = [...known.map(spellingsOf), ...TOKENS];
  const hidden = (line: string): string => patterns.reduce((left, pattern) => left.replace(pattern, HIDDEN), line);
  // Twice, because a control character may have stood in the middle of a secret.
  const line = hidden(hidden(text).replace(UNPRINTABLE, ' ').trim());
  return line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS)}…` : line;
}

/** Matches a secret in every way that a platform might quote it, also in quotes within quotes. */
function spellingsOf(secret: string): RegExp {
  // Quoting multiplies backslashes, so their number says nothing.
  return new RegExp([...secret.replace(/\\+/gu, '\\')].map(spellingOf).join(''), 'giu');
}

/** Backslashes that quoting puts before a character. Bounded: otherwise matching a long row of them would take long. */
const QUOTING = '\\\\{0,15}';

function spellingOf(character: string): string {
  if (/\w/u.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  // Lone surrogates, which cannot be encoded, come as the replacement character.
  const percent = [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const units = Array.from({ length: character.length }, (_, at) => `u${character.charCodeAt(at).toString(16).padStart(4, '0')}`);
  const named: readonly string[] = NAMED[character] ?? [];
  const forms = [`\\u{${code.toString(16)}}`, percent, units.join(QUOTING), `&#0?${String(code)};`, `&#x0?${code.toString(16)};`, ...named];
  return `${QUOTING}(?:${forms.join('|')})`;
}
