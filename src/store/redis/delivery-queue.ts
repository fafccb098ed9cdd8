// A queue of webhook deliveries: any server adds them, the leader processes them. Sealed texts by id, removed after processing. Does not
// interpret the texts.
import { AppError } from '../../base/errors.ts';
import type { Seal } from '../seal.ts';
import { WAITING } from './admin-scripts.ts';
import type { AdminStore } from './admin-store.ts';

/** Most waiting deliveries, approximately: the leader processes them within seconds. */
const MAX_WAITING = 1000;

/** A waiting delivery. */
export interface WaitingDelivery {
  readonly id: string;
  /** Undefined when the text does not open with our keys. */
  readonly text: string | undefined;
}

/** The queue. Holds nothing open. */
export class DeliveryQueue {
  readonly #store: AdminStore;
  readonly #seal: Seal;

  constructor(store: AdminStore, seal: Seal) {
    this.#store = store;
    this.#seal = seal;
  }

  /**
   * Adds a delivery. Resolves when Redis has it.
   *
   * @param id - equal for equal deliveries.
   * @returns false when the delivery waits already.
   * @throws AppError `store_unavailable`; `overloaded` when too many wait.
   */
  async add(id: string, text: string): Promise<boolean> {
    const { keys } = this.#store;
    if (Number(await this.#store.send(['HLEN', keys.deliveries])) >= MAX_WAITING) {
      throw new AppError('overloaded', 'too many deliveries wait', { details: { limit: MAX_WAITING } });
    }
    return (await this.#store.send(['HSETNX', keys.deliveries, id, this.#seal.close(text, ownerOf(id))])) === 1;
  }

  /** All waiting deliveries, in no order. @throws AppError `store_unavailable`. */
  async waiting(): Promise<readonly WaitingDelivery[]> {
    const reply = await this.#store.run(WAITING, [this.#store.keys.deliveries], []);
    const fields = Array.isArray(reply) ? reply.map(String) : [];
    const waiting: WaitingDelivery[] = [];
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const [id = '', sealed = ''] = fields.slice(at, at + 2);
      waiting.push({ id, text: this.#opened(id, sealed) });
    }
    return waiting;
  }

  /** @throws AppError `store_unavailable`. */
  async remove(id: string): Promise<void> {
    await this.#store.send(['HDEL', this.#store.keys.deliveries, id]);
  }

  #opened(id: string, sealed: string): string | undefined {
    try {
      return this.#seal.open(sealed, ownerOf(id));
    } catch {
      // From a server with another key, which may process the delivery itself.
      return undefined;
    }
  }
}

function ownerOf(id: string): string {
  return `delivery/${id}`;
}
