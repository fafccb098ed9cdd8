// What the token check believes of one data source: the values the platform has, and beside them, while a change is under
// way, the values it will have. Both are good until the answer is there, because the platform may be faster than it (L-09).
import type { Trust, WantedDataSource } from './ports.ts';
import type { DataSource } from '../records.ts';

/** The tokens of one data source that are let in. */
export class ServedDataSource {
  readonly #wanted: WantedDataSource;
  readonly #trust: Trust;
  #id: string | undefined;

  constructor(wanted: WantedDataSource, trust: Trust) {
    this.#wanted = wanted;
    this.#trust = trust;
  }

  /** The data source that is served; undefined when none is. */
  get id(): string | undefined {
    return this.#id;
  }

  /** Lets tokens in that carry what the record says; what it leaves open is as we want it. */
  serve(record: DataSource): void {
    if (this.#id !== undefined && this.#id !== record.id) this.#trust.sources.remove(this.#id);
    this.#id = record.id;
    const { organizationId, transport, ...wanted } = this.#wanted;
    const { url = wanted.url, schemaId = wanted.schemaId, audience = wanted.audience, subject = wanted.subject } = record;
    this.#trust.sources.put({ id: record.id, organizationId, transport, url, schemaId, audience, subject });
  }

  /** Lets tokens in that carry what the platform is about to be told. */
  expect(nonce: string): void {
    const { organizationId, transport, url, schemaId, audience, subject } = this.#wanted;
    this.#trust.nonces.rotate(this.#nextId, nonce);
    this.#trust.sources.put({ id: this.#nextId, organizationId, transport, url, schemaId, audience, subject });
  }

  /** The platform has the values that were expected. Calls that came in meanwhile are not touched. */
  settle(id: string): void {
    const { url, schemaId, audience, subject } = this.#wanted;
    this.serve({ id, url, schemaId, audience, subject });
    this.dropExpected();
  }

  /** The platform did not take what was expected. */
  dropExpected(): void {
    this.#trust.sources.remove(this.#nextId);
    this.#trust.nonces.forget(this.#nextId);
  }

  /** Lets nobody in any more. */
  drop(): void {
    this.dropExpected();
    if (this.#id !== undefined) this.#trust.sources.remove(this.#id);
    this.#id = undefined;
  }

  get #nextId(): string {
    return `${this.#wanted.organizationId}/${this.#wanted.transport}/next`;
  }
}
