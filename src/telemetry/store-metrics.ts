// Metrics of a shared store.
import type { Registry } from 'prom-client';
import { toAppError } from '../base/errors.ts';
import { MetricMaker } from './metric-maker.ts';

/** Upper bounds, seconds; the last one is above the longest `store.redis.timeout_ms`. */
const ROUND_TRIP_BUCKETS_S = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];

/** Labels of the operations of the call directory. */
const STORE_OPERATIONS = ['claim', 'find', 'save', 'register', 'forget', 'touch', 'beat'] as const;
/** Operations that need a writable store. */
const WRITES: ReadonlySet<StoreOperation> = new Set<StoreOperation>(['claim', 'save', 'register', 'beat']);
export type StoreOperation = (typeof STORE_OPERATIONS)[number];

/** Counts the reports of the store's users. */
export interface StoreMetrics {
  /** Whether the store can be reached. */
  readonly connected: (isUp: boolean) => void;
  /** Measures the time of one operation, and counts a failure. */
  readonly time: <T>(operation: StoreOperation, work: Promise<T>) => Promise<T>;
}

/** Creates the metrics in a registry. */
export function storeMetrics(registry: Registry): StoreMetrics {
  const make = new MetricMaker(registry);
  // The lowest value shows a process that is cut off.
  const up = make.gauge('parley_store_up', '0 while the shared store cannot be reached or refuses writes, else 1.', {
    aggregator: 'min',
    starts: 1,
  });
  let [isConnected, isRefusing] = [true, false];
  const show = (): void => {
    up.set(isConnected && !isRefusing ? 1 : 0);
  };
  const times = make.histogram(
    'parley_store_operation_seconds',
    'Duration of operations of the shared store, failed ones included.',
    ROUND_TRIP_BUCKETS_S,
    { operation: STORE_OPERATIONS },
  );
  const failures = make.counter('parley_store_failures_total', 'Operations of the shared store that failed.', {
    operation: STORE_OPERATIONS,
  });
  const time = async <T>(operation: StoreOperation, work: Promise<T>): Promise<T> => {
    const end = times.startTimer({ operation });
    try {
      const value = await work;
      if (WRITES.has(operation)) isRefusing = false;
      return value;
    } catch (thrown) {
      failures.inc({ operation });
      // A store that is out of memory still answers and serves reads.
      if (toAppError(thrown).details['isRefused'] === true) isRefusing = true;
      throw thrown;
    } finally {
      end();
      show();
    }
  };
  return {
    connected: (isUp) => {
      isConnected = isUp;
      // The new connection may lead to another store.
      if (isUp) isRefusing = false;
      show();
    },
    time,
  };
}
