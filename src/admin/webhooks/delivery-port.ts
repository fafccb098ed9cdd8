// Where deliveries come in: the address, and the check that they are the platform's and about our service app. Where they go
// from here is decided by whoever opens it.
import type { Clock } from '../../base/clock.ts';
import type { ServiceAppSide } from '../access.ts';
import { startEndpoint, type Endpoint, type EndpointOptions } from './endpoint.ts';
import { Receiver, type ReceiverOptions } from './receiver.ts';

/** Where deliveries arrive. */
export type DeliveryAddress = Pick<EndpointOptions, 'host' | 'port' | 'path' | 'tls' | 'unverifiedTimeoutMs' | 'maxUnverifiedPerAddress'>;

/** What it is joined to. */
export interface DeliveryPortParts extends Pick<ReceiverOptions, 'inbox' | 'onDelivery' | 'refresh'> {
  /** Every secret that the platform may have signed with; asked for each delivery. */
  readonly secrets: () => readonly string[];
  readonly clock: Clock;
}

/** Opens it. @throws AppError `listen_failed`. */
export function openDeliveryPort(
  { host, port, path, tls, unverifiedTimeoutMs, maxUnverifiedPerAddress }: DeliveryAddress,
  { applicationId, names, idScheme }: Pick<ServiceAppSide, 'applicationId' | 'names' | 'idScheme'>,
  { inbox, onDelivery, refresh, secrets, clock }: DeliveryPortParts,
): Promise<Endpoint> {
  const receiver = new Receiver({
    ...{ inbox, onDelivery, refresh },
    target: { applicationId, resource: names.appResource, idScheme },
    // A stronger header in a form that nobody has described yet must not cost the delivery (U-10).
    policy: () => ({ secrets: secrets(), takesUnreadableSha2: true }),
  });
  const headers = { sha1Header: names.sha1SignatureHeader, sha2Header: names.sha2SignatureHeader };
  return startEndpoint({ host, port, path, tls, unverifiedTimeoutMs, maxUnverifiedPerAddress, ...headers, receiver, clock });
}
