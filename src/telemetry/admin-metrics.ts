// What can be counted about data sources, their tokens and the webhooks that tell of organizations. Labels come from closed
// sets only: organizations are never one, so a gauge says how the worst of them is.
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

/** A data source as the gauges see it. */
export interface WatchedDataSource {
  readonly transport: Transport;
  readonly isServed: boolean;
  /** End of its token, ms since the epoch; undefined when it is not known. */
  readonly expiresAtMs: number | undefined;
  /** It has not been renewed although it was high time, cannot be looked after, or what is known of it cannot be written down. */
  readonly isAlarming: boolean;
}

/** Counts what the administration reports. */
export interface AdminMetrics {
  /** Where the gauges look from now on; nothing is watched before. */
  watch(states: () => readonly WatchedDataSource[], nowMs: () => number): void;
  dataSourceChanged(transport: Transport, transition: (typeof TRANSITIONS)[number]): void;
  delivered(outcome: (typeof DELIVERIES)[number]): void;
  registered(event: Event, outcome: Registration): void;
  eventFailed(event: Event): void;
  /** The login of the integration was looked at, and the platform said whether it is good. */
  loginChecked(isGood: boolean): void;
  /** The store of the administration was to be changed. */
  storeWritten(isWritten: boolean): void;
  /** Whether this process is the one that renews. */
  renews(isOurs: boolean): void;
  /** It became that while it ran: another one had died, or had stopped. */
  tookOver(): void;
}

/** Creates them in a registry. */
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
    help: 'What happened to data sources.',
    labelNames: ['transport', 'transition'],
    registers,
  });
  new Gauge({
    name: 'parley_data_sources',
    help: 'Data sources that are looked after, by whether calls can come in.',
    labelNames: ['transport', 'served'],
    // Processes that share their data sources look after the same ones: here and below nothing is added up.
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
    help: 'Data sources whose token is overdue or ended, or that only a person can help, a store that cannot be written included.',
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
    help: 'Deliveries of webhooks, by what became of them.',
    labelNames: ['outcome'],
    registers,
  });
  const failures = new Counter({
    name: 'parley_authorization_failures_total',
    help: 'Events of organizations that could not have their effect yet and are repeated.',
    labelNames: ['event'],
    registers,
  });
  const registrations = new Counter({
    name: 'parley_webhook_registrations_total',
    help: 'Looks at the registrations of webhooks, by what was done.',
    labelNames: ['event', 'outcome'],
    registers,
  });
  const login = new Gauge({
    name: 'parley_integration_login',
    help: '0 when the platform last said that the login of the integration is of no use, else 1; also where nobody logs in.',
    aggregator: 'min',
    registers,
  });
  login.set(1);
  const storeWritable = new Gauge({
    name: 'parley_admin_store_writable',
    help: '0 when the store of the administration could not be written, or where it is shared not be read, the last time; else 1.',
    aggregator: 'min',
    registers,
  });
  storeWritable.set(1);
  const owner = new Gauge({
    name: 'parley_admin_owner',
    help: '1 in the process that renews tokens and data sources, 0 in all others that share its store.',
    // More than one would be worth knowing.
    aggregator: 'sum',
    registers,
  });
  const takeovers = new Counter({
    name: 'parley_admin_takeovers_total',
    help: 'How often this process began to renew after another one had died or stopped.',
    registers,
  });
  const state = new Gauge({
    name: 'parley_webhook_registered',
    help: '1 when the last look left the registration of a webhook right, 0 when it did not or there was none.',
    labelNames: ['event'],
    // Of the processes that share them one looks at the registrations; the others have never looked.
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
      // What is done about further ones says nothing about ours.
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
