// Metrics of a shared store.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { toAppError } from '../base/errors.ts';

/** Beyond the longest `store.redis.timeout_ms`. */
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
  /** Times one operation, and counts its failure. */
  readonly time: <T>(operation: StoreOperation, work: Promise<T>) => Promise<T>;
}

/** Creates the metrics in a registry. */
export function storeMetrics(registry: Registry): StoreMetrics {
  const registers = [registry];
  const up = new Gauge({
    name: 'parley_store_up',
    help: '0 while the shared store cannot be reached or refuses writes, else 1; also 1 without a shared store.',
    // Shows a process that is cut off.
    aggregator: 'min',
    registers,
  });
  let [isConnected, isRefusing] = [true, false];
  const show = (): void => {
    up.set(isConnected && !isRefusing ? 1 : 0);
  };
  show();
  const times = new Histogram({
    name: 'parley_store_operation_seconds',
    help: 'Duration of operations of the shared store, in seconds, failed ones included.',
    labelNames: ['operation'],
    buckets: ROUND_TRIP_BUCKETS_S,
    registers,
  });
  const failures = new Counter({
    name: 'parley_store_failures_total',
    help: 'Operations of the shared store that failed.',
    labelNames: ['operation'],
    registers,
  });
  for (const operation of STORE_OPERATIONS) {
    failures.inc({ operation }, 0);
    times.zero({ operation });
  }
  const time = async <T>(operation: StoreOperation, work: Promise<T>): Promise<T> => {
    const end = times.startTimer({ operation });
    try {
      const value = await work;
      if (WRITES.has(operation)) isRefusing = false;
      return value;
    } catch (thrown) {
      failures.inc({ operation });
      // A server out of memory still answers and serves reads.
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
      // The new connection may lead to another server.
      if (isUp) isRefusing = false;
      show();
    },
    time,
  };
}
