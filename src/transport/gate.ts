// The token check of every transport: token in, principal out, and the organization of each message bound to it. The caller
// of a refused request learns only that it was refused; the reason is in the log and the metrics.
import { AppError } from '../base/errors.ts';
import type { TokenVerifier } from '../auth/jws-verifier.ts';
import { speaksFor, type Principal } from '../auth/principal.ts';

/** Who came in: a checked principal, or anybody where the operator has switched the check off. */
export type Visitor = { readonly kind: 'checked'; readonly principal: Principal } | { readonly kind: 'unchecked' };

const UNCHECKED: Visitor = { kind: 'unchecked' };

/** What a gate may know beside its tokens. */
export interface GateOptions {
  /** Whom a message speaks for that names no organization, without the token check. Undefined, the default: it is refused (G-08). */
  readonly soleOrganization?: string | undefined;
  /** Counts messages of foreign organizations (G-08). */
  readonly onForeign?: () => void;
}

/** Checks tokens and binds organizations. */
export class Gate {
  readonly #verifier: Pick<TokenVerifier, 'verify'> | undefined;
  readonly #transport: Principal['transport'];
  readonly #options: GateOptions;

  /** @param verifier - undefined switches the token check off (P-11). */
  constructor(verifier: Pick<TokenVerifier, 'verify'> | undefined, transport: Principal['transport'], options: GateOptions = {}) {
    this.#verifier = verifier;
    this.#transport = transport;
    this.#options = options;
  }

  /**
   * Checks the authorization value of a request. Returns at once, without a promise, for a token it remembers.
   *
   * @throws AppError `unauthenticated` (G-02), also through the promise.
   */
  check(authorization: string | undefined): Visitor | Promise<Visitor> {
    if (this.#verifier === undefined) return UNCHECKED;
    const principal = this.#verifier.verify(authorization, this.#transport);
    return principal instanceof Promise ? principal.then(checked) : checked(principal);
  }

  /**
   * The organization that a message speaks for: the one it names, which must be that of its token, and that of its token where it
   * names none (G-08).
   *
   * @throws AppError `foreign_organization` for another one, `bad_message` where nothing says which one it is.
   */
  bind(visitor: Visitor, organizationId: string): string {
    if (visitor.kind === 'unchecked') return organizationId === '' ? this.#soleOrganization() : organizationId;
    if (organizationId === '') return visitor.principal.organizationId;
    if (!speaksFor(visitor.principal, organizationId)) {
      this.#options.onForeign?.();
      throw new AppError('foreign_organization', 'the message names an organization that its token does not speak for');
    }
    return organizationId;
  }

  #soleOrganization(): string {
    const { soleOrganization } = this.#options;
    if (soleOrganization !== undefined) return soleOrganization;
    throw new AppError('bad_message', 'customer_org_id is empty, and more than one organization is configured');
  }
}

function checked(principal: Principal): Visitor {
  return { kind: 'checked', principal };
}
