// Requests for the data sources of one organization (5.3). The lifecycle decides which requests to send.
import {
  readDataSource,
  readList,
  writeDataSource,
  writeDataSourceUpdate,
  type ClaimNames,
  type DataSource,
  type DataSourceCreate,
  type DataSourceUpdate,
} from '../records.ts';
import { pathSegment, type RestClient } from './rest-client.ts';
import { RestError } from './rest-error.ts';

const PATH = '/dataSources';
/** Statuses of a platform that knows only the other spelling of the list's path. */
const WRONG_PATH = new Set([301, 302, 307, 308, 404, 405]);

/** Each method rejects as {@link RestClient.send} does. */
export class DataSources {
  readonly #rest: RestClient;
  readonly #claims: ClaimNames;

  /** @param rest - sends requests with the app's tokens in the organization. */
  constructor(rest: RestClient, claims: ClaimNames) {
    this.#rest = rest;
    this.#claims = claims;
  }

  /**
   * Registers a data source. A request that may have succeeded is not sent again: first list and match.
   *
   * @throws RestError with `mayHaveHappened`; AppError `config_invalid` for an invalid data source.
   */
  async create(create: DataSourceCreate, signal: AbortSignal): Promise<DataSource> {
    const body = { ...writeDataSource(create) };
    return this.#rest.send({ method: 'POST', path: PATH, body }, signal, ({ body: answer }) => this.#read(answer));
  }

  /** Lists all data sources. The path ends in a slash; if the platform does not know it, tries without (5.3). */
  async list(signal: AbortSignal): Promise<readonly DataSource[]> {
    const list = (path: string): Promise<readonly DataSource[]> =>
      this.#rest.send({ method: 'GET', path }, signal, ({ body }) => readList(body, (item) => this.#read(item)));
    return list(`${PATH}/`).catch((thrown: unknown) => {
      if (thrown instanceof RestError && thrown.status !== undefined && WRONG_PATH.has(thrown.status)) return list(PATH);
      throw thrown;
    });
  }

  /** @throws RestError `platform_refused` with the status 404 when there is no such data source. */
  async get(id: string, signal: AbortSignal): Promise<DataSource> {
    return this.#rest.send({ method: 'GET', path: `${PATH}/${pathSegment(id)}` }, signal, ({ body }) => this.#read(body));
  }

  /** Sends only the given members. @throws AppError `config_invalid` for an invalid change. */
  async update(id: string, update: DataSourceUpdate, signal: AbortSignal): Promise<DataSource> {
    const body = { ...writeDataSourceUpdate(update) };
    return this.#rest.send({ method: 'PUT', path: `${PATH}/${pathSegment(id)}`, body }, signal, ({ body: answer }) => this.#read(answer));
  }

  /** Deletes a data source. Also succeeds when an earlier attempt of the same request has deleted it. */
  async delete(id: string, signal: AbortSignal): Promise<void> {
    await this.#rest.delete(`${PATH}/${pathSegment(id)}`, signal);
  }

  #read(value: unknown): DataSource {
    return readDataSource(value, this.#claims);
  }
}
