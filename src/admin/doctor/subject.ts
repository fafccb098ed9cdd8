// The subject of a check: everything, an organization, a data source, or an address that the platform dials.
import type { WantedDataSource } from '../lifecycle/ports.ts';

export interface Subject {
  /** The beginning of a sentence, for people. */
  readonly text: string;
  /** Keys of the subject and all wider ones, widest first. A check waits for needed checks whose own key is in this list. */
  readonly path: readonly string[];
}

export interface Endpoint {
  readonly host: string;
  readonly port: number;
  /** False for an http or ws address, which only the fake platform accepts. */
  readonly isTls: boolean;
  /** Whether the address belongs to a gRPC data source. */
  readonly isGrpc: boolean;
  /** Whether the address belongs to a WebSocket data source. */
  readonly isWebSocket: boolean;
}

/** The subject "everything". */
export const EVERYTHING: Subject = { text: 'the platform', path: ['all'] };

export function organizationSubject(id: string): Subject {
  return { text: `organization ${id}`, path: ['all', `organization ${id}`] };
}

export function dataSourceSubject({ organizationId, transport }: WantedDataSource): Subject {
  const text = `the ${transport} data source of organization ${organizationId}`;
  return { text, path: [...organizationSubject(organizationId).path, `${organizationId} ${transport}`] };
}

/** `host:port` of an address. */
export function hostAndPort({ host, port }: Pick<Endpoint, 'host' | 'port'>): string {
  return `${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
}

export function endpointSubject(endpoint: Endpoint): Subject {
  return { text: hostAndPort(endpoint), path: ['all', `endpoint ${hostAndPort(endpoint)}`] };
}

/** A data source's registered address, with its transport. */
export type RegisteredAddress = Pick<WantedDataSource, 'url' | 'transport'>;

/** The distinct addresses that the platform dials. */
export function endpointsOf(registered: readonly RegisteredAddress[]): readonly Endpoint[] {
  const found = new Map<string, Endpoint>();
  for (const { url, transport } of registered) {
    if (!URL.canParse(url)) continue;
    const { path: _path, ...where } = requestTargetOf(url);
    const same = found.get(hostAndPort(where));
    found.set(hostAndPort(where), {
      ...(same ?? where),
      isGrpc: same?.isGrpc === true || transport === 'grpc',
      isWebSocket: same?.isWebSocket === true || transport === 'websocket',
    });
  }
  return [...found.values()];
}

/** The host, port and path of an address. @throws TypeError for an invalid address. */
export function requestTargetOf(url: string): Pick<Endpoint, 'host' | 'port' | 'isTls'> & { readonly path: string } {
  const { hostname, port, protocol, pathname, search } = new URL(url);
  const isTls = protocol !== 'http:' && protocol !== 'ws:';
  const host = hostname.replace(/^\[(.*)\]$/u, '$1');
  return { host, port: port === '' ? (isTls ? 443 : 80) : Number(port), isTls, path: `${pathname}${search}` };
}
