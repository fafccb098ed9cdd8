// The forger's tools: from an honest token to a wrong one. What is forged stands in forgeries.ts.
import { constants, sign } from 'node:crypto';
import type { RefusalReason } from '../../../src/auth/refusal.ts';
import type { TokenBench } from '../../support/token-bench.ts';
import { encodePart, type SigningKey, type TokenIssuer } from '../../support/token-issuer.ts';

/** What a forger has at hand. */
export interface Workshop {
  readonly bench: TokenBench;
  readonly issuer: TokenIssuer;
  /** Another server, under the forger's control: it must never be asked. */
  readonly hostile: TokenIssuer;
  /** The key of the honest issuer: what is refused even with a good signature is refused for itself. */
  readonly key: SigningKey;
  /** The forger's own key. */
  readonly foreign: SigningKey;
  /** Honest keys of another region, and published keys that must not be used. */
  readonly others: { readonly region: SigningKey; readonly weak: SigningKey; readonly encryption: SigningKey; readonly twice: SigningKey };
}

/** One forged token. */
export interface Forgery {
  readonly name: string;
  readonly forge: (workshop: Workshop) => string | undefined;
  readonly reason: RefusalReason;
  /** Requests for keys it causes on a cold start. */
  readonly requests: 0 | 1;
}

/** A forged token. */
export function row(reason: RefusalReason, requests: 0 | 1, name: string, forge: Forgery['forge']): Forgery {
  return { name, forge, reason, requests };
}

/** A token with a good signature over wrong claims. */
export function claims(
  reason: RefusalReason,
  name: string,
  changes: (workshop: Workshop) => Record<string, unknown>,
  requests: 0 | 1 = 1,
): Forgery {
  return row(reason, requests, name, (w) => w.bench.token(changes(w)));
}

/** A token with a good signature over a wrong header. */
export function header(reason: RefusalReason, name: string, changes: Record<string, unknown>, requests: 0 | 1 = 0): Forgery {
  return row(reason, requests, name, (w) => w.bench.token({}, changes));
}

/** A good token whose parts are rearranged. */
export function parts(
  reason: RefusalReason,
  name: string,
  change: (head: string, body: string, signature: string) => string,
  requests: 0 | 1 = 0,
): Forgery {
  return row(reason, requests, name, (w) => {
    const [head = '', body = '', signature = ''] = w.bench.token().split('.');
    return change(head, body, signature);
  });
}

/** Good parts, signed in another way. */
export function signedBy(
  reason: RefusalReason,
  name: string,
  alg: string,
  signer: (input: Buffer, w: Workshop) => Uint8Array,
  requests: 0 | 1 = 0,
): Forgery {
  return row(reason, requests, name, (w) => {
    const input = `${encodePart({ alg, typ: 'JWT', kid: w.key.id })}.${encodePart(w.bench.claims())}`;
    return `${input}.${encodePart(signer(Buffer.from(input), w))}`;
  });
}

/** A moment from now, as a NumericDate. */
export const second = (w: Workshop, offset: number): number => w.bench.nowSeconds + offset;
/** The header of an honest token. */
export const GOOD_HEADER = (w: Workshop): string => encodePart({ alg: 'RS256', typ: 'JWT', kid: w.key.id });

/** A part with one more member that is good JSON but no good UTF-8. */
export function broken(part: string): string {
  const text = Buffer.from(part, 'base64url');
  return encodePart(Buffer.concat([text.subarray(0, -1), Buffer.from(',"x":"'), Uint8Array.of(0xc3, 0x28), Buffer.from('"}')]));
}

/** The same bytes with other spare bits in the last character: 256 bytes leave four of them. */
export function respell(part: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return `${part.slice(0, -1)}${alphabet.charAt(alphabet.indexOf(part.slice(-1)) + 1)}`;
}

/** A good signature of the honest key, with the other padding. */
export function signPss(input: Buffer, key: SigningKey): Uint8Array {
  return sign('sha256', input, { key: key.privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 });
}

/** The same, as a signer. */
export function signPssOf(input: Buffer, w: Workshop): Uint8Array {
  return signPss(input, w.key);
}
