// The endpoint for deliveries, and the check that they come from the platform and concern our service app. Its owner decides what
// happens next.
import type { Clock } from '../../base/clock.ts';
import type { ServiceAppSide } from '../access.ts';
import { startEndpoint, type Endpoint, type EndpointOptions } from './endpoint.ts';
import { Receiver, type ReceiverOptions } from './receiver.ts';

export type DeliveryAddress = Pick<EndpointOptions, 'host' | 'port' | 'path' | 'tls' | 'unverifiedTimeoutMs' | 'maxUnverifiedPerAddress'>;

export interface DeliveryPortParts extends Omit<ReceiverOptions, 'target'> {
  readonly clock: Clock;
}

/** Opens it. @throws AppError `listen_failed`. */
export function openDeliveryPort(
  address: DeliveryAddress,
  { applicationId, names, idScheme }: Pick<ServiceAppSide, 'applicationId' | 'names' | 'idScheme'>,
  { clock, ...parts }: DeliveryPortParts,
): Promise<Endpoint> {
  const receiver = new Receiver({ ...parts, target: { applicationId, resource: names.appResource, idScheme } });
  return startEndpoint({ ...address, sha1Header: names.sha1SignatureHeader, sha2Header: names.sha2SignatureHeader, receiver, clock });
}
