// Webhook registrations, with their secrets and the failures of their deliveries.
import { randomUUID } from 'node:crypto';
import { BoundedMap } from './bounded-map.ts';
import type { PlatformIds } from './ids.ts';

export interface Webhook {
  /** Plain UUID. */
  readonly id: string;
  /** The integration that made it. */
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

/** All registrations; at most 1000, the oldest are dropped. */
export class WebhookBook {
  readonly #webhooks = new BoundedMap<string, Webhook>(MAX_WEBHOOKS);
  /** Failures in a row. */
  readonly #failures = new BoundedMap<string, number>(MAX_WEBHOOKS);

  add(webhook: Omit<Webhook, 'id' | 'status'>): Webhook {
    const added: Webhook = { ...webhook, id: randomUUID(), status: 'active' };
    this.#webhooks.set(added.id, added);
    return added;
  }

  /** Updates a registration; one that becomes active again has no failures. */
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

  /** Oldest first. */
  all(): readonly Webhook[] {
    return [...this.#webhooks.values()];
  }

  /** Records the outcome of a delivery; the registration becomes `inactive` after `deactivateAfter` failures in a row, 0 is never. */
  noteDelivery(id: string, isDelivered: boolean, deactivateAfter: number): void {
    const webhook = this.find(id);
    if (webhook === undefined) return;
    const failures = isDelivered ? 0 : (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, failures);
    if (deactivateAfter > 0 && failures >= deactivateAfter) this.deactivate(id);
  }

  /** Only the platform can do this; false when there is none. */
  deactivate(id: string): boolean {
    const webhook = this.find(id);
    if (webhook === undefined) return false;
    this.#webhooks.set(id, { ...webhook, status: 'inactive' });
    return true;
  }
}

/** A registration on the wire. */
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

/** The client id of the service app that a filter names; undefined for another filter. */
export function filteredApp(filter: string, ids: PlatformIds): string | undefined {
  return filter.startsWith('id=') ? ids.decode('APPLICATION', filter.slice('id='.length)) : undefined;
}
