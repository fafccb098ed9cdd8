// The data sources of one organization, for the manual commands. Changes that need a new token go through the reconciler, as in a server,
// so that the journal knows the nonce before the platform does (L-09). Prints nothing.
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { PlatformProfile } from '../../contract/profile.ts';
import type { LifecycleTimes } from '../lifecycle/schedule.ts';
import { chosenRecord, isOurs } from '../lifecycle/match.ts';
import { journalKey, journalledDataSource } from '../lifecycle/nonce-journal.ts';
import type { WantedDataSource } from '../lifecycle/ports.ts';
import type { DataSource } from '../records.ts';
import type { DataSources } from '../rest/data-sources.ts';
import { isNotThere } from '../rest/rest-error.ts';
import type { SecretStore } from '../secret-store.ts';
import { shownText } from '../../base/shown-text.ts';
import { dataSourceView, transportOf, type DataSourceView } from './data-source-view.ts';
import { keepOnce, type KeptOutcome } from './keep-once.ts';
import { bringsToken, changedWanted, createBody, statusUpdate, type DataSourceChanges } from './data-source-changes.ts';

export interface OrganizationDataSourcesOptions {
  /** A plain UUID. */
  readonly organizationId: string;
  readonly api: Pick<DataSources, 'list' | 'get' | 'create' | 'update' | 'delete'>;
  /** The data sources that the organization must have. */
  readonly wanted: readonly WantedDataSource[];
  /** Client id of our app; undefined without one. */
  readonly applicationId: string | undefined;
  readonly schemas: PlatformProfile['schemas'];
  readonly store: SecretStore;
  readonly times: LifecycleTimes;
  readonly clock: Clock;
}

/** What was done to a data source, and its state afterwards. */
export interface DataSourceChange {
  readonly outcome: KeptOutcome | 'updated' | 'deleted';
  readonly dataSource: DataSourceView;
}

/** The record that a server would use for a wanted data source. */
interface Taken {
  readonly wanted: WantedDataSource;
  /** More than one when several fit equally well; empty when none fits. */
  readonly ids: readonly string[];
}

/** Every method rejects as {@link DataSources} does. Methods that change a nonce need a store that this process holds. */
export class OrganizationDataSources {
  readonly #options: OrganizationDataSourcesOptions;

  constructor(options: OrganizationDataSourcesOptions) {
    this.#options = options;
  }

