// One data source with its reconciler: the platform in memory, a store, and a time that passes when a test says so.
import { DataSourceReconciler } from '../../../../src/admin/lifecycle/data-source-reconciler.ts';
import { NonceJournal } from '../../../../src/admin/lifecycle/nonce-journal.ts';
import type { LifecycleObserver, Leader, WantedDataSource } from '../../../../src/admin/lifecycle/ports.ts';
import type { RegisteredValues } from '../../../../src/admin/lifecycle/registered-values.ts';
import type { LifecycleTimes } from '../../../../src/admin/lifecycle/schedule.ts';
import type { SecretStore } from '../../../../src/admin/secret-store.ts';
import { TrustedDataSources } from '../../../../src/auth/data-sources.ts';
import { digestNonce, NonceBook } from '../../../../src/auth/nonces.ts';
import { MemoryDataSources } from '../../../support/data-sources-api.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
const TIMES = { leadMs: HOUR, retryMs: MINUTE, checkMs: 15 * MINUTE };
const WANTED: WantedDataSource = {
  organizationId: 'org',
  transport: 'grpc',
  url: 'https://voice.example.org',
  schemaId: 'schema',
  audience: 'audience',
  subject: 'subject',
  tokenLifetimeMinutes: 1440,
};
export const BODY = { url: WANTED.url, schemaId: 'schema', audience: 'audience', subject: 'subject', tokenLifetimeMinutes: 1440 };

type Told = Parameters<NonNullable<LifecycleObserver['dataSourceChanged']>>[0];

/** What stays when the process ends: the platform, the store and the time. */
export class World {
  readonly clock = new FakeClock();
  readonly api = new MemoryDataSources(this.clock);
  readonly texts = new Map<string, string>();
  readonly told: Told[] = [];
  readonly started: DataSourceReconciler[] = [];
  nonces = new NonceBook({ clock: this.clock });
  sources = new TrustedDataSources();
  readonly store: SecretStore = {
    get: (key) => Promise.resolve(this.texts.get(key)),
    set: (key, value) => Promise.resolve(void this.texts.set(key, value)),
    delete: (key) => Promise.resolve(void this.texts.delete(key)),
    keys: (prefix) => Promise.resolve([...this.texts.keys()].filter((key) => key.startsWith(prefix))),
  };

  get transitions(): readonly string[] {
    return this.told.map(({ transition }) => transition);
  }

  /** The nonces of all updates from now on, as they are sent. */
  sentNonces(): readonly string[] {
    const sent: string[] = [];
    const update = this.api.update.bind(this.api);
    this.api.update = (id, body) => {
      sent.push(body.nonce ?? '');
      return update(id, body);
    };
    return sent;
  }

  get record() {
    return [...this.api.records.values()][0] ?? { id: '', nonce: '' };
  }

  /** A process that has just started: it knows what lies in the store, and nothing else. */
  async reconciler(
    wanted: Partial<WantedDataSource> = {},
    times: Partial<LifecycleTimes> = {},
    leader?: Leader,
  ): Promise<DataSourceReconciler> {
    const { clock, store, api } = this;
    this.nonces = new NonceBook({ clock });
    this.sources = new TrustedDataSources();
    const whole = { ...WANTED, ...wanted };
    const journal = await NonceJournal.open({ key: 'nonces', store, configured: whole, clock, onUnsaved: () => undefined });
    const trust = { sources: this.sources, nonces: this.nonces };
    const observer = { dataSourceChanged: (change: Told) => void this.told.push(change) };
    const reconciler = new DataSourceReconciler({
      wanted: whole,
      api,
      journal,
      trust,
      times: { ...TIMES, ...times },
      clock,
      observer,
      leader,
      draw: () => 0.5,
    });
    this.started.push(reconciler);
    return reconciler;
  }

  /** Whether a token with this nonce is let in, and with the values of the wanted data source but for those given. */
  lets(nonce: string | undefined, values: Partial<RegisteredValues> = {}): boolean {
    const { audience, ...rest } = { ...BODY, ...values };
    const binding = { ...rest, audiences: [audience], organizationId: 'org', nonceDigest: digestNonce(nonce ?? '') };
    try {
      this.sources.match(binding, 'grpc', this.nonces);
      return true;
    } catch {
      return false;
    }
  }

  /** Lets time pass in small steps, so that what is due is done in between. */
  async pass(ms: number, stepMs = MINUTE): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) await this.clock.advanceAsync(Math.min(stepMs, left));
  }
}
