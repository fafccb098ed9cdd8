// A genuine event as text, while it is on its way from the process that took its delivery to the one that does what it asks for
// (L-10). Reads no delivery and checks no signature.
import { z } from 'zod';
import { parseJson } from '../../base/json.ts';
import { SERVICE_APP_EVENTS, type ServiceAppEvent } from './delivery.ts';

const waitingEvent = z.strictObject({
  event: z.enum(SERVICE_APP_EVENTS),
  organizationId: z.string(),
  authorizerOrgId: z.string(),
  authorizedAtMs: z.number(),
  idempotencyKey: z.string(),
});

export function writeWaitingEvent(event: ServiceAppEvent): string {
  return JSON.stringify(event satisfies z.infer<typeof waitingEvent>);
}

/** Undefined for a text of another version. */
export function readWaitingEvent(text: string): ServiceAppEvent | undefined {
  return waitingEvent.safeParse(parseJson(text)).data;
}
