// What can be counted and timed about a store that several servers share.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { toAppError } from '../base/errors.ts';

/** Beyond the longest `store.redis.timeout_ms`. */
const ROUND_TRIP_BUCKETS_S = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];

/** Operations of the directory of calls, as they are labelled. */
const STORE_OPERATIONS = ['claim', 'find', 'save', 'register', 'forget', 'touch', 'beat'] as const;
/** Those that succeed only where the store takes writes. */
const WRITES: ReadonlySet<StoreOperation> = new Set<StoreOperation>(['claim', 'save', 'register', 'beat']);
export type StoreOperation = (typeof STORE_OPERATIONS)[number];

/** Counts what those report who use the store. */
export interface StoreMetrics {
  /** Whether the store can be reached. */
  readonly connected: (isUp: boolean) => void;
  /** Times one operation, and counts its failure. */
  readonly time: <T>(operation: StoreOperation, work: Promise<T>) => Promise<T>;
}

/** Creates them in a registry. */
export function storeMetrics(registry: Registry): StoreMetrics {
  const registers = [registry];
  const up = new Gauge({
    name: 'parley_store_up',
    help: '0 while the store that the servers share cannot be reached or refuses what is written, else 1; also where none is shared.',
    // Of several processes the one that is cut off.
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
    help: 'Time that the shared store took for an operation, in seconds, failed ones included.',
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
      // A server without memory answers, and reads what it has.
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
      // Another server may have answered: what the one before refused says nothing of it.
      if (isUp) isRefusing = false;
      show();
    },
    time,
  };
}
