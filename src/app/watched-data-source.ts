// A data source as the gauges see it, and when somebody must be woken for it. Numbers and errors in, a verdict out.
import type { DataSourceState } from '../admin/lifecycle/data-source-reconciler.ts';
import { FOR_PEOPLE } from '../admin/lifecycle/renewal-clock.ts';
import { alarmDueMs, checkAlarmDueMs, type LifecycleTimes } from '../admin/lifecycle/schedule.ts';
import type { ErrorCode } from '../base/errors.ts';
import type { WatchedDataSource } from '../telemetry/admin-metrics.ts';

/** What does not pass by itself: every hour that somebody knows it earlier is one before calls are refused. */
const NEEDS_PEOPLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([...FOR_PEOPLE, 'platform_refused']);

/** What a data source is compared with. */
export interface Watch {
  readonly times: LifecycleTimes;
  readonly nowMs: number;
  /** Whether the last change of the store of the administration could be written. */
  readonly isStoreWritable: boolean;
}

/**
 * What the gauges show of a data source. It alarms when its token is overdue, when no call can come in, when only people can mend what
 * it failed with, when no check of it went well for several intervals, and while nonces cannot be written down: a
 * restart would refuse its calls.
 */
export function watchedDataSource(
  { wanted, isServed, expiresAtMs, error, wellAtMs }: DataSourceState,
  { times, nowMs, isStoreWritable }: Watch,
): WatchedDataSource {
  const isOverdue = expiresAtMs !== undefined && nowMs >= alarmDueMs(expiresAtMs, wanted.tokenLifetimeMinutes * 60_000, times);
  const isUnseen = nowMs >= checkAlarmDueMs(wellAtMs, times);
  const needsPeople = error !== undefined && NEEDS_PEOPLE.has(error.code);
  const isAlarming = isOverdue || !isServed || needsPeople || isUnseen || !isStoreWritable;
  return { transport: wanted.transport, isServed, expiresAtMs, isAlarming };
}
