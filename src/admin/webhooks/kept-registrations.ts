// What is remembered of our registrations: their ids and secrets, as one text of the durable store.
import { z } from 'zod';
import type { SecretStore } from '../secret-store.ts';

const KEY = 'webhooks/registrations';

const one = z.strictObject({
  webhookId: z.string().optional(),
  /** The secret that the platform has confirmed. */
  current: z.string().optional(),
  /** A secret that was sent, or is about to be; nobody knows yet whether the platform took it. */
  announced: z.string().optional(),
  /** Whether the platform repeats secrets as they are. */
  isSecretTold: z.boolean().optional(),
});
const all = z.strictObject({ version: z.literal(1), authorized: one.optional(), deauthorized: one.optional() });

/** One registration; everything in it but the id is secret. */
export type KeptRegistration = z.infer<typeof one>;
/** Both. */
export type KeptRegistrations = z.infer<typeof all>;

/** Reads them; nothing for what another version wrote, and then both get new secrets. */
export async function keptRegistrations(store: SecretStore): Promise<KeptRegistrations> {
  try {
    return all.parse(JSON.parse((await store.get(KEY)) ?? ''));
  } catch (thrown) {
    if (thrown instanceof SyntaxError || thrown instanceof z.ZodError) return { version: 1 };
    throw thrown;
  }
}

/** @throws AppError of the store. */
export async function writeRegistrations(store: SecretStore, kept: KeptRegistrations): Promise<void> {
  await store.set(KEY, JSON.stringify(kept));
}
