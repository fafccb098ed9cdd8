// The token check of every transport: turns a token into a principal, and checks that each message belongs to the principal's
// organization. The reason of a refusal is in the log and the metrics; the client does not learn it.
import { AppError } from '../base/errors.ts';
import type { TokenVerifier } from '../auth/jws-verifier.ts';
import { speaksFor, type Principal } from '../auth/principal.ts';

/** The client of a request: a checked principal, or anybody when the token check is off. */
export type Visitor = { readonly kind: 'checked'; readonly principal: Principal } | { readonly kind: 'unchecked' };

const UNCHECKED: Visitor = { kind: 'unchecked' };

export interface GateOptions {
  /**
   * For messages without an organization while the token check is off: the organization they belong to. Default:
   * undefined, such messages are refused (G-08).
   */
  readonly soleOrganization?: string | undefined;
  /** Counts messages of foreign organizations (G-08). */
  readonly onForeign?: () => void;
}

/** Checks tokens, and binds messages to organizations. */
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
   * Checks the authorization value of a request. Synchronous for a cached token.
   *
   * @throws AppError `unauthenticated` (G-02), also through the promise.
   */
  check(authorization: string | undefined): Visitor | Promise<Visitor> {
    if (this.#verifier === undefined) return UNCHECKED;
    const principal = this.#verifier.verify(authorization, this.#transport);
    return principal instanceof Promise ? principal.then(checked) : checked(principal);
  }

  /**
   * The organization of a message. If the message names one, it must be that of the token; otherwise it is that of the token
   * (G-08).
   *
   * @throws AppError `foreign_organization` for another organization, `bad_message` when there is none.
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
