// Data sources as JSON: strict input, and output with the known drift.
import { z } from 'zod';
import { isLoopback } from '../../base/loopback.ts';
import { isSocketOrigin } from '../../base/socket-origin.ts';
import type { DataSourceRecord } from './data-source-book.ts';
import type { SchemaRecord } from './schemas.ts';
import type { RecordDrift } from './switches.ts';

const MAX_CHARS = 2000;
const MAX_LIFETIME_MINUTES = 1440;

const text = z.string().min(1).max(MAX_CHARS);
const fields = {
  audience: text,
  subject: text,
  nonce: text,
  schemaId: text,
  url: text,
  tokenLifetimeMinutes: z.number().int().min(1).max(MAX_LIFETIME_MINUTES),
};
// An update contains `schemaId`, which is not among the members that an update can change; `schemaId` may be missing.
const updated = {
  ...fields,
  schemaId: text.optional(),
  status: z.enum(['active', 'disabled']).optional(),
  errorMessage: z.string().max(MAX_CHARS).optional(),
};

/** Body of a registration (R-01, J-01). */
export const registration = z.strictObject(fields);
/** Body of an update with all members that an update can change. */
export const wholeUpdate = z.strictObject(updated);
/** Body of an update with some of these members. */
export const partialUpdate = z.strictObject(updated).partial();

export interface AddressRules {
  /** The protocol of the data source's schema. */
  readonly protocol: SchemaRecord['protocol'];
  /** The domains of the service app. */
  readonly domains: readonly string[];
  /** Whether an address on this machine may be without TLS. */
  readonly allowLoopbackHttp: boolean;
}

/**
 * What is wrong with the address of a data source; undefined: nothing. The address must have the form that its schema demands (W-03), and
 * TLS, which may be missing on loopback if the rules allow it. Its host must be in one of the app's domains.
 */
export function addressFault(
  address: string,
  { protocol: interfaceProtocol, domains, allowLoopbackHttp }: AddressRules,
): string | undefined {
  if (!URL.canParse(address)) return 'url: is no address';
  const { protocol, hostname, username, password, search, hash } = new URL(address);
  const host = hostname.replace(/^\[|\]$/gu, '');
  const [secure, plain] = interfaceProtocol === 'gRPC' ? ['https:', 'http:'] : ['wss:', 'ws:'];
  const isSafe = protocol === secure || (protocol === plain && allowLoopbackHttp && isLoopback(host));
  if (interfaceProtocol === 'gRPC') {
    if (!isSafe) return 'url: must be https';
    if (`${username}${password}${search}${hash}` !== '') return 'url: has a user, a query or a fragment';
  } else if (!isSafe || !isSocketOrigin(address)) return 'url: must be wss://host or wss://host:port alone';
  const isInDomain = domains.some((domain) => host === domain || host.endsWith(`.${domain}`));
  return isInDomain ? undefined : 'url: its host is in no domain of the service app';
}

/** A data source as the answer to a request for one. */
export function recordToWire(record: DataSourceRecord, drift: RecordDrift): Readonly<Record<string, unknown>> {
  const {
    previousJwsToken: _kept,
    jwsToken,
    tokenExpiryTime,
    nonce,
    schemaId,
    tokenLifetimeMinutes,
    status,
    errorMessage,
    ...rest
  } = record;
  return {
    ...rest,
    status: drift.upperCaseStatus ? status.toUpperCase() : status,
    schemaId: drift.schemaIdAsArray ? [schemaId] : schemaId,
    [drift.oldLifetimeName ? 'tokenLifeMinutes' : 'tokenLifetimeMinutes']: drift.lifetimeAsText
      ? String(tokenLifetimeMinutes)
      : tokenLifetimeMinutes,
    [drift.jwtToken ? 'jwtToken' : 'jwsToken']: jwsToken,
    ...(errorMessage === '' ? {} : { errorMessage }),
    ...(drift.withoutNonce ? {} : { nonce }),
    ...(drift.withoutExpiryTime ? {} : { tokenExpiryTime }),
  };
}

/** Data sources as the answer to a request for a list. */
export function listToWire(records: readonly DataSourceRecord[], drift: RecordDrift): unknown {
  const items = records.map((record) => (drift.sparseItems === 'no' ? recordToWire(record, drift) : sparse(record, drift)));
  return drift.bareList ? items : { items };
}

/** An item as in the published example, with its empty member `DataSource`. */
function sparse({ id, applicationId, createdAt, createdBy, jwsToken, orgId }: DataSourceRecord, drift: RecordDrift): object {
  const few = { applicationId, createdAt, createdBy, [drift.jwtToken ? 'jwtToken' : 'jwsToken']: jwsToken, orgId, DataSource: '' };
  return drift.sparseItems === 'with_id' ? { id, ...few } : few;
}
