// Delivers events to webhooks with real HTTP POSTs, or with failures when a switch says so. Repeats no delivery: the platform guarantees
// none (H-24).
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { abortAfter, linkAbort, pause, type LinkedAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { newClientId } from './apps.ts';
import { deliveryBody, signatureHeaders, type AppEvent } from './delivery-message.ts';
import type { PlatformIds } from './ids.ts';
import type { AdminNames } from './names.ts';
import type { DeliverySwitches } from './switches.ts';
import { filteredApp, type Webhook, type WebhookBook } from './webhook-book.ts';

export interface Delivery {
  readonly webhookId: string;
  readonly event: AppEvent['event'];
  readonly organizationId: string;
  readonly targetUrl: string;
  /** The body that is sent. It contains no secret. */
  readonly body: string;
  /** `status` is the HTTP status of the receiver's answer. */
  readonly outcome: { readonly kind: 'held' | 'under_way' | 'failed' | 'dropped' } | { readonly kind: 'answered'; readonly status: number };
}

export interface DeliveryParts {
  readonly webhooks: WebhookBook;
  readonly ids: PlatformIds;
  readonly names: Pick<AdminNames, 'webhook'>;
  readonly clock: Clock;
  readonly switches: DeliverySwitches;
  /** Called for each delivery when its outcome is known; must not throw. */
  readonly onOutcome?: ((delivery: Delivery) => void) | undefined;
}

interface Parcel {
  delivery: Delivery;
  readonly headers: Readonly<Record<string, string>>;
}

const MAX_LOG = 1000;
const MAX_COPIES = 100;

/** All deliveries of one platform. Call `close`. */
export class Deliveries {
  readonly #parts: DeliveryParts;
  readonly #log: Parcel[] = [];
  #held: Parcel[] = [];
  readonly #underWay = new Set<Promise<void>>();
  readonly #all = linkAbort();

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  /** The latest 1000 deliveries, oldest first. */
  get log(): readonly Delivery[] {
    return this.#log.map(({ delivery }) => delivery);
  }

  /** Delivers an event to every webhook that is registered for it. */
  announce(event: AppEvent): void {
    const { webhooks, ids, names, switches } = this.#parts;
    const { clientId } = event.authorization;
    const isWaiting = ({ status, resource, event: name, filter }: Webhook): boolean =>
      status === 'active' &&
      resource === names.webhook.appResource &&
      name === event.event &&
      (filter === undefined || filteredApp(filter, ids) === clientId);
    for (const webhook of webhooks.all().filter(isWaiting)) {
      const body = deliveryBody(webhook, event, switches.foreignApp ? newClientId() : clientId, ids, switches);
      const copies = Math.min(switches.copies, MAX_COPIES);
      // With 0 copies, a dropped delivery is logged and never sent.
      for (let copy = 0; copy < Math.max(copies, 1); copy += 1) this.#pack(webhook, event, body, copies === 0);
    }
  }

  /** Sends the held deliveries, in the order of their events or in reverse. */
  release(order: 'kept' | 'reversed' = 'kept'): void {
    const held = order === 'kept' ? this.#held : [...this.#held].reverse();
    this.#held = [];
    // Each delivery waits for the answer to the previous one, so that they arrive in this order.
    this.#track(
      held.reduce(async (before, parcel) => {
        await before;
        await this.#send(parcel);
      }, Promise.resolve()),
    );
  }

  /** Resolves when no delivery is under way. Held deliveries stay held. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  /** Drops deliveries that are held, delayed or under way. */
  async close(): Promise<void> {
    this.#held = [];
    this.#all.abort('shutdown');
    await this.settled();
  }

  #pack(webhook: Webhook, { event, authorization }: AppEvent, body: string, isDropped: boolean): void {
    const { switches, names } = this.#parts;
    const kind = isDropped ? 'dropped' : switches.hold ? 'held' : 'under_way';
    const { id: webhookId, targetUrl, secret } = webhook;
    const delivery: Delivery = { webhookId, event, organizationId: authorization.organizationId, targetUrl, body, outcome: { kind } };
    const parcel = { delivery, headers: signatureHeaders(body, secret, names.webhook, switches) };
    this.#log.push(parcel);
    if (this.#log.length > MAX_LOG) this.#log.shift();
    if (kind === 'dropped') this.#parts.onOutcome?.(delivery);
    if (kind === 'held') this.#held.push(parcel);
    if (kind === 'under_way') this.#track(this.#send(parcel));
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
  }

  #end(parcel: Parcel, outcome: Delivery['outcome']): void {
    parcel.delivery = { ...parcel.delivery, outcome };
    this.#parts.onOutcome?.(parcel.delivery);
  }

  async #send(parcel: Parcel): Promise<void> {
    const { clock, webhooks, switches } = this.#parts;
    const { delayMs, timeoutMs, deactivateAfter } = switches;
    parcel.delivery = { ...parcel.delivery, outcome: { kind: 'under_way' } };
    if (delayMs > 0) await pause(delayMs, clock, this.#all.signal);
    const one = abortAfter(timeoutMs, clock, this.#all.signal);
    try {
      const status = await post(parcel, one);
      this.#end(parcel, { kind: 'answered', status });
      webhooks.noteDelivery(parcel.delivery.webhookId, status >= 200 && status < 300, deactivateAfter);
    } catch {
      // The platform only counts failures; their reasons are the receiver's.
      this.#end(parcel, { kind: 'failed' });
      if (!this.#all.signal.aborted) webhooks.noteDelivery(parcel.delivery.webhookId, false, deactivateAfter);
    } finally {
      one.dispose();
    }
  }
}

/** Sends a delivery. @returns the status of the receiver's answer; follows no redirect. Reuses no connection: receivers come and go. */
function post({ delivery, headers }: Parcel, { signal }: LinkedAbort): Promise<number> {
  const url = new URL(delivery.targetUrl);
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const all = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(delivery.body)), ...headers };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent: false, headers: all, signal }, (response) => {
      // The body of the answer is ignored, but has to be read to its end.
      response.resume();
      response.once('error', reject);
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', reject);
    sent.end(delivery.body);
  });
}
