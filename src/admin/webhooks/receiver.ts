// Handles deliveries as bytes: refuses unsigned and foreign ones, and stores genuine ones in the inbox before they are acknowledged. Knows
// no sockets.
import { toAppError, type AppError } from '../../base/errors.ts';
import { readDelivery, type DeliveryTarget } from './delivery.ts';
import type { Inbox, Received } from './inbox.ts';
import { isGenuine, type DeliverySignatures } from './signature.ts';

/** The outcome of a delivery; a closed set for the label of a metric. */
export const DELIVERY_OUTCOMES = ['taken', 'known', 'outdated', 'unsigned', 'foreign', 'failed'] as const;
/**
 * In addition to the outcomes of {@link Received}: `unsigned`: no valid signature; `foreign`: genuine, but no event of our service app;
 * `failed`: the event could not be stored.
 */
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number] & (Received | 'unsigned' | 'foreign' | 'failed');

/** The statuses of H-20; the platform repeats deliveries that were not accepted (H-24). */
export const DELIVERY_STATUS = {
  taken: 202,
  known: 202,
  outdated: 202,
  unsigned: 401,
  foreign: 400,
  failed: 503,
} as const satisfies Record<DeliveryOutcome, number>;

export interface ReceiverOptions {
  readonly target: DeliveryTarget;
  readonly inbox: Pick<Inbox, 'receive'>;
  /** Every secret with which the platform may sign. Called for each delivery, because registrations change them. */
  readonly secrets: () => readonly string[];
  /** Called once for a delivery without a valid signature: another process may have changed the secrets. Never rejects. */
  readonly refresh?: (() => Promise<void>) | undefined;
  readonly onDelivery: (outcome: DeliveryOutcome, about: { readonly organizationId?: string; readonly error?: AppError }) => void;
}

export class Receiver {
  readonly #options: ReceiverOptions;

  constructor(options: ReceiverOptions) {
    this.#options = options;
  }

  /** Handles a delivery. Never throws. @param body - the raw bytes, which are parsed only after their signature is verified (H-12). */
  async receive(body: Uint8Array, signatures: DeliverySignatures): Promise<DeliveryOutcome> {
    const { target, inbox, onDelivery } = this.#options;
    if (!(await this.#isGenuine(body, signatures))) return this.#refuse('unsigned');
    const event = readDelivery(body, target);
    if (event === undefined) return this.#refuse('foreign');
    const { organizationId } = event;
    try {
      const received = await inbox.receive(event);
      onDelivery(received, { organizationId });
      return received;
    } catch (thrown) {
      onDelivery('failed', { organizationId, error: toAppError(thrown, 'internal', 'an event of the service app cannot be kept') });
      return 'failed';
    }
  }

  async #isGenuine(body: Uint8Array, signatures: DeliverySignatures): Promise<boolean> {
    const { secrets, refresh } = this.#options;
    if (isGenuine(body, signatures, secrets())) return true;
    if (refresh === undefined) return false;
    await refresh();
    return isGenuine(body, signatures, secrets());
  }

  #refuse(outcome: 'unsigned' | 'foreign'): DeliveryOutcome {
    this.#options.onDelivery(outcome, {});
    return outcome;
  }
}
