// Webhook registrations as records: read leniently, written strictly. Does not read deliveries.
import { z } from 'zod';
import { looseText, looseWord } from './loose-fields.ts';
import { demand, demandWritten } from './records.ts';

const name = z.string().min(1).max(512);

const registrationFields = z.object({
  id: name,
  name: looseText,
  targetUrl: looseText,
  resource: looseText,
  event: looseText,
  filter: looseText,
  /** The platform signs deliveries with it; a secret. */
  secret: looseText,
  /** `active`, or `inactive` after too many failed deliveries. */
  status: looseWord,
  created: looseText,
  ownedBy: looseText,
  orgId: looseText,
  createdBy: looseText,
  appId: looseText,
});

/** A webhook as the platform sends it. */
export type WebhookRegistration = Readonly<z.infer<typeof registrationFields>>;

/** Reads a webhook. @throws AppError `platform_answer_invalid` when it is no object with an `id`. */
export function readWebhook(value: unknown): WebhookRegistration {
  return demand(registrationFields, value, 'a webhook');
}

const targetUrl = z.url({ protocol: /^https?$/u, error: 'must be an http address' }).max(2048);
const secret = z.string().min(1).max(512);
const createFields = z.strictObject({
  name,
  targetUrl,
  resource: name,
  event: name,
  filter: name.optional(),
  secret: secret.optional(),
  ownedBy: name.optional(),
});
const updateFields = z.strictObject({
  name,
  targetUrl,
  secret: secret.optional(),
  status: z.literal('active').optional(),
  ownedBy: name.optional(),
});

/** The body that registers a webhook. Registering is not idempotent: first list and match. `secret` is a secret. */
export type WebhookCreate = Readonly<z.infer<typeof createFields>>;

/** The body that changes a webhook: other members cannot be changed, and `active` is the only status that can be set. */
export type WebhookUpdate = Readonly<z.infer<typeof updateFields>>;

/** Validates the body of a registration. @throws AppError `config_invalid` that names the problem without values. */
export function writeWebhook(create: WebhookCreate): WebhookCreate {
  return demandWritten(createFields, create, 'the webhook');
}

/** Validates the body of a change. @throws AppError `config_invalid` that names the problem without values. */
export function writeWebhookUpdate(update: WebhookUpdate): WebhookUpdate {
  return demandWritten(updateFields, update, 'the change of a webhook');
}
