// Trusts what the renewing server has stored, at the start and after every change (L-10, L-15). While this server leads, its reconcilers
// fill the same data sources, so that no token is refused when the lease changes hands. Sends no request and writes nothing.
import type { Clock } from '../../base/clock.ts';
import { toAppError, type AppError } from '../../base/errors.ts';
import type { SecretStore } from '../secret-store.ts';
import { organizationOfEvent, organizationsWithEvents, readKeptEvent } from '../webhooks/kept-events.ts';
import type { DataSourceState } from './data-source-reconciler.ts';
import { openJournal, serveKept } from './kept-trust.ts';
import { journalKey, organizationOfJournal, type NonceJournal } from './nonce-journal.ts';
import type { Served, Trust, WantedDataSource } from './ports.ts';
import { ServedDataSource } from './served-data-source.ts';

/** Number of organizations after which the event loop may run. */
const MAX_IN_A_ROW = 20;

export interface TrustFollowerOptions {
  /** The texts that the leader writes. */
  readonly store: Pick<SecretStore, 'get' | 'keys'>;
  readonly trust: Trust;
  /** UUIDs of the organizations in the settings. */
  readonly organizations: readonly string[];
  /** Whether organizations in the settings can withdraw an authorization, which needs a service app. */
  readonly mayLeave: boolean;
  /** Whether webhooks notify us of organizations that authorize us. */
  readonly hasEvents: boolean;
  /** The wanted data sources of an organization (a plain UUID). */
  readonly wanted: (organizationId: string) => readonly WantedDataSource[];
  readonly clock: Clock;
  /** Called when stored data of an organization could not be applied. */
  readonly onFailed: (organizationId: string, error: AppError) => void;
}

interface Followed {
  readonly wanted: WantedDataSource;
  readonly journal: NonceJournal;
}

export class TrustFollower {
  readonly #options: TrustFollowerOptions;
  readonly #followed = new Map<string, readonly Followed[]>();
  readonly #sources = new Map<string, ServedDataSource>();
  #following: Promise<void> = Promise.resolve();

  constructor(options: TrustFollowerOptions) {
    this.#options = options;
  }

  /** The states of all data sources of authorized organizations. */
  get states(): readonly DataSourceState[] {
    const nowMs = this.#options.clock.nowMs();
    return [...this.#followed.values()].flat().map(({ wanted, journal }) => {
      const { id } = this.#sourceOf(wanted);
      const expiresAtMs = journal.known.current?.validUntilMs;
      const isServed = id !== undefined && (expiresAtMs ?? Infinity) > nowMs;
      return { wanted, dataSourceId: id, expiresAtMs, isServed, error: undefined, wellAtMs: nowMs };
    });
  }

  /** What the leader's reconciler fills for a data source. @param leads - once it returns false, changes by the reconciler are ignored. */
  served(wanted: WantedDataSource, leads: () => boolean): Served {
    const source = this.#sourceOf(wanted);
    return {
      get id() {
        return source.id;
      },
      show: (id, known) => {
        if (leads()) source.show(id, known);
      },
      drop: () => {
        if (leads()) source.drop();
      },
    };
  }

  /** Trusts everything in the store. Never throws. */
  async followAll(): Promise<void> {
    const { store, organizations, hasEvents } = this.#options;
    const known = hasEvents ? await organizationsWithEvents(store) : [];
    await this.#followEach([...organizations, ...known, ...this.#followed.keys()]);
  }

  /** Trusts changed texts. Never throws. @param names - the names of the texts that were changed or deleted. */
  async follow(names: readonly string[]): Promise<void> {
    await this.#followEach(names.flatMap((name) => organizationOfEvent(name) ?? organizationOfJournal(name) ?? []));
  }

  /** One after another, so that the latest reading takes effect. */
  #followEach(organizationIds: readonly string[]): Promise<void> {
    this.#following = this.#following.then(() => this.#followThem(organizationIds));
    return this.#following;
  }

  async #followThem(organizationIds: readonly string[]): Promise<void> {
    for (const [index, organizationId] of [...new Set(organizationIds)].entries()) {
      // The texts are in memory, so without a break thousands of organizations would delay calls.
      if (index % MAX_IN_A_ROW === MAX_IN_A_ROW - 1) await new Promise(setImmediate);
      try {
        await this.#followOne(organizationId);
      } catch (thrown) {
        this.#options.onFailed(organizationId, toAppError(thrown, 'internal', 'what is known of an organization could not be let in'));
      }
    }
  }

  async #followOne(organizationId: string): Promise<void> {
    const { store, wanted, clock } = this.#options;
    const isServed = await this.#isAuthorized(organizationId);
    const all = wanted(organizationId);
    const followed = await Promise.all(all.map(async (one) => ({ wanted: one, journal: await openJournal(one, { store, clock }) })));
    if (isServed) this.#followed.set(organizationId, followed);
    else this.#followed.delete(organizationId);
    for (const { wanted: one, journal } of followed) {
      const source = this.#sourceOf(one);
      const isOther = one.pinnedId !== undefined && journal.dataSourceId !== one.pinnedId;
      if (!isServed || isOther) source.drop();
      else serveKept(journal, source, one);
    }
  }

  /** The data source of an organization on a transport. */
  #sourceOf(wanted: WantedDataSource): ServedDataSource {
    const key = journalKey(wanted);
    const source = this.#sources.get(key) ?? new ServedDataSource(wanted, this.#options.trust);
    this.#sources.set(key, source);
    return source;
  }

  async #isAuthorized(organizationId: string): Promise<boolean> {
    const { store, organizations, mayLeave, hasEvents } = this.#options;
    const event = (await readKeptEvent(store, organizationId))?.event;
    if (organizations.includes(organizationId)) return !mayLeave || event !== 'deauthorized';
    return hasEvents && event === 'authorized';
  }
}
