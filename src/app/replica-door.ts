// Where one of several servers takes deliveries: it knows the secrets of all, and gives what is genuine to the one that renews.
import { serviceAppIdentity } from '../admin/access.ts';
import type { AdministrationOptions } from '../admin/administration.ts';
import { openDeliveryDoor } from '../admin/webhooks/delivery-door.ts';
import type { Endpoint } from '../admin/webhooks/endpoint.ts';
import { readRegistrations, REGISTRATIONS_KEY, secretsIn } from '../admin/webhooks/kept-registrations.ts';
import type { Clock } from '../base/clock.ts';
import type { SharedTexts } from '../store/redis/shared-texts.ts';
import type { Replica } from './replica.ts';

/** What it is joined to. */
export interface ReplicaDoorParts {
  readonly replica: Pick<Replica, 'receive'>;
  readonly texts: Pick<SharedTexts, 'peek'>;
  /** Brings what others have written. */
  readonly look: () => Promise<void>;
  readonly clock: Clock;
}

/** Opens it; undefined where nobody delivers. @throws AppError `listen_failed`. */
export async function openReplicaDoor(
  { access, profile, webhooks, observer }: Pick<AdministrationOptions, 'access' | 'profile' | 'webhooks' | 'observer'>,
  { replica, texts, look, clock }: ReplicaDoorParts,
): Promise<Endpoint | undefined> {
  if (webhooks === undefined || access.type !== 'service_app') return undefined;
  return openDeliveryDoor(webhooks, serviceAppIdentity(access.serviceApp, profile), {
    ...{ inbox: replica, look, clock },
    secrets: () => secretsIn(readRegistrations(texts.peek(REGISTRATIONS_KEY)), clock.nowMs()),
    onDelivery: (outcome, about) => {
      observer.delivered?.(outcome, about);
    },
  });
}
