// The keys of the token issuers: a fixed list of issuers, each with its own key set. An issuer that is not in the list never causes a
// request (J-12, J-23). The list is a parameter.
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { isLoopback } from '../base/loopback.ts';
import { IssuerKeys, type KeySetLimits } from './issuer-keys.ts';
import type { Fetch } from './key-set-request.ts';
import type { IssuerKey } from './key-set.ts';
import { refuse } from './refusal.ts';

/** The options of a `KeySource`. */
export interface KeySourceOptions extends Partial<KeySetLimits> {
  /** The issuers whose tokens are accepted, compared character for character (J-12, J-24). */
  readonly issuers: readonly string[];
  /** Appended to an issuer to get the address of its key set. */
  readonly keySetSuffix: string;
  /** Allows plain http for issuers on this machine; default false. */
  readonly allowLoopbackHttp?: boolean;
  /** Default: the fetch of the runtime. */
  readonly fetch?: Fetch;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Default limits: 3 s, 64 KiB, 100 keys, 30 s between requests, stale keys for 24 h. */
const DEFAULT_KEY_SET_LIMITS: KeySetLimits = {
  timeoutMs: 3000,
  maxBytes: 65_536,
  maxKeys: 100,
  cooldownMs: 30_000,
  staleMs: 86_400_000,
};

/** Finds keys by issuer and key id. */
export class KeySource {
  readonly #issuers = new Map<string, IssuerKeys>();
  /** Issuers whose tokens have been accepted. */
  readonly #inUse = new Set<IssuerKeys>();
  readonly #closed = new AbortController();
  #onChange: () => void = () => undefined;

  /** @throws AppError `config_invalid` when an issuer's key set would not be fetched over https. */
  constructor(options: KeySourceOptions) {
    const { issuers, keySetSuffix, clock, log, fetch = globalThis.fetch } = options;
    const limits: KeySetLimits = { ...DEFAULT_KEY_SET_LIMITS, ...options };
    for (const issuer of issuers) {
      const url = `${issuer}${keySetSuffix}`;
      demandSafe(url, issuer, options.allowLoopbackHttp ?? false);
      const onAnswer = (): void => {
        this.#onChange();
      };
      this.#issuers.set(issuer, new IssuerKeys({ issuer, url, limits, fetch, clock, log, closed: this.#closed.signal, onAnswer }));
    }
  }

  /**
   * The issuers that this server needs: those of accepted tokens, or all as long as no token was accepted. The list also names regions in
   * which this server has no organization.
   */
  get needed(): readonly IssuerKeys[] {
    return [...(this.#inUse.size > 0 ? this.#inUse : this.#issuers.values())];
  }

  /** Sets the only listener: called after each response or failure of an issuer, and when the needed issuers change. */
  onChange(listener: () => void): void {
    this.#onChange = listener;
  }

  /** Notes that a token of this issuer has passed every check. */
  noteUse(issuer: string): void {
    const keys = this.#issuers.get(issuer);
    if (keys === undefined || this.#inUse.has(keys)) return;
    this.#inUse.add(keys);
    this.#onChange();
  }

  /** True when the issuer is in the list. */
  knows(issuer: string): boolean {
    return this.#issuers.has(issuer);
  }

  /**
   * Finds the key of an issuer with exactly this id. May request the key set; waits at most `timeoutMs`.
   *
   * @throws AppError of `refuse`: `issuer_mismatch`, `key_not_found` or `keys_unavailable`.
   */
  async find(issuer: string, keyId: string): Promise<IssuerKey> {
    const keys = this.#issuers.get(issuer);
    if (keys === undefined) throw refuse('issuer_mismatch');
    return keys.find(keyId);
  }

  /**
   * Whether `find` would return this very key without waiting. When false, the key was withdrawn or replaced, or its issuer must be asked
   * first. May start a request, but never waits.
   */
  holds(issuer: string, keyId: string, fingerprint: string): boolean {
    return this.#issuers.get(issuer)?.holds(keyId, fingerprint) ?? false;
  }

  /** Aborts requests in flight and makes no further ones; held keys stay usable until they expire. */
  close(): void {
    this.#closed.abort('shutdown');
  }
}

function demandSafe(url: string, issuer: string, allowLoopbackHttp: boolean): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isSafe = parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && allowLoopbackHttp && isLoopback(hostOf(parsed)));
  // The key set's address is the issuer with a path appended: a query or fragment would swallow the path, and logs would show a password.
  if (!isSafe || parsed.username !== '' || parsed.password !== '' || parsed.search !== '' || parsed.hash !== '') {
    throw new AppError('config_invalid', `the issuer ${issuer} must be a plain https address`, { details: { issuer } });
  }
}

/** The host, without the brackets of an IPv6 address. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/u, '$1');
}
