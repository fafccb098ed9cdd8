// Metrics of data sources, their tokens and the webhooks about organizations. Labels come from closed sets and never name an
// organization; a gauge therefore shows the worst one.
import type { Registry } from 'prom-client';
import type { TokenTransport } from '../auth/principal.ts';
import type { ErrorCode } from '../base/errors.ts';
import { MetricMaker } from './metric-maker.ts';

const TRANSITIONS = ['adopted', 'created', 'repaired', 'renewed', 'followed', 'removed', 'failed', 'overdue', 'forgotten'] as const;
/** The values of the label `transport`. */
export const TRANSPORTS = ['grpc', 'websocket'] as const satisfies readonly TokenTransport[];
const DELIVERIES = ['taken', 'known', 'outdated', 'unsigned', 'foreign', 'failed'] as const;
const EVENTS = ['authorized', 'deauthorized'] as const;
const REGISTRATIONS = ['kept', 'created', 'updated', 'reactivated', 'duplicate', 'removed', 'failed'] as const;

type Transport = (typeof TRANSPORTS)[number];
type Event = (typeof EVENTS)[number];
type Registration = (typeof REGISTRATIONS)[number];

/** The state of a data source for the gauges and the console. */
export interface WatchedDataSource {
  readonly organizationId: string;
  readonly transport: Transport;
  readonly dataSourceId: string | undefined;
  readonly isServed: boolean;
  /** Expiry of the data source's token, ms since the epoch; undefined when unknown. */
  readonly expiresAtMs: number | undefined;
  /** Lifetime of a new token, ms. */
  readonly lifetimeMs: number;
  /** End of the last successful check, ms since the epoch. */
  readonly wellAtMs: number;
  /** Set when the last check failed: its error code. */
  readonly error: ErrorCode | undefined;
  /** Whether the renewal is overdue, a person is needed, or the state cannot be stored. */
  readonly isAlarming: boolean;
}

export interface AdminMetrics {
  /** Sets the source of the gauges. */
  watch(states: () => readonly WatchedDataSource[], nowMs: () => number): void;
  /** The watched data sources. */
  dataSources(): readonly WatchedDataSource[];
  dataSourceChanged(transport: Transport, transition: (typeof TRANSITIONS)[number]): void;
  delivered(outcome: (typeof DELIVERIES)[number]): void;
  registered(event: Event, outcome: Registration): void;
  eventFailed(event: Event): void;
  /** The platform accepted or refused the login of the integration. */
  loginChecked(isGood: boolean): void;
  /** A write to the store of the administration succeeded or failed. */
  storeWritten(isWritten: boolean): void;
  /** Whether this process is the leader, which renews the tokens. */
  renews(isOurs: boolean): void;
  /** This process took over from another leader. */
  tookOver(): void;
}

/** Creates the metrics in a registry. */
export function adminMetrics(registry: Registry): AdminMetrics {
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
  const make = new MetricMaker(registry);
  const transitions = make.counter('parley_data_source_transitions_total', 'Changes of data sources.', {
    transport: TRANSPORTS,
    transition: TRANSITIONS,
  });
  // Here and below: processes that share a store manage the same data sources, so the values are not summed.
  make.gauge('parley_data_sources', 'Managed data sources, by whether calls can come in.', {
    labels: { transport: [], served: [] },
    aggregator: 'max',
    collect: (gauge) => {
      each((transport, watched) => {
        const served = watched.filter(({ isServed }) => isServed).length;
        gauge.set({ transport, served: 'yes' }, served);
        gauge.set({ transport, served: 'no' }, watched.length - served);
      });
    },
  });
  make.gauge(
    'parley_data_source_token_expiry_seconds',
    'Seconds until the first token of all data sources ends; missing when none is known.',
    {
      labels: { transport: [] },
      aggregator: 'min',
      collect: (gauge) => {
        gauge.reset();
        each((transport, watched) => {
          const ends = watched.flatMap(({ expiresAtMs }) => (expiresAtMs === undefined ? [] : [expiresAtMs]));
          if (ends.length > 0) gauge.set({ transport }, (Math.min(...ends) - nowMs()) / 1000);
        });
      },
    },
  );
  make.gauge('parley_data_sources_alarming', 'Data sources whose token is overdue or expired, or that need a person.', {
    labels: { transport: [] },
    aggregator: 'max',
    collect: (gauge) => {
      each((transport, watched) => {
        gauge.set({ transport }, watched.filter(({ isAlarming }) => isAlarming).length);
      });
    },
  });
  const deliveries = make.counter('parley_webhook_deliveries_total', 'Deliveries of webhooks.', { outcome: DELIVERIES });
  const failures = make.counter('parley_authorization_failures_total', 'Events of organizations that failed and are retried.', {
    event: EVENTS,
  });
  const registrations = make.counter('parley_webhook_registrations_total', 'Checks of the registrations of webhooks.', {
    event: EVENTS,
    outcome: REGISTRATIONS,
  });
  const login = make.gauge('parley_integration_login', '0 when the platform last refused the login of the integration, else 1.', {
    aggregator: 'min',
    starts: 1,
  });
  const storeWritable = make.gauge(
    'parley_admin_store_writable',
    '0 when the last write of the administration store failed, or the last read of a shared one, else 1.',
    { aggregator: 'min', starts: 1 },
  );
  // Summed, so that two leaders are visible.
  const owner = make.gauge('parley_admin_owner', '1 in the process that renews tokens and data sources, else 0.');
  const takeovers = make.counter('parley_admin_takeovers_total', 'How often this process took over the renewals from another one.');
  // Of several processes only the leader checks the registrations.
  const state = make.gauge('parley_webhook_registered', '1 when the last check left the registration of a webhook correct, else 0.', {
    labels: { event: EVENTS },
    aggregator: 'max',
  });
  return {
    watch: (watched, now) => {
      states = watched;
      nowMs = now;
    },
    dataSources: () => states(),
    dataSourceChanged: (transport, transition) => {
      transitions.inc({ transport, transition });
    },
    delivered: (outcome) => {
      deliveries.inc({ outcome });
    },
    registered: (event, outcome) => {
      registrations.inc({ event, outcome });
      // A duplicate concerns another registration.
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