  /** All data sources of the organization, including those of other apps. */
  async list(signal: AbortSignal): Promise<readonly DataSourceView[]> {
    const { api } = this.#options;
    const items = await api.list(signal);
    const taken = await this.#taken(items);
    const views: DataSourceView[] = [];
    // The records in a list may lack members. Not concurrently, because the platform limits requests.
    for (const item of items) views.push(this.#view(item.status === undefined ? await api.get(item.id, signal) : item, taken));
    return views;
  }

  /** @throws AppError `platform_refused` when the organization has no data source with this id. */
  async get(id: string, signal: AbortSignal): Promise<DataSourceView> {
    const record = await this.#record(id, signal);
    return this.#view(record, await this.#taken(await this.#options.api.list(signal)));
  }

  /** The nonce of a data source, a secret; undefined when the platform does not send it. @throws as `get`. */
  async nonceOf(id: string, signal: AbortSignal): Promise<string | undefined> {
    const { nonce } = await this.#record(id, signal);
    return nonce === undefined ? undefined : shownText(nonce);
  }

  /**
   * Registers a data source that the configuration wants.
   *
   * @param transport - the transport of the data source.
   * @throws AppError `data_source_unclear` when there already is one, `config_invalid` when the configuration wants none.
   */
  async create(transport: WantedDataSource['transport'], signal: AbortSignal): Promise<DataSourceChange> {
    const { api, organizationId, wanted } = this.#options;
    const one = wanted.find((each) => each.transport === transport);
    if (one === undefined) throw new AppError('config_invalid', `admin.data_sources.transports does not hold ${transport}`);
    if (one.pinnedId !== undefined) {
      const why = 'admin.data_sources.pinned names it, and none is registered in its place (L-02)';
      throw new AppError('data_source_unclear', `organization ${organizationId} uses the data source ${one.pinnedId}: ${why}`);
    }
    const { ids } = await this.#takenFor(one, await api.list(signal));
    if (ids.length > 0) throw new AppError('data_source_unclear', `organization ${organizationId} has one that fits: ${shown(ids)}`);
    return this.#changed(await keepOnce(one, { ...this.#options, isRenewed: false }, signal), signal);
  }

  /**
   * Registers a data source with the given members, and any schema of the platform; missing members come from the configuration. The nonce
   * is not in the journal: a server that uses the data source learns the nonce from the record.
   *
   * @param transport - selects the default schema.
   * @throws AppError `config_invalid` for a missing member, `data_source_unclear` when the organization has a data source with this schema
   * and address.
   */
  async createAs(transport: WantedDataSource['transport'], given: DataSourceChanges, signal: AbortSignal): Promise<DataSourceChange> {
    const { api, organizationId, wanted, schemas, applicationId } = this.#options;
    const { status, errorMessage, nonce = randomUUID(), ...values } = given;
    if (status !== undefined || errorMessage !== undefined) {
      throw new AppError('config_invalid', 'a data source is registered active, and without a message: update it afterwards');
    }
    const schemaId = values.schemaId ?? schemas[transport];
    const body = createBody(
      { ...values, schemaId, nonce },
      wanted.find((one) => one.schemaId === schemaId),
    );
    const isSame = (one: DataSource): boolean => one.schemaId === schemaId && one.url === body.url && isOurs(one, { applicationId });
    const same = (await api.list(signal)).filter(isSame);
    if (same.length > 0) {
      const ids = shown(same.map(({ id }) => id));
      throw new AppError('data_source_unclear', `organization ${organizationId} has one of this schema and address: ${ids}`);
    }
    const { id } = await api.create(body, signal);
    return this.#changed({ id, outcome: 'created' }, signal);
  }

  /**
   * Obtains new tokens for the data sources that a server with this configuration uses, and changes members that differ from the
   * configuration back.
   *
   * @param id - the only data source to renew; undefined: all of them.
   * @throws AppError `data_source_unclear` when none or several fit, or a different one than `id`.
   */
  async renew(id: string | undefined, signal: AbortSignal): Promise<readonly DataSourceChange[]> {
    const { organizationId } = this.#options;
    const taken = await this.#taken(await this.#options.api.list(signal));
    const meant = id === undefined ? taken : taken.filter(({ ids }) => ids.includes(id));
    if (id !== undefined && meant.length === 0) {
      await this.#record(id, signal);
      throw new AppError('data_source_unclear', `the data source ${id} is not the one that the configuration uses`);
    }
    const changes: DataSourceChange[] = [];
    for (const { wanted, ids } of meant) {
      const [only, ...more] = ids;
      if (only === undefined)
        throw new AppError('data_source_unclear', `organization ${organizationId} has no ${wanted.transport} data source that fits`);
      if (more.length > 0) throw new AppError('data_source_unclear', `${String(ids.length)} data sources fit equally well: ${shown(ids)}`);
      const kept = await keepOnce({ ...wanted, pinnedId: only }, { ...this.#options, isRenewed: true }, signal);
      changes.push(await this.#changed(kept, signal));
    }
    return changes;
  }

  /**
   * Changes only the given members. Every member except the status is part of the token, so changing it brings a new nonce.
   *
   * @param isLoose - whether a data source that this configuration does not use may get a new nonce, although the server that uses it
   * would refuse calls until its next check.
   * @throws AppError `data_source_unclear` for a data source of another app, and without `isLoose` for one that is not used here;
   * `config_invalid` for a nonce or schema of one that is used here, because a server would change it back.
   */
  async update(id: string, changes: DataSourceChanges, isLoose: boolean, signal: AbortSignal): Promise<DataSourceChange> {
    const { api, organizationId } = this.#options;
    const record = await this.#ownRecord(id, signal);
    if (!bringsToken(changes)) {
      await api.update(id, statusUpdate(record, changes), signal);
      return this.#changed({ id, outcome: 'updated' }, signal);
    }
    const taken = (await this.#taken(await api.list(signal))).find(({ ids }) => ids.length === 1 && ids.includes(id));
    if (taken === undefined && !isLoose) {
      throw new AppError(
        'data_source_unclear',
        `the data source ${id} is not the one that the configuration uses: a server that uses it refuses calls until its next check; with --yes it is changed all the same`,
      );
    }
    const { nonce, schemaId } = changes;
    if (taken !== undefined && (nonce !== undefined || (schemaId !== undefined && schemaId !== record.schemaId))) {
      const why = 'a server with this configuration gives it a nonce and a schema of its own';
      throw new AppError('config_invalid', `the data source ${id} is in use: ${why}; use \`renew\` for a fresh nonce`);
    }
    const changed = changedWanted(record, changes);
    const transport = taken?.wanted.transport ?? transportOf(changed, this.#options.schemas);
    if (transport === undefined || nonce !== undefined) {
      // Without a transport, or used by another configuration: this store records nothing about the data source.
      await api.update(id, { ...changed, nonce: nonce ?? randomUUID(), status: 'active' }, signal);
      return this.#changed({ id, outcome: 'updated' }, signal);
    }
    const wanted = { ...changed, organizationId, transport, pinnedId: id };
    const kept = await keepOnce(wanted, { ...this.#options, isRenewed: true, isJournalled: taken !== undefined }, signal);
    return this.#changed({ ...kept, outcome: 'updated' }, signal);
  }

  /** Deletes a data source. @returns its last state. @throws AppError `data_source_unclear` when it belongs to another app. */
  async delete(id: string, signal: AbortSignal): Promise<DataSourceChange> {
    const { api } = this.#options;
    const record = await this.#ownRecord(id, signal);
    const view = this.#view(record, await this.#taken(await api.list(signal)));
    await api.delete(id, signal);
    return { outcome: 'deleted', dataSource: view };
  }

  async #changed({ id, outcome }: { readonly id: string; readonly outcome: DataSourceChange['outcome'] }, signal: AbortSignal) {
    try {
      return { outcome, dataSource: await this.get(id, signal) };
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown;
      // The message must say that the change itself was made.
      throw new AppError(thrown.code, `the data source ${id} was ${outcome}, but then: ${thrown.message}`, {
        details: thrown.details,
        cause: thrown,
      });
    }
  }

  async #record(id: string, signal: AbortSignal): Promise<DataSource> {
    const { api, organizationId } = this.#options;
    try {
      return await api.get(id, signal);
    } catch (thrown) {
      if (!isNotThere(thrown)) throw thrown;
      throw new AppError('platform_refused', `organization ${organizationId} has no such data source: ${thrown.message}`, {
        details: thrown.details,
        cause: thrown,
      });
    }
  }

  /** Only a record of our app may be changed (L-11). */
  async #ownRecord(id: string, signal: AbortSignal): Promise<DataSource> {
    const record = await this.#record(id, signal);
    const { applicationId } = this.#options;
    if (isOurs(record, { applicationId })) return record;
    throw new AppError('data_source_unclear', `the data source ${id} belongs to another app: nothing of it is changed`);
  }

  /** The record that a server would use, for each wanted data source. */
  #taken(items: readonly DataSource[]): Promise<readonly Taken[]> {
    return Promise.all(this.#options.wanted.map((wanted) => this.#takenFor(wanted, items)));
  }

  /** The pinned record, the one in the journal, or else those that fit (L-02 to L-04). */
  async #takenFor(wanted: WantedDataSource, items: readonly DataSource[]): Promise<Taken> {
    const knownId = await journalledDataSource(this.#options.store, journalKey(wanted));
    const match = chosenRecord(items, wanted, knownId);
    if (match.kind === 'ambiguous') return { wanted, ids: match.ids };
    return { wanted, ids: match.kind === 'found' ? [match.id] : [] };
  }

  #view(record: DataSource, taken: readonly Taken[]): DataSourceView {
    const takenFor = taken.find(({ ids }) => ids.length === 1 && ids.includes(record.id))?.wanted;
    return dataSourceView(record, { ...this.#options, takenFor });
  }
}

/** Ids of the platform in a message. */
function shown(ids: readonly string[]): string {
  return ids.map((id) => shownText(id)).join(', ');
}
