// Reads a delivery with a valid signature: which organization authorized our service app, or withdrew its authorization. Refuses all other
// deliveries (H-21). Knows neither queue nor tokens.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '../../base/json.ts';
import { isSameId, tryDecodeId } from '../platform-id.ts';

/** The two events of a service app. */
export const SERVICE_APP_EVENTS = ['authorized', 'deauthorized'] as const;
export type ServiceAppEventName = (typeof SERVICE_APP_EVENTS)[number];

/** A genuine event of our service app. */
export interface ServiceAppEvent {
  readonly event: ServiceAppEventName;
  /** The customer organization, a plain lower-case UUID. */
  readonly organizationId: string;
  /** The organization's id in the platform's spelling, for requests to the platform (U-14). */
  readonly authorizerOrgId: string;
  /** When the customer authorized the app, ms since the epoch; also in a deauthorization, which may repeat this time. */
  readonly authorizedAtMs: number;
  /** Equal for the same event in repeated deliveries (H-22). */
  readonly idempotencyKey: string;
}

export interface DeliveryTarget {
  /** The service app's client id, in any spelling. */
  readonly applicationId: string;
  /** The name of the resource and the scheme of ids, both from the profile. */
  readonly resource: string;
  readonly idScheme: string;
}

const MAX_ID_CHARS = 512;

// Only guaranteed members of the envelope are read. Its own orgId is the developer's organization, not the customer's.
const deliverySchema = z.object({
  resource: z.string().max(100),
  event: z.enum(SERVICE_APP_EVENTS),
  data: z.object({
    id: z.string().max(MAX_ID_CHARS),
    authorizerOrgId: z.string().min(1).max(MAX_ID_CHARS),
    authorizationDate: z.iso.datetime({ offset: true }),
  }),
});

/** Reads a delivery. @returns undefined for anything other than an event of our service app (H-21). */
export function readDelivery(body: Uint8Array, target: DeliveryTarget): ServiceAppEvent | undefined {
  const parsed = deliverySchema.safeParse(parseJson(body));
  if (!parsed.success) return undefined;
  const { resource, event, data } = parsed.data;
  if (resource !== target.resource || !isSameId(data.id, target.applicationId, 'APPLICATION', target.idScheme)) return undefined;
  const organizationId = tryDecodeId(data.authorizerOrgId, 'ORGANIZATION', target.idScheme);
  if (organizationId === undefined) return undefined;
  const authorizedAtMs = Date.parse(data.authorizationDate);
  const applicationId = tryDecodeId(data.id, 'APPLICATION', target.idScheme) ?? data.id;
  const idempotencyKey = createHash('sha256')
    .update([applicationId, organizationId, event, new Date(authorizedAtMs).toISOString()].join('\u001F'))
    .digest('hex');
  return { event, organizationId, authorizerOrgId: data.authorizerOrgId, authorizedAtMs, idempotencyKey };
}

const waitingEvent = z.strictObject({
  event: z.enum(SERVICE_APP_EVENTS),
  organizationId: z.string(),
  authorizerOrgId: z.string(),
  authorizedAtMs: z.number(),
  idempotencyKey: z.string(),
});

/** Writes an event as text, for the process that will process it (L-10). */
export function writeWaitingEvent(event: ServiceAppEvent): string {
  return JSON.stringify(event satisfies z.infer<typeof waitingEvent>);
}

/** @returns undefined for a text of another version. */
export function readWaitingEvent(text: string): ServiceAppEvent | undefined {
  return waitingEvent.safeParse(parseJson(text)).data;
}
