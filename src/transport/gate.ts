// The door of every transport: token in, principal out, and the organization of each message bound to it. The caller
// of a refused request learns only that it was refused; the reason is in the log and the metrics.
import { AppError } from '../base/errors.ts';
import type { TokenVerifier } from '../auth/jws-verifier.ts';
import { speaksFor, type Principal } from '../auth/principal.ts';

/** Who came in: a checked principal, or anybody where the operator has switched the check off. */
export type Visitor = { readonly kind: 'checked'; readonly principal: Principal } | { readonly kind: 'unchecked' };

const UNCHECKED: Visitor = { kind: 'unchecked' };

/** Checks tokens and binds organizations. */
export class Gate {
  readonly #verifier: TokenVerifier | undefined;
  readonly #transport: Principal['transport'];
  readonly #onForeign: () => void;

  /**
   * @param verifier - undefined switches the token check off (P-11).
   * @param onForeign - counts messages of foreign organizations (G-08).
   */
  constructor(verifier: TokenVerifier | undefined, transport: Principal['transport'], onForeign: () => void = () => undefined) {
    this.#verifier = verifier;
    this.#transport = transport;
    this.#onForeign = onForeign;
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
   * Demands that a message names the organization its token speaks for (G-08).
   *
   * @throws AppError `bad_message` for an empty organization, `foreign_organization` for another one.
   */
  bind(visitor: Visitor, organizationId: string): void {
    if (organizationId === '') throw new AppError('bad_message', 'customer_org_id is empty');
    if (visitor.kind === 'checked' && !speaksFor(visitor.principal, organizationId)) {
      this.#onForeign();
      throw new AppError('foreign_organization', 'the message names an organization that its token does not speak for');
    }
  }
}

function checked(principal: Principal): Visitor {
  return { kind: 'checked', principal };
}
