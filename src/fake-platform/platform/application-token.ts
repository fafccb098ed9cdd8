// `POST /applications/{id}/token`: the developer's integration asks for a pair of tokens with which a service app acts for a customer
// organization.
import { z } from 'zod';
import { isUuid } from './ids.ts';
import type { Platform } from './platform.ts';
import { parsed, Refusal } from './refusal.ts';
import type { GuardedRoute, Permitted } from './route.ts';
import type { TokenFields } from './token-book.ts';
import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares secrets by their hashes: these have equal length, so the time of the comparison reveals nothing. */
export function isSameSecret(known: string, presented: string): boolean {
  const digest = (value: string): Buffer => createHash('sha256').update(value).digest();
  return timingSafeEqual(digest(known), digest(presented));
}

const text = z.string().min(1).max(500);
const request = z.strictObject({ clientId: text, clientSecret: text, targetOrgId: text });

export function applicationTokenRoute(platform: Platform): GuardedRoute {
  const { apps, ids, tokens, switches } = platform;
  const organizationOf = (target: string): string => {
    const isForm = { any: true, encoded: !isUuid(target), uuid: isUuid(target) }[switches.targetOrgForm];
    const organizationId = isForm ? ids.decodeOrganization(target) : undefined;
    if (organizationId !== undefined) return organizationId;
    throw new Refusal(400, 'the targetOrgId is no organization');
  };

  const pair = ({ id, body, grant }: Permitted): TokenFields => {
    const app = apps.serviceApp(ids.decode('APPLICATION', id) ?? '');
    if (app === undefined) throw new Refusal(404, 'there is no such service app');
    const sent = parsed(request, body);
    const owner = apps.integration(grant.clientId)?.developer;
    if (owner?.organizationId !== app.developer.organizationId) throw new Refusal(403, 'the service app is of another developer');
    if (sent.clientId !== app.clientId || !isSameSecret(app.clientSecret, sent.clientSecret)) {
      throw new Refusal(401, 'the client id or the client secret of the service app is wrong');
    }
    const organizationId = organizationOf(sent.targetOrgId);
    const authorization = platform.usableAuthorization(app.clientId, organizationId);
    if (authorization === undefined) throw new Refusal(403, 'the service app is not authorized by an administrator of the organization');
    const { clientId, scopes } = app;
    return tokens.issue({ clientId, kind: 'service_app', scopes, organizationId, accountId: authorization.machineAccountId });
  };

  return {
    name: 'POST /applications/:id/token',
    needs: 'applicationToken',
    takes: 'json',
    answer: (asked) => ({ status: 200, json: pair(asked) }),
  };
}
