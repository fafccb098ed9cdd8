// The changes of a data source that the manual commands offer, as the platform expects them. Pure.
import { AppError } from '../../base/errors.ts';
import type { WantedDataSource } from '../lifecycle/ports.ts';
import { isActive, MAX_TOKEN_LIFETIME_MINUTES, type DataSource, type DataSourceCreate, type DataSourceUpdate } from '../records.ts';

/** The members to change; undefined ones stay. */
export interface DataSourceChanges {
  /** A UUID. Another schema changes the purpose of the data source. */
  readonly schemaId?: string | undefined;
  /** A secret. Default when the change needs a new token: a random nonce. */
  readonly nonce?: string | undefined;
  readonly url?: string | undefined;
  readonly audience?: string | undefined;
  readonly subject?: string | undefined;
  /** Whole minutes, 1 to 1440 (J-01). */
  readonly tokenLifetimeMinutes?: number | undefined;
  /** `disabled` requires `errorMessage`, and no other change. */
  readonly status?: 'active' | 'disabled' | undefined;
  /** Shown to the administrator of the organization. */
  readonly errorMessage?: string | undefined;
}

/** Whether a change needs a new token: a token contains every member except the status. */
export function bringsToken({ url, audience, subject, tokenLifetimeMinutes, schemaId, nonce }: DataSourceChanges): boolean {
  return [url, audience, subject, tokenLifetimeMinutes, schemaId, nonce].some((value) => value !== undefined);
}

/** Refuses contradictory changes. @throws AppError `config_invalid`. */
export function demandSound(changes: DataSourceChanges): void {
  const { status, errorMessage } = changes;
  const refuse = (why: string): never => {
    throw new AppError('config_invalid', why);
  };
  if (Object.values(changes).every((value) => value === undefined)) refuse('nothing is to be changed');
  if (status === 'disabled' && errorMessage === undefined) refuse('a data source may be disabled only with a message (R-03)');
  if (status !== 'disabled' && errorMessage !== undefined) refuse('a message is for a data source that is disabled (R-03)');
  if (status === 'disabled' && bringsToken(changes)) refuse('a data source that is disabled needs no fresh token: change the rest first');
}

/** The complete body for changing only the status: with the current nonce, so that the token stays. */
export function statusUpdate(record: DataSource, { status, errorMessage }: DataSourceChanges): DataSourceUpdate {
  const { audience, subject, nonce, schemaId, url, tokenLifetimeMinutes } = record;
  const body = { audience, subject, nonce, schemaId, url, tokenLifetimeMinutes, status, errorMessage };
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}

/**
 * The data source after the change.
 *
 * @throws AppError `config_invalid` when a member is neither given nor in the record, and when a disabled data source would become active
 * although that was not requested: only an active one has a token.
 */
export function changedWanted(
  record: DataSource,
  changes: DataSourceChanges,
): Pick<WantedDataSource, 'url' | 'schemaId' | 'audience' | 'subject' | 'tokenLifetimeMinutes'> {
  if (record.status !== undefined && !isActive(record) && changes.status !== 'active') {
    throw new AppError('config_invalid', `the data source ${record.id} is not active: set status=active as well`);
  }
  const lacks = (member: string): never => {
    throw new AppError('config_invalid', `the platform does not say the ${member} of the data source ${record.id}: set it as well`);
  };
  return {
    url: changes.url ?? record.url ?? lacks('url'),
    schemaId: changes.schemaId ?? record.schemaId ?? lacks('schemaId'),
    audience: changes.audience ?? record.audience ?? lacks('audience'),
    subject: changes.subject ?? record.subject ?? lacks('subject'),
    tokenLifetimeMinutes: changes.tokenLifetimeMinutes ?? record.tokenLifetimeMinutes ?? lacks('lifetime'),
  };
}

/** The body of a registration. @throws AppError `config_invalid` when a member is neither given nor configured. */
export function createBody(
  given: Omit<DataSourceChanges, 'status' | 'errorMessage'> & Pick<DataSourceCreate, 'schemaId' | 'nonce'>,
  configured: WantedDataSource | undefined,
): DataSourceCreate {
  const lacks = (member: string): never => {
    throw new AppError('config_invalid', `the configuration has no ${member} for this schema: set it as well`);
  };
  const { schemaId, nonce, url, audience, subject, tokenLifetimeMinutes } = given;
  return {
    ...{ schemaId, nonce },
    url: url ?? configured?.url ?? lacks('url'),
    audience: audience ?? configured?.audience ?? lacks('audience'),
    subject: subject ?? configured?.subject ?? lacks('subject'),
    tokenLifetimeMinutes: tokenLifetimeMinutes ?? configured?.tokenLifetimeMinutes ?? MAX_TOKEN_LIFETIME_MINUTES,
  };
}
