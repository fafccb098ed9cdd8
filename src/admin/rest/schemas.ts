// The schemas that data sources are registered under (5.3). Any token of the platform may read them.
import { readList, readSchema, type Schema } from '../records.ts';
import { pathSegment, type RestClient } from './rest-client.ts';

const PATH = '/dataSources/schemas';

/** Each method rejects as {@link RestClient.send} does. */
export class Schemas {
  readonly #rest: RestClient;

  constructor(rest: RestClient) {
    this.#rest = rest;
  }

  /** All of them. */
  async list(signal: AbortSignal): Promise<readonly Schema[]> {
    return this.#rest.send({ method: 'GET', path: PATH }, signal, ({ body }) => readList(body, readSchema));
  }

  /** @throws RestError `platform_refused` with the status 404 for one that is not there. */
  async get(id: string, signal: AbortSignal): Promise<Schema> {
    return this.#rest.send({ method: 'GET', path: `${PATH}/${pathSegment(id)}` }, signal, ({ body }) => readSchema(body));
  }
}
