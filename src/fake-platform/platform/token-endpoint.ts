// The token endpoint: exchanges codes and refresh tokens for pairs of tokens, for integrations and service apps. Also serves two small
// resources that describe a token to its holder.
import { z } from 'zod';
import type { Platform } from './platform.ts';
import { parsed, Refusal } from './refusal.ts';
import type { Route } from './route.ts';
import { isSameSecret } from './application-token.ts';
import type { TokenFields } from './token-book.ts';

const text = z.string().min(1).max(2000);
const client = { client_id: text, client_secret: text };
const kind = z.object({ grant_type: text });
const exchange = z.strictObject({
  ...client,
  grant_type: z.literal('authorization_code'),
  code: text,
  redirect_uri: text,
  code_verifier: z
    .string()
    .regex(/^[\w.~-]{43,128}$/u)
    .optional(),
});
const refresh = z.strictObject({ ...client, grant_type: z.literal('refresh_token'), refresh_token: text });

const INVALID = { oauthError: 'invalid_request' } as const;

/** The token endpoint, `GET /authorizations/tokenExpiry` and `GET /people/me`. */
export function tokenRoutes(platform: Platform): readonly Route[] {
  const { apps, codes, tokens, ids, names } = platform;
  const demandSecret = (clientId: string, secret: string): void => {
    const known = apps.secretOf(clientId);
    if (known !== undefined && isSameSecret(known, secret)) return;
    throw new Refusal(401, 'the client id or the client secret is wrong', { oauthError: 'invalid_client' });
  };

  const exchanged = (body: unknown): TokenFields => {
    const sent = parsed(exchange, body, INVALID);
    demandSecret(sent.client_id, sent.client_secret);
    const consent = codes.redeem({
      code: sent.code,
      clientId: sent.client_id,
      redirectUri: sent.redirect_uri,
      codeVerifier: sent.code_verifier,
    });
    const app = apps.integration(sent.client_id);
    if (consent === undefined || app === undefined) {
      throw new Refusal(400, 'the authorization code is not valid', { oauthError: 'invalid_grant' });
    }
    const { organizationId, personId: accountId } = app.developer;
    return tokens.issue({ clientId: app.clientId, kind: 'integration', scopes: consent.scopes, organizationId, accountId });
  };

  const refreshed = (body: unknown): TokenFields => {
    const sent = parsed(refresh, body, INVALID);
    demandSecret(sent.client_id, sent.client_secret);
    const fields = tokens.refresh(sent.client_id, sent.refresh_token);
    if (fields !== undefined) return fields;
    throw new Refusal(400, 'the refresh token is not valid', { oauthError: 'invalid_grant' });
  };

  const answerToken = (body: unknown): TokenFields => {
    const { grant_type: grantType } = parsed(kind, body, INVALID);
    if (grantType === 'authorization_code') return exchanged(body);
    if (grantType === 'refresh_token') return refreshed(body);
    throw new Refusal(400, 'the grant_type is not supported', { oauthError: 'unsupported_grant_type' });
  };

  return [
    {
      name: 'POST /access_token',
      paths: [names.rest.tokenPath],
      needs: 'nothing',
      takes: 'form',
      answer: ({ body }) => ({ status: 200, json: answerToken(body) }),
    },
    {
      name: 'GET /authorizations/tokenExpiry',
      needs: 'token',
      answer: ({ accessToken }) => ({ status: 200, json: { exp: Math.round(platform.nowMs() + (tokens.leftMs(accessToken) ?? 0)) } }),
    },
    {
      name: 'GET /people/me',
      needs: 'token',
      answer: ({ grant }) => ({
        status: 200,
        json: { id: ids.encode('PEOPLE', grant.accountId), orgId: ids.encode('ORGANIZATION', grant.organizationId) },
      }),
    },
  ];
}
