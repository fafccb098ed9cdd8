// The body of a delivery (section 6.1). The customer organization stands in `data`; the organization of the envelope is
// the webhook owner's.
import type { Authorization } from './organization-book.ts';
import type { PlatformIds } from './ids.ts';
import type { DeliverySwitches } from './switches.ts';
import type { Webhook } from './webhook-book.ts';
import { webhookToWire } from './webhooks.ts';

/** What happened to an authorization. */
export interface AppEvent {
  readonly event: 'authorized' | 'deauthorized';
  readonly authorization: Authorization;
  /** When it happened, ISO time with Z. */
  readonly date: string;
}

/**
 * The body as it is signed and sent.
 *
 * @param appClientId - the app that the event speaks of, which is not always the right one.
 */
export function deliveryBody(
  webhook: Webhook,
  { event, authorization, date }: AppEvent,
  appClientId: string,
  ids: PlatformIds,
  switches: Pick<DeliverySwitches, 'organizationForm' | 'deauthorizationDate'>,
): string {
  const { secret: _secret, targetUrl: _targetUrl, created: _created, ...envelope } = webhookToWire(webhook, ids);
  const { organizationId } = authorization;
  const authorizerOrgId = {
    address: ids.encode('ORGANIZATION', organizationId),
    encoded_uuid: Buffer.from(organizationId).toString('base64url'),
    uuid: organizationId,
  }[switches.organizationForm];
  const authorizationDate = event === 'deauthorized' && switches.deauthorizationDate === 'own' ? date : authorization.date;
  return JSON.stringify({
    ...envelope,
    actorId: ids.encode('PEOPLE', authorization.machineAccountId),
    data: { id: ids.encode('APPLICATION', appClientId), authorizerOrgId, authorizationDate },
  });
}
