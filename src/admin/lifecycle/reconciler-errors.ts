// The errors of a reconciler that cannot continue as planned. Texts of the platform are scrubbed.
import { AppError } from '../../base/errors.ts';
import type { DataSource } from '../records.ts';
import { shownText } from '../../base/shown-text.ts';
import type { Posted } from './nonce-journal.ts';
import { registrationDueMs, type LifecycleTimes } from './schedule.ts';

/**
 * The error when the platform confirms changes without making them.
 *
 * @param record - the record before the last change; undefined for a data source that was just registered.
 * @param members - the members that differ from the wanted values.
 */
export function unmended(record: DataSource | undefined, members: readonly string[]): AppError {
  const which = record === undefined ? 'a new data source' : `the data source ${shownText(record.id)}`;
  const { errorMessage, nonce, jwsToken } = record ?? {};
  const said = errorMessage === undefined ? '' : `; it says "${shownText(errorMessage, [nonce, jwsToken])}"`;
  return new AppError(
    'data_source_unclear',
    `the platform answers changes of ${which}, but leaves ${members.join(', ')} as it was${said}; it is renewed, and not changed any more`,
  );
}

/** The error while we wait for a registration before sending another one. */
export function notSeenYet({ lastMs }: Posted, times: LifecycleTimes): AppError {
  const [sent = '', due = ''] = [lastMs, registrationDueMs(lastMs, times)].map((ms) => new Date(ms).toISOString());
  return new AppError(
    'platform_unavailable',
    `the registration of ${sent} was not answered well and may still turn up; another one is sent after ${due}`,
  );
}

/** The error when the platform answers a change with another nonce than the sent one. */
export function otherNonce(dataSourceId: string): AppError {
  return new AppError(
    'platform_answer_invalid',
    `the platform answered a change of the data source ${shownText(dataSourceId)} with another nonce`,
  );
}
