// Takes what must stay secret out of a text of the platform, which may quote what we sent it.

/** Longest text that is kept, characters. */
const MAX_CHARS = 300;
const HIDDEN = '[hidden]';
/** Tokens that we need not have sent: what looks like a JWS, and what stands behind the word for a bearer token. */
const TOKENS = [/\beyJ[\w-]+(?:\.[\w-]+){1,4}\.?/gu, /(?<=\bbearer[ :=]+)\S+/giu];
/** Line ends, escapes of terminals, and characters that turn the direction of writing. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu;

/** Members of request bodies that are secret, by their names on the wire. */
const SECRET_MEMBERS: ReadonlySet<string> = new Set(['clientSecret', 'nonce', 'secret']);

/** The values in a body that no message may repeat. */
export function secretsIn(body: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(body).flatMap(([name, value]) => (SECRET_MEMBERS.has(name) && typeof value === 'string' ? [value] : []));
}

/**
 * A text of the platform, fit for a message or a log: without secrets, in one line, and not long.
 *
 * @param secrets - what we sent and nobody may read; also found in the spelling of addresses, of forms and of JSON.
 */
export function scrub(text: string, secrets: readonly string[]): string {
  const spellings = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams([['', secret]]).toString().slice(1),
    JSON.stringify(secret).slice(1, -1),
  ]);
  // The longest first: one secret may be the beginning of another.
  const known = [...new Set(spellings)].filter((secret) => secret !== '').sort((one, other) => other.length - one.length);
  const hidden = (line: string): string => TOKENS.reduce((left, token) => left.replace(token, HIDDEN), replaceAllOf(line, known));
  // Twice, because a control character may have stood in the middle of a secret.
  const line = hidden(hidden(text).replace(UNPRINTABLE, ' ').trim());
  return line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS)}…` : line;
}

function replaceAllOf(text: string, secrets: readonly string[]): string {
  return secrets.reduce((left, secret) => left.replaceAll(secret, HIDDEN), text);
}
