// Printable data sources and schemas: without nonce and token, with the platform's texts made safe for a terminal, and compared with the
// configuration.
import type { TokenTransport } from '../../auth/principal.ts';
import type { PlatformProfile } from '../../contract/profile.ts';
import { shownText } from '../../base/shown-text.ts';
import { driftOf } from '../lifecycle/match.ts';
import type { WantedDataSource } from '../lifecycle/ports.ts';
import type { DataSource, Schema } from '../records.ts';
import { shownRecord } from './shown-record.ts';

/** Who registered a record; `unknown` when the record does not say (L-11). */
export type RecordOwner = 'ours' | 'other_app' | 'unknown';

/** A member of a record that differs from the configuration. */
export interface Difference {
  readonly member: string;
  /** The platform's value. */
  readonly is: string;
  readonly wanted: string;
}

/** The printable members of a data source. Absent when the platform does not send them. */
export interface DataSourceView extends Omit<DataSource, 'nonce' | 'jwsToken' | 'orgId' | 'tokenExpiresAtMs'> {
  readonly organizationId: string;
  /** The transport of the schema; undefined for a schema that is not in the profile. */
  readonly transport: TokenTransport | undefined;
  /** Expiry of the current token, as ISO time; undefined when unknown. */
  readonly tokenExpiresAt: string | undefined;
  readonly owner: RecordOwner;
  /** Whether a server with this configuration uses the data source. */
  readonly isInUse: boolean;
  /** Undefined when no data source of this transport is configured. */
  readonly differences: readonly Difference[] | undefined;
}

/** The printable members of a schema. Absent when the platform does not send them. */
export interface SchemaView extends Omit<Schema, 'description'> {
  readonly name: string | undefined;
  /** The transport of the schema; undefined for a schema that is not in the profile. */
  readonly transport: TokenTransport | undefined;
}

export function schemaView(schema: Schema, { schemas }: Pick<PlatformProfile, 'schemas'>): SchemaView {
  const { description: name, ...shown } = shownRecord(schema);
  return { ...shown, name, transport: transportOf({ schemaId: schema.id }, schemas) };
}

export interface Seeing {
  readonly organizationId: string;
  readonly schemas: PlatformProfile['schemas'];
  /** Client id of our app; undefined without one. */
  readonly applicationId: string | undefined;
  readonly wanted: readonly WantedDataSource[];
  /** The wanted data source for which a server uses this record; undefined without one. */
  readonly takenFor: WantedDataSource | undefined;
}

export function dataSourceView(record: DataSource, seeing: Seeing): DataSourceView {
  const { organizationId, schemas, applicationId, wanted, takenFor } = seeing;
  const { nonce, jwsToken, orgId: _orgId, tokenExpiresAtMs, ...members } = record;
  const secrets = [nonce, jwsToken];
  const transport = transportOf(record, schemas);
  const compared = takenFor ?? wanted.find((one) => one.transport === transport);
  return {
    ...shownRecord(members, secrets),
    ...{ organizationId, transport, isInUse: takenFor !== undefined, owner: ownerOf(record, applicationId) },
    tokenExpiresAt: tokenExpiresAtMs === undefined ? undefined : new Date(tokenExpiresAtMs).toISOString(),
    differences: compared && differencesOf(record, compared, secrets),
  };
}

/** The transport of a record's schema. */
export function transportOf({ schemaId }: Pick<DataSource, 'schemaId'>, schemas: PlatformProfile['schemas']): TokenTransport | undefined {
  if (schemaId === schemas.grpc) return 'grpc';
  return schemaId === schemas.websocket ? 'websocket' : undefined;
}

function ownerOf(record: DataSource, applicationId: string | undefined): RecordOwner {
  if (record.applicationId === undefined || applicationId === undefined) return 'unknown';
  return record.applicationId === applicationId ? 'ours' : 'other_app';
}

/** The members that a server would change back, and the lifetime, which changes with the next renewal (L-05). */
function differencesOf(record: DataSource, wanted: WantedDataSource, secrets: readonly (string | undefined)[]): readonly Difference[] {
  const want: Readonly<Record<string, unknown>> = { ...wanted, status: 'active' };
  const has: Readonly<Record<string, unknown>> = { ...record };
  const { tokenLifetimeMinutes } = record;
  const isOtherLifetime = tokenLifetimeMinutes !== undefined && tokenLifetimeMinutes !== wanted.tokenLifetimeMinutes;
  return [...driftOf(record, wanted), ...(isOtherLifetime ? ['tokenLifetimeMinutes'] : [])].map((member) => ({
    member,
    is: shownText(String(has[member]), secrets),
    wanted: String(want[member]),
  }));
}
