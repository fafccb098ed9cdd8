// Webhooks as records: their registrations (read leniently, written strictly) and what they deliver about app
// authorizations. Signatures and ids are judged elsewhere.
import { z } from 'zod';
import { AppError } from '../base/errors.ts';
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
  /** Of deliveries; a secret. */
  secret: looseText,
  /** `active`, or `inactive` after too many failed deliveries. */
  status: looseWord,
  created: looseText,
  ownedBy: looseText,
  orgId: looseText,
  createdBy: looseText,
  appId: looseText,
});

/** A webhook as the platform tells it. */
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

/** What registers a webhook. Creating is not idempotent: list and match first. `secret` is one. */
export type WebhookCreate = Readonly<z.infer<typeof createFields>>;

/** What changes a webhook: nothing else can be changed, and `active` is the only status that can be set. */
export type WebhookUpdate = Readonly<z.infer<typeof updateFields>>;

/** The body of a registration. @throws AppError `config_invalid` with what is wrong, and none of the values. */
export function writeWebhook(create: WebhookCreate): WebhookCreate {
  return demandWritten(createFields, create, 'the webhook');
}

/** The body of a change. @throws AppError `config_invalid` with what is wrong, and none of the values. */
export function writeWebhookUpdate(update: WebhookUpdate): WebhookUpdate {
  return demandWritten(updateFields, update, 'the change of a webhook');
}

/** What an organization did with an app (6.1). Ids are as the platform spelt them. */
export interface ServiceAppEvent {
  readonly event: 'authorized' | 'deauthorized';
  /** Id of the webhook; undefined when the envelope lacks it. */
  readonly webhookId: string | undefined;
  /** Id of the app, encoded or not. */
  readonly appId: string;
  /** The organization that authorized: never the envelope's own `orgId`, which is the developer's. */
  readonly authorizerOrgId: string;
  /** As it came: part of the key that finds repetitions (H-22). */
  readonly authorizationDate: string;
}

/**
 * Reads a delivery about an app (H-21).
 *
 * @param appResource - the platform's word for apps, of the profile.
 * @throws AppError `bad_message` that says which member is missing or wrong and quotes nothing.
 */
export function readServiceAppEvent(value: unknown, appResource: string): ServiceAppEvent {
  const shape = z.object({
    id: looseText,
    resource: z.literal(appResource),
    event: z.enum(['authorized', 'deauthorized']),
    data: z.object({ id: name, authorizerOrgId: name, authorizationDate: name }),
  });
  const parsed = shape.safeParse(value);
  if (!parsed.success) {
    const places = new Set(parsed.error.issues.map(({ path }) => path.join('.') || 'the whole'));
    throw new AppError('bad_message', `a webhook delivery is none about an app: ${[...places].join(', ')}`);
  }
  const { id: webhookId, event, data } = parsed.data;
  return { event, webhookId, appId: data.id, authorizerOrgId: data.authorizerOrgId, authorizationDate: data.authorizationDate };
}
