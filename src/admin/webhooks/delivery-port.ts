// Connects the endpoint for deliveries with the check that they come from the platform and are for our service app. The caller decides what
// happens with accepted deliveries.
import type { Clock } from '../../base/clock.ts';
import type { ServiceAppSide } from '../access.ts';
import { startEndpoint, type Endpoint, type EndpointOptions } from './endpoint.ts';
import { Receiver, type ReceiverOptions } from './receiver.ts';

export type DeliveryAddress = Pick<EndpointOptions, 'host' | 'port' | 'path' | 'tls' | 'unverifiedTimeoutMs' | 'maxUnverifiedPerAddress'>;

export interface DeliveryPortParts extends Omit<ReceiverOptions, 'target'> {
  readonly clock: Clock;
}

/** Opens the endpoint. @throws AppError `listen_failed`. */
export function openDeliveryPort(
  address: DeliveryAddress,
  { applicationId, names, idScheme }: Pick<ServiceAppSide, 'applicationId' | 'names' | 'idScheme'>,
  { clock, ...parts }: DeliveryPortParts,
): Promise<Endpoint> {
  const receiver = new Receiver({ ...parts, target: { applicationId, resource: names.appResource, idScheme } });
  return startEndpoint({ ...address, sha1Header: names.sha1SignatureHeader, sha2Header: names.sha2SignatureHeader, receiver, clock });
}
