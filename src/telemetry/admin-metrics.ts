// Metrics of data sources, their tokens and the webhooks about organizations. Labels come from closed sets, never
// organizations; a gauge therefore shows the worst one.
import { Counter, Gauge, type Registry } from 'prom-client';
import type { TokenTransport } from '../auth/principal.ts';

const TRANSITIONS = ['adopted', 'created', 'repaired', 'renewed', 'followed', 'removed', 'failed', 'overdue', 'forgotten'] as const;
/** The values of the label `transport`. */
export const TRANSPORTS = ['grpc', 'websocket'] as const satisfies readonly TokenTransport[];
const DELIVERIES = ['taken', 'known', 'outdated', 'unsigned', 'foreign', 'failed'] as const;
const EVENTS = ['authorized', 'deauthorized'] as const;
const REGISTRATIONS = ['kept', 'created', 'updated', 'reactivated', 'duplicate', 'removed', 'failed'] as const;

type Transport = (typeof TRANSPORTS)[number];
type Event = (typeof EVENTS)[number];
type Registration = (typeof REGISTRATIONS)[number];

/** The state of a data source for the gauges. */
export interface WatchedDataSource {
  readonly transport: Transport;
  readonly isServed: boolean;
  /** End of its token, ms since the epoch; undefined when unknown. */
  readonly expiresAtMs: number | undefined;
  /** Whether its renewal is overdue, it needs a person, or its state cannot be stored. */
  readonly isAlarming: boolean;
}

export interface AdminMetrics {
  /** Sets the source of the gauges. */
  watch(states: () => readonly WatchedDataSource[], nowMs: () => number): void;
  dataSourceChanged(transport: Transport, transition: (typeof TRANSITIONS)[number]): void;
  delivered(outcome: (typeof DELIVERIES)[number]): void;
  registered(event: Event, outcome: Registration): void;
  eventFailed(event: Event): void;
  /** The platform accepted or refused the login of the integration. */
  loginChecked(isGood: boolean): void;
  /** A write to the store of the administration succeeded or failed. */
  storeWritten(isWritten: boolean): void;
  /** Whether this process is the leader. */
  renews(isOurs: boolean): void;
  /** This process took over from another leader. */
  tookOver(): void;
}

/** Creates the metrics in a registry. */
export function adminMetrics(registry: Registry): AdminMetrics {
  const registers = [registry];
  let states: () => readonly WatchedDataSource[] = () => [];
  let nowMs = (): number => 0;
  const each = (set: (transport: Transport, watched: readonly WatchedDataSource[]) => void): void => {
    const all = states();
    for (const transport of TRANSPORTS) {
      set(
        transport,
        all.filter((state) => state.transport === transport),
      );
    }
  };
  const transitions = new Counter({
    name: 'parley_data_source_transitions_total',
    help: 'Changes of data sources, by transition.',
    labelNames: ['transport', 'transition'],
    registers,
  });
  new Gauge({
    name: 'parley_data_sources',
    help: 'Managed data sources, by whether calls can come in.',
    labelNames: ['transport', 'served'],
    // Processes that share a store manage the same data sources, so the values are not summed, here and below.
    aggregator: 'max',
    registers,
    collect() {
      each((transport, watched) => {
        const served = watched.filter(({ isServed }) => isServed).length;
        this.set({ transport, served: 'yes' }, served);
        this.set({ transport, served: 'no' }, watched.length - served);
      });
    },
  });
  new Gauge({
    name: 'parley_data_source_token_expiry_seconds',
    help: 'Seconds until the first token of all data sources ends; missing when none is known.',
    labelNames: ['transport'],
    aggregator: 'min',
    registers,
    collect() {
      this.reset();
      each((transport, watched) => {
        const ends = watched.flatMap(({ expiresAtMs }) => (expiresAtMs === undefined ? [] : [expiresAtMs]));
        if (ends.length > 0) this.set({ transport }, (Math.min(...ends) - nowMs()) / 1000);
      });
    },
  });
  new Gauge({
    name: 'parley_data_sources_alarming',
    help: 'Data sources whose token is overdue or expired, or that need a person, for example because the store cannot be written.',
    labelNames: ['transport'],
    aggregator: 'max',
    registers,
    collect() {
      each((transport, watched) => {
        this.set({ transport }, watched.filter(({ isAlarming }) => isAlarming).length);
      });
    },
  });
  const deliveries = new Counter({
    name: 'parley_webhook_deliveries_total',
    help: 'Deliveries of webhooks, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  const failures = new Counter({
    name: 'parley_authorization_failures_total',
    help: 'Events of organizations that failed and are retried.',
    labelNames: ['event'],
    registers,
  });
  const registrations = new Counter({
    name: 'parley_webhook_registrations_total',
    help: 'Checks of the registrations of webhooks, by result.',
    labelNames: ['event', 'outcome'],
    registers,
  });
  const login = new Gauge({
    name: 'parley_integration_login',
    help: '0 when the platform last refused the login of the integration, else 1; also 1 without a login.',
    aggregator: 'min',
    registers,
  });
  login.set(1);
  const storeWritable = new Gauge({
    name: 'parley_admin_store_writable',
    help: '0 when the last write of the administration store failed, or the last read of a shared one, else 1.',
    aggregator: 'min',
    registers,
  });
  storeWritable.set(1);
  const owner = new Gauge({
    name: 'parley_admin_owner',
    help: '1 in the process that renews tokens and data sources, 0 in all others that share its store.',
    // Summed, so that two leaders are visible.
    aggregator: 'sum',
    registers,
  });
  const takeovers = new Counter({
    name: 'parley_admin_takeovers_total',
    help: 'How often this process took over the renewals from another one.',
    registers,
  });
  const state = new Gauge({
    name: 'parley_webhook_registered',
    help: '1 when the last check left the registration of a webhook correct, 0 when it did not or there was no check.',
    labelNames: ['event'],
    // Of several processes only the leader checks the registrations.
    aggregator: 'max',
    registers,
  });
  // A counter that is missing until its first event hides that event from rates.
  for (const transport of TRANSPORTS) for (const transition of TRANSITIONS) transitions.inc({ transport, transition }, 0);
  for (const outcome of DELIVERIES) deliveries.inc({ outcome }, 0);
  for (const event of EVENTS) {
    failures.inc({ event }, 0);
    state.set({ event }, 0);
    for (const outcome of REGISTRATIONS) registrations.inc({ event, outcome }, 0);
  }
  return {
    watch: (watched, now) => {
      states = watched;
      nowMs = now;
    },
    dataSourceChanged: (transport, transition) => {
      transitions.inc({ transport, transition });
    },
    delivered: (outcome) => {
      deliveries.inc({ outcome });
    },
    registered: (event, outcome) => {
      registrations.inc({ event, outcome });
      // Duplicates are other registrations.
      if (outcome !== 'duplicate' && outcome !== 'removed') state.set({ event }, outcome === 'failed' ? 0 : 1);
    },
    loginChecked: (isGood) => {
      login.set(isGood ? 1 : 0);
    },
    storeWritten: (isWritten) => {
      storeWritable.set(isWritten ? 1 : 0);
    },
    renews: (isOurs) => {
      owner.set(isOurs ? 1 : 0);
    },
    tookOver: () => {
      takeovers.inc();
    },
    eventFailed: (event) => {
      failures.inc({ event });
    },
  };
}
