// The schemas with which data sources can be registered (5.3). Every token of the platform may read them.
import { readList, readSchema, type Schema } from '../records.ts';
import type { RestClient } from './rest-client.ts';

const PATH = '/dataSources/schemas';

/** Rejects as {@link RestClient.send} does. */
export class Schemas {
  readonly #rest: RestClient;

  constructor(rest: RestClient) {
    this.#rest = rest;
  }

  /** All schemas. */
  async list(signal: AbortSignal): Promise<readonly Schema[]> {
    return this.#rest.send({ method: 'GET', path: PATH }, signal, ({ body }) => readList(body, readSchema));
  }
}
