// Registered webhooks, with their secrets and the number of failed deliveries.
import { randomUUID } from 'node:crypto';
import { BoundedMap } from './bounded-map.ts';
import type { PlatformIds } from './ids.ts';

export interface Webhook {
  /** Plain UUID. */
  readonly id: string;
  /** Client id of the integration that made the webhook. */
  readonly clientId: string;
  /** The developer's organization and person, plain UUIDs. */
  readonly organizationId: string;
  readonly personId: string;
  readonly name: string;
  readonly targetUrl: string;
  readonly resource: string;
  readonly event: string;
  readonly filter: string | undefined;
  readonly secret: string | undefined;
  readonly ownedBy: 'creator' | 'org';
  readonly status: 'active' | 'inactive';
  /** ISO time with Z. */
  readonly created: string;
}

const MAX_WEBHOOKS = 1000;

/** All webhooks: at most 1000; beyond that, the oldest are dropped. */
export class WebhookBook {
  readonly #webhooks = new BoundedMap<string, Webhook>(MAX_WEBHOOKS);
  /** Failed deliveries in a row, by webhook id. */
  readonly #failures = new BoundedMap<string, number>(MAX_WEBHOOKS);

  add(webhook: Omit<Webhook, 'id' | 'status'>): Webhook {
    const added: Webhook = { ...webhook, id: randomUUID(), status: 'active' };
    this.#webhooks.set(added.id, added);
    return added;
  }

  /** Updates a webhook. An active one starts again without failures. */
  change(webhook: Webhook): Webhook {
    if (webhook.status === 'active') this.#failures.delete(webhook.id);
    this.#webhooks.set(webhook.id, webhook);
    return webhook;
  }

  delete(id: string): boolean {
    return this.#webhooks.delete(id);
  }

  find(id: string): Webhook | undefined {
    return this.#webhooks.get(id);
  }

  /** All webhooks, oldest first. */
  all(): readonly Webhook[] {
    return [...this.#webhooks.values()];
  }

  /** Records the outcome of a delivery. After `deactivateAfter` failures in a row, the webhook becomes `inactive`; 0: never. */
  noteDelivery(id: string, isDelivered: boolean, deactivateAfter: number): void {
    const webhook = this.find(id);
    if (webhook === undefined) return;
    const failures = isDelivered ? 0 : (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, failures);
    if (deactivateAfter > 0 && failures >= deactivateAfter) this.deactivate(id);
  }

  /** Deactivates a webhook, as only the platform can. @returns false when there is none. */
  deactivate(id: string): boolean {
    const webhook = this.find(id);
    if (webhook === undefined) return false;
    this.#webhooks.set(id, { ...webhook, status: 'inactive' });
    return true;
  }
}

/** A webhook as on the wire. */
export function webhookToWire(webhook: Webhook, ids: PlatformIds): Readonly<Record<string, unknown>> {
  const { id, clientId, organizationId, personId, ...rest } = webhook;
  return {
    ...rest,
    id: ids.encode('WEBHOOK', id),
    orgId: ids.encode('ORGANIZATION', organizationId),
    createdBy: ids.encode('PEOPLE', personId),
    appId: ids.encode('APPLICATION', clientId),
  };
}

/** The client id of the service app in a filter; undefined for any other filter. */
export function filteredApp(filter: string, ids: PlatformIds): string | undefined {
  return filter.startsWith('id=') ? ids.decode('APPLICATION', filter.slice('id='.length)) : undefined;
}
