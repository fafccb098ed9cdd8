// Deliveries of the platform that any process may take, and that wait for the one that renews: sealed texts by id, removed when
// they are where they belong. Knows nothing of what they say.
import { AppError } from '../../base/errors.ts';
import type { Seal } from '../seal.ts';
import { NEWS, type AdminPlace, type SharedServer } from './admin-place.ts';
import { PUT_DELIVERY, REMOVE_DELIVERY, WAITING_DELIVERIES } from './admin-scripts.ts';

/** Most deliveries that wait: the owner takes them within seconds. */
const MAX_WAITING = 1000;

/** One that waits. */
export interface WaitingDelivery {
  readonly id: string;
  /** Undefined for one that does not open with our keys. */
  readonly text: string | undefined;
}

/** The queue. Nothing is held; there is nothing to close. */
export class DeliveryQueue {
  readonly #server: Pick<SharedServer, 'run'>;
  readonly #place: AdminPlace;
  readonly #seal: Seal;

  constructor({ server, place, seal }: { readonly server: Pick<SharedServer, 'run'>; readonly place: AdminPlace; readonly seal: Seal }) {
    this.#server = server;
    this.#place = place;
    this.#seal = seal;
  }

  /**
   * Puts one in. Resolves when it is on the server.
   *
   * @param id - the same for the same delivery.
   * @returns false when it waits already.
   * @throws AppError `store_unavailable`; `overloaded` when too many wait.
   */
  async put(id: string, text: string): Promise<boolean> {
    const { deliveries, news } = this.#place;
    const args = [id, this.#seal.close(text, ownerOf(id)), String(MAX_WAITING), news, NEWS.deliveries];
    const put = await this.#server.run(PUT_DELIVERY, [deliveries], args);
    if (put === 0) throw new AppError('overloaded', 'too many deliveries wait', { details: { limit: MAX_WAITING } });
    return put === 1;
  }

  /** All that wait, in no order. @throws AppError `store_unavailable`. */
  async waiting(): Promise<readonly WaitingDelivery[]> {
    const reply = await this.#server.run(WAITING_DELIVERIES, [this.#place.deliveries], []);
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
    await this.#server.run(REMOVE_DELIVERY, [this.#place.deliveries], [id]);
  }

  #opened(id: string, sealed: string): string | undefined {
    try {
      return this.#seal.open(sealed, ownerOf(id));
    } catch {
      // Of a process with another key, which may take it itself.
      return undefined;
    }
  }
}

function ownerOf(id: string): string {
  return `delivery/${id}`;
}
