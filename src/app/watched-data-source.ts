// Decides what gauges and console show of a data source, and when a person must act. Pure: no clock, no metrics.
import type { DataSourceState } from '../admin/lifecycle/data-source-reconciler.ts';
import { FOR_PEOPLE } from '../admin/lifecycle/renewal-clock.ts';
import { alarmDueMs, checkAlarmDueMs, type LifecycleTimes } from '../admin/lifecycle/schedule.ts';
import type { ErrorCode } from '../base/errors.ts';
import type { WatchedDataSource } from '../telemetry/admin-metrics.ts';

/** Errors that do not disappear by themselves, so an early alarm helps. */
const NEEDS_PEOPLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([...FOR_PEOPLE, 'platform_refused']);

/** What the state of a data source is judged by. */
export interface Watch {
  readonly times: LifecycleTimes;
  readonly nowMs: number;
  /** Whether the last change of the administration's store could be written. */
  readonly isStoreWritable: boolean;
}

/**
 * Computes the gauges of a data source. The alarm is on when the token is overdue, when calls are refused, when only people can fix the
 * error, when no check succeeded for several intervals, and while nonces cannot be stored, because calls would be refused after a restart.
 */
export function watchedDataSource(
  { wanted, dataSourceId, isServed, expiresAtMs, error, wellAtMs }: DataSourceState,
  { times, nowMs, isStoreWritable }: Watch,
): WatchedDataSource {
  const lifetimeMs = wanted.tokenLifetimeMinutes * 60_000;
  const isOverdue = expiresAtMs !== undefined && nowMs >= alarmDueMs(expiresAtMs, lifetimeMs, times);
  const isUnseen = nowMs >= checkAlarmDueMs(wellAtMs, times);
  const needsPeople = error !== undefined && NEEDS_PEOPLE.has(error.code);
  const isAlarming = isOverdue || !isServed || needsPeople || isUnseen || !isStoreWritable;
  const { organizationId, transport } = wanted;
  return { organizationId, transport, dataSourceId, isServed, expiresAtMs, lifetimeMs, wellAtMs, error: error?.code, isAlarming };
}
