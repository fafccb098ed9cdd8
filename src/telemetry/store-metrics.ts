// What can be counted and timed about a store that several servers share.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { SessionStore } from '../session/ports.ts';

const ROUND_TRIP_BUCKETS_S = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];

/** Operations of the store, as they are labelled. */
const STORE_OPERATIONS = ['load', 'open', 'open_claimed', 'serves', 'claim', 'renew', 'commit', 'release', 'touch', 'drop'] as const;
type StoreOperation = (typeof STORE_OPERATIONS)[number];

/** Counts what those report who use the store. */
export interface StoreMetrics {
  /** Whether the store can be reached. */
  readonly connected: (isUp: boolean) => void;
  /** The same store, each operation timed. */
  readonly timed: (store: SessionStore) => SessionStore;
}

/** Creates them in a registry. */
export function storeMetrics(registry: Registry): StoreMetrics {
  const registers = [registry];
  const up = new Gauge({
    name: 'parley_store_up',
    help: '0 while the store that the servers share cannot be reached, else 1; also where none is shared.',
    // Of several processes the one that is cut off.
    aggregator: 'min',
    registers,
  });
  up.set(1);
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
      return await work;
    } catch (thrown) {
      failures.inc({ operation });
      throw thrown;
    } finally {
      end();
    }
  };
  return {
    connected: (isUp) => {
      up.set(isUp ? 1 : 0);
    },
    timed: (store) => ({
      leaseMs: store.leaseMs,
      load: (key) => time('load', store.load(key)),
      open: (key) => time('open', store.open(key)),
      serves: (key) => time('serves', store.serves(key)),
      openClaimed: (key, first) => time('open_claimed', store.openClaimed(key, first)),
      claim: (key, first) => time('claim', store.claim(key, first)),
      renew: (key) => time('renew', store.renew(key)),
      commit: (record, expectedVersion, isReply) => time('commit', store.commit(record, expectedVersion, isReply)),
      release: (key, spoken) => time('release', store.release(key, spoken)),
      touch: (key) => time('touch', store.touch(key)),
      drop: (key) => time('drop', store.drop(key)),
    }),
  };
}
