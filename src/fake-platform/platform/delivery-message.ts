// The messages to webhooks: the body, and the headers that sign its bytes (H-10, H-11), in the observed formats. `data` names the customer
// organization; the envelope names the organization that owns the webhook.
import { createHmac, randomBytes } from 'node:crypto';
import type { PlatformIds } from './ids.ts';
import type { DeliverySwitches } from './switches.ts';
import { webhookToWire, type Webhook } from './webhook-book.ts';

/** The consent of one organization to one service app. */
export interface Authorization {
  readonly clientId: string;
  readonly organizationId: string;
  readonly machineAccountId: string;
  /** ISO time with Z. */
  readonly date: string;
  /** Tokens are issued from this time on, monotonic ms (H-26). */
  readonly usableFromMs: number;
}

export interface AppEvent {
  readonly event: 'authorized' | 'deauthorized';
  readonly authorization: Authorization;
  /** When the event happened, ISO time with Z. */
  readonly date: string;
}

/** The body as signed and sent. @param appClientId - the app that the event names; some tests pass a wrong one. */
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

/** Headers that sign a body; none when the webhook has no secret. */
export function signatureHeaders(
  body: string,
  secret: string | undefined,
  names: { readonly sha1SignatureHeader: string; readonly sha2SignatureHeader: string },
  switches: Pick<DeliverySwitches, 'signature' | 'strongSignature'>,
): Readonly<Record<string, string>> {
  if (secret === undefined || switches.signature === 'none') return {};
  const key = switches.signature === 'foreign' ? randomBytes(32).toString('hex') : secret;
  const hex = (algorithm: string, by = key): string => createHmac(algorithm, by).update(body).digest('hex');
  const weak = { [names.sha1SignatureHeader]: hex('sha1') };
  if (switches.strongSignature === 'none') return weak;
  const strong = {
    pair: `SHA-256=${hex('sha256')},SHA-512=${hex('sha512')}`,
    sha256: `sha256=${hex('sha256')}`,
    hex: hex('sha256'),
    wrong: `SHA-256=${hex('sha256', 'another')},SHA-512=${hex('sha512', 'another')}`,
    garbage: 'v1;none',
  }[switches.strongSignature];
  return { ...weak, [names.sha2SignatureHeader]: strong };
}
