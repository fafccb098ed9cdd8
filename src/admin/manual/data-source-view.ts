// A data source as people may see it: without nonce and token, every text of the platform fit for a terminal, and compared
// with what the configuration wants. Asks nobody.
import type { TokenTransport } from '../../auth/principal.ts';
import type { PlatformProfile } from '../../contract/profile.ts';
import { shownText } from '../../base/shown-text.ts';
import { driftOf } from '../lifecycle/match.ts';
import type { WantedDataSource } from '../lifecycle/ports.ts';
import type { DataSource } from '../records.ts';

/** Whose a record is, as far as it says so (L-11). */
export type RecordOwner = 'ours' | 'other_app' | 'unknown';

/** A member of a record that is not as the configuration wants it. */
export interface Difference {
  readonly member: string;
  /** What the platform has. */
  readonly is: string;
  readonly wanted: string;
}

/** What may be shown of a data source. Members that the platform does not tell are missing. */
export interface DataSourceView {
  readonly id: string;
  readonly organizationId: string;
  /** The transport whose schema it has; undefined for a schema that the profile does not name. */
  readonly transport: TokenTransport | undefined;
  readonly schemaId: string | undefined;
  readonly url: string | undefined;
  readonly audience: string | undefined;
  readonly subject: string | undefined;
  readonly tokenLifetimeMinutes: number | undefined;
  readonly status: string | undefined;
  /** What the administrator of the organization reads while it is disabled, or the platform's word. */
  readonly errorMessage: string | undefined;
  /** End of its current token, ISO time. */
  readonly tokenExpiresAt: string | undefined;
  readonly owner: RecordOwner;
  readonly applicationId: string | undefined;
  readonly createdAt: string | undefined;
  readonly createdBy: string | undefined;
  readonly updatedAt: string | undefined;
  /** Whether a server with this configuration takes this one. */
  readonly isInUse: boolean;
  /** Undefined when the configuration wants none of this transport. */
  readonly differences: readonly Difference[] | undefined;
}

/** What a record is seen with. */
export interface Seeing {
  readonly organizationId: string;
  readonly schemas: PlatformProfile['schemas'];
  /** Client id of our app; undefined where there is none. */
  readonly applicationId: string | undefined;
  readonly wanted: readonly WantedDataSource[];
  /** The wanted data source that this record is taken for; undefined when it is for none. */
  readonly takenFor: WantedDataSource | undefined;
}

/** The record as it may be shown. */
export function dataSourceView(record: DataSource, seeing: Seeing): DataSourceView {
  const { organizationId, schemas, applicationId, wanted, takenFor } = seeing;
  const secrets = [record.nonce, record.jwsToken];
  const shown = (text: string | undefined): string | undefined => (text === undefined ? undefined : shownText(text, secrets));
  const transport = transportOf(record, schemas);
  const compared = takenFor ?? wanted.find((one) => one.transport === transport);
  const { tokenLifetimeMinutes, tokenExpiresAtMs } = record;
  return {
    id: shownText(record.id, secrets),
    ...{ organizationId, transport, tokenLifetimeMinutes },
    schemaId: shown(record.schemaId),
    url: shown(record.url),
    audience: shown(record.audience),
    subject: shown(record.subject),
    status: shown(record.status),
    errorMessage: shown(record.errorMessage),
    tokenExpiresAt: tokenExpiresAtMs === undefined ? undefined : new Date(tokenExpiresAtMs).toISOString(),
    owner: ownerOf(record, applicationId),
    applicationId: shown(record.applicationId),
    createdAt: shown(record.createdAt),
    createdBy: shown(record.createdBy),
    updatedAt: shown(record.updatedAt),
    isInUse: takenFor !== undefined,
    differences: compared === undefined ? undefined : differencesOf(record, compared, shown),
  };
}

/** The transport whose schema a record has. */
export function transportOf({ schemaId }: Pick<DataSource, 'schemaId'>, schemas: PlatformProfile['schemas']): TokenTransport | undefined {
  if (schemaId === schemas.grpc) return 'grpc';
  return schemaId === schemas.websocket ? 'websocket' : undefined;
}

function ownerOf(record: DataSource, applicationId: string | undefined): RecordOwner {
  if (record.applicationId === undefined || applicationId === undefined) return 'unknown';
  return record.applicationId === applicationId ? 'ours' : 'other_app';
}

/** What a server would change back, and the lifetime, which it changes with the next renewal (L-05). */
function differencesOf(
  record: DataSource,
  wanted: WantedDataSource,
  shown: (text: string | undefined) => string | undefined,
): readonly Difference[] {
  const want: Readonly<Record<string, unknown>> = { ...wanted, status: 'active' };
  const has: Readonly<Record<string, unknown>> = { ...record };
  const { tokenLifetimeMinutes } = record;
  const isOtherLifetime = tokenLifetimeMinutes !== undefined && tokenLifetimeMinutes !== wanted.tokenLifetimeMinutes;
  return [...driftOf(record, wanted), ...(isOtherLifetime ? ['tokenLifetimeMinutes'] : [])].map((member) => ({
    member,
    is: shown(String(has[member])) ?? '',
    wanted: String(want[member]),
  }));
}
