// A data source that is well, as gauges and console see it.
import type { WatchedDataSource } from '../../src/telemetry/admin-metrics.ts';

export function watchedSource(changes: Partial<WatchedDataSource> = {}): WatchedDataSource {
  return {
    ...{ organizationId: 'org', transport: 'grpc', dataSourceId: 'id', isServed: true, expiresAtMs: 100_000 },
    ...{ lifetimeMs: 60_000, wellAtMs: 50_000, error: undefined, isAlarming: false },
    ...changes,
  };
}
