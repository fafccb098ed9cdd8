// The app's tokens in each organization: requested through the integration, refreshed in time, and stored. Does not decide which
// organizations are served.
import { AppError, type ErrorDetails } from '../base/errors.ts';
import { KeptTokens, type KeepingParts } from './kept-tokens.ts';
import type { TokenRequests } from './oauth/token-request.ts';
import { decodeId } from './platform-id.ts';
import type { ApplicationTokens } from './rest/application-token.ts';
import { RestError } from './rest/rest-error.ts';
import type { SecretStore } from './secret-store.ts';
import type { TokenSource } from './token-source.ts';
import { serviceAppTokens, type ServiceAppTokens } from './tokens.ts';

const PREFIX = 'organizations/';
const SUFFIX = '/tokens';
const FIRST_TOKEN = 'a running server asks for the first one when the organization authorizes the app or is in admin.organizations';

/** The store key of an organization's tokens. @param organizationId - a plain UUID. */
export function tokensKey(organizationId: string): string {
  return PREFIX + organizationId + SUFFIX;
}

/** UUIDs of the organizations with stored tokens. */
export async function organizationsWithTokens(store: Pick<SecretStore, 'keys'>): Promise<readonly string[]> {
  const keys = await store.keys(PREFIX);
  return keys.flatMap((key) => (key.endsWith(SUFFIX) ? [key.slice(PREFIX.length, -SUFFIX.length)] : []));
}

/** The app has no token in an organization: none is stored, or the platform refuses one, because the app is not authorized (H-26). */
export class OrgNotRegisteredError extends AppError {
  /** @param organizationId - a UUID. */
  constructor(organizationId: string, message: string, details: ErrorDetails = {}) {
    super('org_not_registered', `organization ${organizationId}: ${message}`, { details: { ...details, organization: organizationId } });
  }
}

export interface OrganizationsOptions extends KeepingParts {
  readonly applications: Pick<ApplicationTokens, 'obtain'>;
  /** Requests with the client of the service app, not of the integration. */
  readonly requests: Pick<TokenRequests, 'refresh'>;
  readonly idScheme: string;
  /** Whether to request the first token of an organization. Default true. */
  readonly asksForFirst?: boolean | undefined;
}

/** Tokens by organization. Call `close`. */
export class Organizations {
  readonly #options: OrganizationsOptions;
  readonly #kept = new Map<string, KeptTokens<ServiceAppTokens>>();
  readonly #leaving = new Map<string, Promise<void>>();

  constructor(options: OrganizationsOptions) {
    this.#options = options;
  }

  /**
   * The token source of an organization. Sends no request until a token is needed. Its methods throw {@link OrgNotRegisteredError},
   * `login_needed` of the integration, and what requests throw.
   *
   * @param organization - the id in any spelling, as the platform gave it (U-14).
   * @throws AppError `bad_message` for an invalid id.
   */
  tokensOf(organization: string): TokenSource {
    const id = decodeId(organization, 'ORGANIZATION', this.#options.idScheme);
    const kept = this.#kept.get(id) ?? this.#keep(id, organization);
    this.#kept.set(id, kept);
    return kept;
  }

  /**
   * Erases the tokens of an organization. Aborts a running request for them, whose result is not stored (H-23). Existing sources then throw
   * {@link OrgNotRegisteredError}; `tokensOf` returns a new source.
   */
  async forget(organization: string): Promise<void> {
    const id = decodeId(organization, 'ORGANIZATION', this.#options.idScheme);
    const kept = this.#kept.get(id) ?? this.#keep(id, organization);
    this.#kept.delete(id);
    const leaving = kept.forget();
    // A new source waits until the erasure has ended, successfully or not.
    const left = leaving.catch(() => undefined);
    this.#leaving.set(id, left);
    void left.then(() => {
      if (this.#leaving.get(id) === left) this.#leaving.delete(id);
    });
    await leaving;
  }

  /** Resolves when running requests have ended and their tokens are stored. */
  async close(): Promise<void> {
    await Promise.all([...this.#kept.values()].map((kept) => kept.close()));
  }

  #keep(id: string, organization: string): KeptTokens<ServiceAppTokens> {
    const { store, clock, log, bufferSeconds, renewing, asksForFirst = true } = this.#options;
    const missing = (): AppError => new OrgNotRegisteredError(id, `no token of the app is kept for it: ${FIRST_TOKEN}`);
    return new KeptTokens({
      ...{ store, clock, log, bufferSeconds, renewing },
      key: tokensKey(id),
      shape: serviceAppTokens,
      ready: this.#leaving.get(id),
      gone: () => new OrgNotRegisteredError(id, 'its tokens have been erased'),
      missing: asksForFirst ? undefined : missing,
      obtain: (before, signal) => this.#obtain(id, organization, before, signal),
    });
  }

  /** Refreshes the pair. Without one, or when it is refused, requests a new pair through the integration. */
  async #obtain(id: string, organization: string, before: ServiceAppTokens | undefined, signal: AbortSignal): Promise<ServiceAppTokens> {
    const { requests, applications } = this.#options;
    if (before !== undefined) {
      try {
        const { orgId, targetOrgId } = before;
        return { ...(await requests.refresh(before, signal)), orgId, targetOrgId };
      } catch (thrown) {
        // The app may have been authorized again, so request a new pair (6.5).
        if (!(thrown instanceof AppError && thrown.code === 'login_needed')) throw thrown;
      }
    }
    try {
      return await applications.obtain(before?.targetOrgId ?? organization, signal);
    } catch (thrown) {
      if (thrown instanceof RestError && thrown.status === 403) throw new OrgNotRegisteredError(id, thrown.message, thrown.details);
      throw thrown;
    }
  }
}
