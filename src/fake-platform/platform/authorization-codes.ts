// Authorization codes, from consent to exchange. A code can be used once and for a short time. It is bound to the client, the redirect
// address and, if the client uses PKCE (S256 only), to the client's verifier.
import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { BoundedMap } from './bounded-map.ts';
import type { Switches } from './switches.ts';

export interface Consent {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  /** base64url SHA-256 of the verifier. Undefined: the client does not use PKCE. */
  readonly codeChallenge: string | undefined;
}

/** What a client presents with a code. */
export interface CodeExchange {
  readonly code: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeVerifier: string | undefined;
}

const MAX_CODES = 1000;

/** Codes that were issued and have not been used. */
export class AuthorizationCodes {
  readonly #codes = new BoundedMap<string, { readonly consent: Consent; readonly expiresMs: number }>(MAX_CODES);
  readonly #clock: Clock;
  readonly #switches: Pick<Switches, 'codeSeconds'>;

  constructor(clock: Clock, switches: Pick<Switches, 'codeSeconds'>) {
    this.#clock = clock;
    this.#switches = switches;
  }

  issue(consent: Consent): string {
    const code = randomBytes(32).toString('base64url');
    this.#codes.set(code, { consent, expiresMs: this.#clock.monotonicMs() + this.#switches.codeSeconds * 1000 });
    return code;
  }

  /** The consent behind a code; undefined when the exchange does not match the consent. In both cases the code is used up. */
  redeem({ code, clientId, redirectUri, codeVerifier }: CodeExchange): Consent | undefined {
    const held = this.#codes.get(code);
    this.#codes.delete(code);
    if (held === undefined || held.expiresMs <= this.#clock.monotonicMs()) return undefined;
    const { consent } = held;
    const isProven = consent.codeChallenge === (codeVerifier === undefined ? undefined : challengeOf(codeVerifier));
    return isProven && consent.clientId === clientId && consent.redirectUri === redirectUri ? consent : undefined;
  }
}

function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}
