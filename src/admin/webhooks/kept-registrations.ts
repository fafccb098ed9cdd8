// The stored ids and secrets of our webhook registrations, as one text in the durable store.
import { z } from 'zod';
import { parseJson } from '../../base/json.ts';
import type { SecretStore } from '../secret-store.ts';
import { SERVICE_APP_EVENTS } from './delivery.ts';

/** The key of the registrations in the store. */
export const REGISTRATIONS_KEY = 'webhooks/registrations';

const one = z.strictObject({
  webhookId: z.string().optional(),
  /** The secret that the platform has confirmed. */
  current: z.string().optional(),
  /** A secret that was sent, or is about to be sent, with unknown outcome. */
  announced: z.string().optional(),
  /** The previous secret, which may have signed deliveries that are still on their way. `untilMs` is ms since the epoch. */
  previous: z.strictObject({ secret: z.string(), untilMs: z.number() }).optional(),
  /** Whether the platform returns secrets unchanged. */
  isSecretTold: z.boolean().optional(),
});
const all = z.strictObject({ version: z.literal(1), authorized: one.optional(), deauthorized: one.optional() });

/** One registration; every member except the id is secret. */
export type KeptRegistration = z.infer<typeof one>;
export type KeptRegistrations = z.infer<typeof all>;

/** Reads the stored registrations. Empty when another version wrote them; then both webhooks get new secrets. */
export async function keptRegistrations(store: SecretStore): Promise<KeptRegistrations> {
  return readRegistrations(await store.get(REGISTRATIONS_KEY));
}

/** Parses the text of the registrations. */
export function readRegistrations(text: string | undefined): KeptRegistrations {
  return all.safeParse(parseJson(text ?? '')).data ?? { version: 1 };
}

/** Every secret with which the platform may sign: confirmed ones, those with unknown outcome, and previous ones. */
export function secretsIn(kept: KeptRegistrations, nowMs: number): readonly string[] {
  return SERVICE_APP_EVENTS.flatMap((event) => {
    const { current, announced, previous } = kept[event] ?? {};
    const isOver = previous === undefined || nowMs >= previous.untilMs;
    return [current, announced, isOver ? undefined : previous.secret].filter((secret) => secret !== undefined);
  });
}

/** @throws AppError of the store. */
export async function writeRegistrations(store: SecretStore, kept: KeptRegistrations): Promise<void> {
  await store.set(REGISTRATIONS_KEY, JSON.stringify(kept));
}

/** Erases the secret of a deleted webhook. @returns whether there was one. @throws AppError of the store. */
export async function forgetRegistration(store: SecretStore, webhookId: string): Promise<boolean> {
  const kept = await keptRegistrations(store);
  const gone = SERVICE_APP_EVENTS.filter((event) => kept[event]?.webhookId === webhookId);
  if (gone.length === 0) return false;
  await writeRegistrations(store, { ...kept, ...Object.fromEntries(gone.map((event) => [event, undefined])) });
  return true;
}
