// The registered data sources and their tokens. Signs tokens with the issuer's published key. Whether a request may change a data source is
// checked elsewhere.
import { randomUUID } from 'node:crypto';
import type { Issuer } from './issuer.ts';
import { BoundedMap } from './bounded-map.ts';
import { isoTime, type PlatformTime } from './platform-time.ts';

/** The members of a data source that a developer can send. */
export interface DataSourceWords {
  readonly audience: string;
  readonly subject: string;
  readonly nonce: string;
  readonly schemaId: string;
  readonly url: string;
  readonly tokenLifetimeMinutes: number;
  readonly status: 'active' | 'disabled';
  /** Why the data source is disabled; empty while it is active. */
  readonly errorMessage: string;
}

/** A data source with the members that the platform adds. */
export interface DataSourceRecord extends DataSourceWords {
  readonly id: string;
  /** The service app's client id. */
  readonly applicationId: string;
  /** Plain UUID. */
  readonly orgId: string;
  /** ISO times with Z. */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Id of the machine account. */
  readonly createdBy: string;
  readonly jwsToken: string;
  readonly tokenExpiryTime: string;
  /** Set after a renewal: the previous token, which the platform may still present for a while (J-05). */
  readonly previousJwsToken: string | undefined;
}

const MAX_RECORDS = 1000;

/** All data sources: at most 1000; beyond that, the oldest are dropped. */
export class DataSourceBook {
  readonly #records = new BoundedMap<string, DataSourceRecord>(MAX_RECORDS);
  readonly #issuer: Pick<Issuer, 'issueToken'>;
  readonly #nowMs: PlatformTime;

  constructor(issuer: Pick<Issuer, 'issueToken'>, nowMs: PlatformTime) {
    this.#issuer = issuer;
    this.#nowMs = nowMs;
  }

  /** Registers a data source and signs its first token. */
  async add(
    words: DataSourceWords,
    owner: { readonly applicationId: string; readonly orgId: string; readonly createdBy: string },
  ): Promise<DataSourceRecord> {
    const nowMs = this.#nowMs();
    const token = await this.#sign(words, owner.orgId, nowMs);
    const times = { createdAt: isoTime(nowMs), updatedAt: isoTime(nowMs) };
    return this.#keep({ ...words, ...owner, ...token, ...times, id: randomUUID(), previousJwsToken: undefined });
  }

  /** Updates a data source. It gets a fresh token only if the nonce has changed (J-02, R-04). */
  async change(record: DataSourceRecord, words: DataSourceWords): Promise<DataSourceRecord> {
    const nowMs = this.#nowMs();
    const token =
      words.nonce === record.nonce ? {} : { ...(await this.#sign(words, record.orgId, nowMs)), previousJwsToken: record.jwsToken };
    return this.#keep({ ...record, ...words, ...token, updatedAt: isoTime(nowMs) });
  }

  /** Disables a data source, as only the platform can. @returns false when there is none. */
  disable(id: string, errorMessage: string): boolean {
    const record = this.find(id);
    if (record === undefined) return false;
    this.#keep({ ...record, status: 'disabled', errorMessage, updatedAt: isoTime(this.#nowMs()) });
    return true;
  }

  delete(id: string): boolean {
    return this.#records.delete(id);
  }

  /** Deletes all data sources of an app in an organization. */
  deleteOf(orgId: string, applicationId: string): void {
    this.#records.deleteWhere((record) => record.orgId === orgId && record.applicationId === applicationId);
  }

  find(id: string): DataSourceRecord | undefined {
    return this.#records.get(id);
  }

  /** The data sources of an organization, or of all organizations, oldest first. */
  of(orgId?: string): readonly DataSourceRecord[] {
    return [...this.#records.values()].filter((record) => orgId === undefined || record.orgId === orgId);
  }

  #keep(record: DataSourceRecord): DataSourceRecord {
    this.#records.set(record.id, record);
    return record;
  }

  async #sign(
    { url, schemaId, audience, subject, nonce, tokenLifetimeMinutes }: DataSourceWords,
    organizationId: string,
    nowMs: number,
  ): Promise<Pick<DataSourceRecord, 'jwsToken' | 'tokenExpiryTime'>> {
    const claims = { organizationId, url, schemaId, audience, subject, nonce, lifetimeMinutes: tokenLifetimeMinutes };
    const jwsToken = await this.#issuer.issueToken(claims, nowMs);
    // Times in a token are whole seconds.
    const issuedMs = Math.floor(nowMs / 1000) * 1000;
    return { jwsToken, tokenExpiryTime: isoTime(issuedMs + tokenLifetimeMinutes * 60_000) };
  }
}
