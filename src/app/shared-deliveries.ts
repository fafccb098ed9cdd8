// Webhook events when several servers share a store: every server accepts deliveries, Redis queues them, and the leader processes them. An
// acknowledged event is stored; the inbox processes an event only once, however often it is delivered.
import type { Administration } from '../admin/administration.ts';
import type { Received } from '../admin/webhooks/inbox.ts';
import { readWaitingEvent, writeWaitingEvent, type ServiceAppEvent } from '../admin/webhooks/delivery.ts';
import { toAppError, type AppError, type ErrorCode } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { DeliveryQueue, WaitingDelivery } from '../store/redis/delivery-queue.ts';

/** Most events that wait in memory until Redis stores them. */
const MAX_UNQUEUED = 100;
/** Errors of the store, which affect all deliveries. */
const OF_THE_STORE: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['store_failed', 'store_unavailable', 'shutting_down']);

export interface SharedDeliveriesParts {
  readonly queue: Pick<DeliveryQueue, 'add' | 'waiting' | 'remove'>;
  /** The administration that processes events while this server leads; otherwise undefined. */
  readonly leader: () => Pick<Administration, 'receive'> | undefined;
  readonly log: Logger;
}

/** Needs no `close`. */
export class SharedDeliveries {
  readonly #parts: SharedDeliveriesParts;
  readonly #unqueued = new Map<string, ServiceAppEvent>();

  constructor(parts: SharedDeliveriesParts) {
    this.#parts = parts;
  }

  /**
   * Accepts a genuine event. Resolves when the event is stored.
   *
   * @throws AppError `store_unavailable`, `store_failed`, `overloaded`: storing is retried here, and the platform may deliver the event
   * again (H-24).
   */
  async receive(event: ServiceAppEvent): Promise<Received> {
    try {
      const leader = this.#parts.leader();
      if (leader !== undefined) return await leader.receive(event);
      return (await this.#enqueue(event)) ? 'taken' : 'known';
    } catch (thrown) {
      if (this.#unqueued.size < MAX_UNQUEUED) this.#unqueued.set(event.idempotencyKey, event);
      throw thrown;
    }
  }

  /** Stores events that could not be stored before, and processes the queue while leading. Never throws. */
  async tend(): Promise<void> {
    try {
      for (const event of this.#unqueued.values()) {
        await this.#enqueue(event);
        this.#unqueued.delete(event.idempotencyKey);
      }
      const leader = this.#parts.leader();
      if (leader === undefined) return;
      for (const waiting of await this.#parts.queue.waiting()) await this.#takeOne(waiting, leader);
    } catch (thrown) {
      this.#logFailure(toAppError(thrown));
    }
  }

  /** @throws AppError of the store. Other errors of one delivery do not stop the others. */
  async #takeOne({ id, text }: WaitingDelivery, leader: Pick<Administration, 'receive'>): Promise<void> {
    // A server with the right key will process this delivery.
    if (text === undefined) return;
    try {
      const event = readWaitingEvent(text);
      if (event !== undefined) await leader.receive(event);
    } catch (thrown) {
      const error = toAppError(thrown);
      if (OF_THE_STORE.has(error.code)) throw error;
      this.#logFailure(error);
      return;
    }
    await this.#parts.queue.remove(id);
  }

  #enqueue(event: ServiceAppEvent): Promise<boolean> {
    return this.#parts.queue.add(event.idempotencyKey, writeWaitingEvent(event));
  }

  #logFailure(err: AppError): void {
    this.#parts.log.warn({ event: 'webhook_waiting', err }, 'deliveries that wait could not be taken yet');
  }
}
