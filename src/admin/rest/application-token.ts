// Requests a service app's token in one organization through the integration (5.2).
import type { Clock } from '../../base/clock.ts';
import { decodeId, encodeId, otherOrganizationForm } from '../platform-id.ts';
import { readTokenReply, type ServiceAppCredentials, type ServiceAppTokens } from '../tokens.ts';
import type { RestClient } from './rest-client.ts';
import { RestError } from './rest-error.ts';

export interface ApplicationTokensOptions {
  /** Requests with the tokens of the integration, which must belong to the app's developer. */
  readonly rest: RestClient;
  readonly app: ServiceAppCredentials;
  /** The scheme of the platform's ids, from the profile. */
  readonly idScheme: string;
  readonly clock: Clock;
}

export class ApplicationTokens {
  readonly #options: ApplicationTokensOptions;
  readonly #clientId: string;
  readonly #path: string;

  /** @throws AppError `bad_message` for an invalid client id. */
  constructor(options: ApplicationTokensOptions) {
    this.#options = options;
    this.#clientId = decodeId(options.app.clientId, 'APPLICATION', options.idScheme);
    this.#path = `/applications/${encodeId(this.#clientId, 'APPLICATION', options.idScheme)}/token`;
  }

  /**
   * Requests the tokens of an organization. Sends the id as given; if the platform does not know that spelling, tries the other spelling
   * once (U-14).
   *
   * @param organization - the id in any spelling.
   * @throws AppError `bad_message` for an invalid organization id, and what {@link RestClient.send} throws: status 403 when the
   * organization has not authorized the app.
   */
  async obtain(organization: string, signal: AbortSignal): Promise<ServiceAppTokens> {
    const orgId = decodeId(organization, 'ORGANIZATION', this.#options.idScheme);
    try {
      return await this.#ask(orgId, organization, signal);
    } catch (thrown) {
      if (!isUnknownId(thrown)) throw thrown;
      return this.#ask(orgId, otherOrganizationForm(organization, this.#options.idScheme), signal);
    }
  }

  async #ask(orgId: string, targetOrgId: string, signal: AbortSignal): Promise<ServiceAppTokens> {
    const { rest, app, clock } = this.#options;
    const body = { clientId: this.#clientId, clientSecret: app.clientSecret, targetOrgId };
    const askedAtMs = clock.nowMs();
    return rest.send({ method: 'POST', path: this.#path, body }, signal, (answer) => ({
      ...readTokenReply(answer.body, askedAtMs),
      orgId,
      targetOrgId,
    }));
  }
}

function isUnknownId(thrown: unknown): boolean {
  return thrown instanceof RestError && (thrown.status === 400 || thrown.status === 404);
}
