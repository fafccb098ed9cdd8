// Requests to the token endpoint (5.1): exchanges a code or a refresh token for tokens. Uses oauth4webapi for the protocol, and the HTTP
// client of all other requests. Stores no tokens.
import {
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  ClientSecretPost,
  customFetch,
  nopkce,
  processAuthorizationCodeResponse,
  processRefreshTokenResponse,
  refreshTokenGrantRequest,
  type AuthorizationServer,
  type Client,
} from 'oauth4webapi';
import { AppError } from '../../base/errors.ts';
import { RestClient, type RestClientOptions } from '../rest/rest-client.ts';
import { RestError } from '../rest/rest-error.ts';
import { readTokenReply, type IntegrationCredentials, type OAuthTokens, type ServiceAppCredentials } from '../tokens.ts';

export interface TokenRequestsOptions extends Omit<RestClientOptions, 'tokens'> {
  readonly credentials: IntegrationCredentials | ServiceAppCredentials;
}

/** The browser's answer with a code. The library has validated it, and exchanges no other answer. */
export interface CodeGrant {
  readonly callback: URLSearchParams;
  readonly redirectUri: string;
  /** The PKCE verifier of the login; undefined without PKCE. */
  readonly codeVerifier: string | undefined;
}

/** OAuth errors that do not mean that the refresh token is invalid. */
const OTHER_FAULTS = /\b(?:invalid_request|invalid_client|unauthorized_client|unsupported_grant_type|invalid_scope)\b/u;

/** Sends requests to the token endpoint for one client: the integration, or a service app. */
export class TokenRequests {
  /** The platform's endpoints, as the library needs them. */
  readonly server: AuthorizationServer;
  readonly client: Client;
  readonly #options: TokenRequestsOptions;
  readonly #rest: RestClient;

  constructor(options: TokenRequestsOptions) {
    const { address, credentials } = options;
    this.#options = options;
    this.#rest = new RestClient({ ...options, tokens: undefined });
    this.server = { issuer: address.baseUrl, authorization_endpoint: address.authorizeUrl, token_endpoint: address.tokenUrl };
    this.client = { client_id: credentials.clientId };
  }

  /**
   * Exchanges a code for tokens.
   *
   * @throws AppError `login_failed` when the platform refuses the code, `platform_refused` when it refuses the client,
   * `platform_unavailable`, or `platform_answer_invalid`.
   */
  exchange({ callback, redirectUri, codeVerifier }: CodeGrant, signal: AbortSignal): Promise<OAuthTokens> {
    return this.#asked('login_failed', async (secret, askedAtMs) => {
      // oxlint-disable-next-line typescript/no-deprecated -- only for platforms whose profile says that they refuse PKCE
      const proof = codeVerifier ?? nopkce;
      const options = this.#requestOptions(signal);
      const answer = await authorizationCodeGrantRequest(this.server, this.client, secret, callback, redirectUri, proof, options);
      return readTokenReply(await processAuthorizationCodeResponse(this.server, this.client, answer), askedAtMs);
    });
  }

  /**
   * Refreshes tokens. When the reply has no refresh token, the previous one stays valid.
   *
   * @throws AppError `login_needed` when the platform refuses the refresh token or never gave one, and as {@link exchange}.
   */
  refresh(before: OAuthTokens, signal: AbortSignal): Promise<OAuthTokens> {
    return this.#asked('login_needed', async (secret, askedAtMs) => {
      const { refreshToken } = before;
      if (refreshToken === undefined) throw new AppError('login_needed', 'the platform gave no refresh token with the one that has ended');
      const answer = await refreshTokenGrantRequest(this.server, this.client, secret, refreshToken, this.#requestOptions(signal));
      return readTokenReply(await processRefreshTokenResponse(this.server, this.client, answer), askedAtMs, before);
    });
  }

  /** @param refused - the error code when the platform refuses the code or the refresh token. */
  async #asked(
    refused: 'login_failed' | 'login_needed',
    ask: (secret: ReturnType<typeof ClientSecretPost>, askedAtMs: number) => Promise<OAuthTokens>,
  ): Promise<OAuthTokens> {
    const { clock, credentials } = this.#options;
    try {
      return await ask(ClientSecretPost(credentials.clientSecret), clock.nowMs());
    } catch (thrown) {
      const error = ownError(thrown);
      if (isGrantRefused(error)) throw new AppError(refused, error.message, { details: error.details });
      throw error;
    }
  }

  #requestOptions(signal: AbortSignal) {
    const { address } = this.#options;
    const send = async (_url: string, { body }: { readonly body: URLSearchParams }): Promise<Response> => {
      const path = address.tokenUrl.slice(address.baseUrl.length);
      // Refusals do not reach the library, because its errors contain whole answers.
      return this.#rest.send({ method: 'POST', path, body }, signal, (answer) => Response.json(answer.body ?? null));
    };
    // oxlint-disable-next-line typescript/no-deprecated -- only for loopback addresses, which a laptop's platform has
    return { [customFetch]: send, [allowInsecureRequests]: address.allowLoopbackHttp };
  }
}

/** Whether the platform refused the code or the refresh token itself: `invalid_grant`, or 400 without another error code. */
function isGrantRefused(error: AppError): error is RestError {
  if (!(error instanceof RestError)) return false;
  const said = error.platformMessage ?? '';
  return /\binvalid_grant\b/u.test(said) || (error.status === 400 && !OTHER_FAULTS.test(said));
}

/** Replaces an error of the library, which contains the answer with its tokens. Keeps only the error's code. */
function ownError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  const code: unknown = thrown instanceof Error ? Reflect.get(thrown, 'code') : undefined;
  const reason = typeof code === 'string' ? code : 'unknown';
  return new AppError('platform_answer_invalid', `the token endpoint answered with something that is no token reply (${reason})`, {
    details: { reason },
  });
}
