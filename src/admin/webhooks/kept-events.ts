// The stored events of the service app: for each organization the newest event and whether it was processed, as one text in the durable
// store.
import { z } from 'zod';
import { parseJson } from '../../base/json.ts';
import type { SecretStore } from '../secret-store.ts';
import { SERVICE_APP_EVENTS } from './delivery.ts';

const KEY_PREFIX = 'authorization/';

const keptEvent = z.strictObject({
  version: z.literal(1),
  /** Number of the newest relevant event. */
  generation: z.int(),
  /** Number of the event that was processed last. */
  done: z.int(),
  event: z.enum(SERVICE_APP_EVENTS),
  authorizerOrgId: z.string(),
  authorizedAtMs: z.number(),
  seen: z.array(z.string()).readonly(),
});

export type KeptEvent = z.infer<typeof keptEvent>;

/** The store key of an organization's event. @param organizationId - a plain UUID. */
export function keptEventKey(organizationId: string): string {
  return KEY_PREFIX + organizationId;
}

/** The organization of a store key, a plain UUID; undefined for any other key. */
export function organizationOfEvent(key: string): string | undefined {
  return key.startsWith(KEY_PREFIX) ? key.slice(KEY_PREFIX.length) : undefined;
}

export async function organizationsWithEvents(store: Pick<SecretStore, 'keys'>): Promise<readonly string[]> {
  return (await store.keys(KEY_PREFIX)).map((key) => key.slice(KEY_PREFIX.length));
}

/** @returns undefined when no event is stored, or another version wrote it; then the next check of all organizations finds it again. */
export async function readKeptEvent(store: Pick<SecretStore, 'get'>, organizationId: string): Promise<KeptEvent | undefined> {
  return keptEvent.safeParse(parseJson((await store.get(keptEventKey(organizationId))) ?? '')).data;
}

/** @throws AppError of the store. */
export async function writeKeptEvent(store: Pick<SecretStore, 'set'>, organizationId: string, kept: KeptEvent): Promise<void> {
  await store.set(keptEventKey(organizationId), JSON.stringify(kept));
}

/** Whether the newest event is not processed yet. */
export function isOpen({ done, generation }: KeptEvent): boolean {
  return done !== generation;
}
