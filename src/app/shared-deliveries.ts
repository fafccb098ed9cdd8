// Events of the service app where several servers share a store: each server takes deliveries, the leader does what they ask for, and
// in between they wait in Redis. An event that is acknowledged is written down; one that is delivered twice is done once, by the inbox.
import type { Administration } from '../admin/administration.ts';
import type { Received } from '../admin/webhooks/inbox.ts';
import { readWaitingEvent, writeWaitingEvent, type ServiceAppEvent } from '../admin/webhooks/delivery.ts';
import { toAppError, type AppError, type ErrorCode } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { DeliveryQueue, WaitingDelivery } from '../store/redis/delivery-queue.ts';

/** Most events that are kept here until Redis takes them. */
const MAX_UNQUEUED = 100;
/** What keeps every delivery from being taken, and not this one alone. */
const OF_THE_STORE: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['store_failed', 'store_unavailable', 'shutting_down']);

export interface SharedDeliveriesParts {
  readonly queue: Pick<DeliveryQueue, 'add' | 'waiting' | 'remove'>;
  /** Does what events ask for, while this server leads; undefined on every other server. */
  readonly leader: () => Pick<Administration, 'receive'> | undefined;
  readonly log: Logger;
}

/** Has nothing to close. */
export class SharedDeliveries {
  readonly #parts: SharedDeliveriesParts;
  readonly #unqueued = new Map<string, ServiceAppEvent>();

  constructor(parts: SharedDeliveriesParts) {
    this.#parts = parts;
  }

  /**
   * Takes a genuine event. Resolves when it is written down.
   *
   * @throws AppError `store_unavailable`, `store_failed`, `overloaded`: it is tried again here, and the platform may deliver it
   *   again (H-24).
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

  /** Tries again what could not be written down, and as the leader does what waits. Never throws. */
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

  /** @throws AppError of the store; what is wrong with one delivery keeps no other from being taken. */
  async #takeOne({ id, text }: WaitingDelivery, leader: Pick<Administration, 'receive'>): Promise<void> {
    // One that does not open is left to a server with its key.
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
