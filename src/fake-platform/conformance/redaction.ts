// Removes tokens and nonces from a server's text: a server that echoes what it received must not get it into a
// report. Knows no server.
import { readToken } from './tokens.ts';

/** Removes secrets from a text. */
export type Redactor = (text: string) => string;

/** What looks like a token or a part of one, whoever made it. */
const TOKEN_SHAPED = /eyJ[\w-]{8,}(?:\.[\w-]*)*|[\w-]{64,}/gu;
/** Shorter ones would match ordinary words. */
const MIN_SECRET_CHARS = 8;
const MARK = '[redacted]';

/** Knows the presented tokens, with or without a scheme: whole, in parts, and their nonces. */
export function redactor(...authorizations: readonly (string | undefined)[]): Redactor {
  const secrets = [...new Set(authorizations.flatMap(secretsOf))].sort((one, other) => other.length - one.length);
  return (text) => secrets.reduce((left, secret) => left.replaceAll(secret, MARK), text).replaceAll(TOKEN_SHAPED, MARK);
}

function secretsOf(authorization = ''): readonly string[] {
  const token = authorization.replace(/^\S+ /u, '');
  const nonce = readToken(token)?.claims['jti'];
  const found = [token, ...token.split('.'), ...(typeof nonce === 'string' ? [nonce] : [])];
  return found.filter(({ length }) => length >= MIN_SECRET_CHARS);
}
