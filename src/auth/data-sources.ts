// The data sources that tokens may speak for, as they are registered with the platform, and the comparison of a token's claims with them.
// Knows neither signatures nor times: both are checked before.
import { AppError } from '../base/errors.ts';
import type { TokenBinding } from './claims.ts';
import type { NonceBook } from './nonces.ts';
import type { TokenTransport } from './principal.ts';
import { refuse, type RefusalReason } from './refusal.ts';

/** A data source with the values it was registered with. They are compared character for character (J-17, J-19). */
export interface TrustedDataSource {
  readonly id: string;
  readonly organizationId: string;
  /** The registered url, verbatim: no part of it is normalised. */
  readonly url: string;
  readonly schemaId: string;
  readonly audience: string;
  readonly subject: string;
  readonly transport: TokenTransport;
}

/** The data sources this server answers for. Several may share a url: one for each organization and transport. */
export class TrustedDataSources {
  readonly #byId = new Map<string, TrustedDataSource>();
  readonly #byUrl = new Map<string, TrustedDataSource[]>();
  readonly #max: number;

  /**
   * @param options.max - most data sources kept; default 10 000.
   * @throws AppError as `put` does.
   */
  constructor(sources: readonly TrustedDataSource[] = [], options: { max?: number } = {}) {
    this.#max = options.max ?? 10_000;
    for (const source of sources) this.put(source);
  }

  /**
   * Adds a data source, or replaces the one with the same id: tokens with the replaced values are refused from now on.
   *
   * @throws AppError `config_invalid` when a value is empty, `overloaded` beyond the bound.
   */
  put(source: TrustedDataSource): void {
    const kept = Object.freeze({ ...source });
    // An empty value would be matched by an empty claim.
    const empty = Object.entries(kept).find(([, value]) => value === '');
    if (empty !== undefined)
      throw new AppError('config_invalid', `a data source has an empty ${empty[0]}`, { details: { dataSourceId: kept.id } });
    if (!this.#byId.has(kept.id) && this.#byId.size >= this.#max) {
      throw new AppError('overloaded', 'too many data sources', { details: { limit: this.#max } });
    }
    this.remove(kept.id);
    this.#byId.set(kept.id, kept);
    const sameUrl = this.#byUrl.get(kept.url);
    if (sameUrl === undefined) this.#byUrl.set(kept.url, [kept]);
    else sameUrl.push(kept);
  }

  /** How many data sources are served. */
  get size(): number {
    return this.#byId.size;
  }

  /** Stops serving a data source: its tokens are refused from now on, including those that the verifier remembers. */
  remove(id: string): void {
    const known = this.#byId.get(id);
    if (known === undefined) return;
    this.#byId.delete(id);
    const left = (this.#byUrl.get(known.url) ?? []).filter((source) => source !== known);
    if (left.length === 0) this.#byUrl.delete(known.url);
    else this.#byUrl.set(known.url, left);
  }

  /** Whether this very object, as `match` returned it, is still served: neither removed nor replaced. */
  holds(source: TrustedDataSource): boolean {
    return this.#byId.get(source.id) === source;
  }

  /**
   * Finds the data source whose registered values a token carries. The candidates are narrowed step by step, in this order: url, schema
   * (with the transport, J-2E), audience, subject, organization, nonce. The step that leaves no candidate gives the reason, so each kind of
   * mistake has its own reason. The nonce, the only secret, comes last.
   *
   * @throws AppError `unauthenticated` with that reason.
   */
  match(binding: TokenBinding, transport: TokenTransport, nonces: NonceBook): TrustedDataSource {
    const sameUrl = this.#byUrl.get(binding.url);
    if (sameUrl === undefined) throw refuse('url_mismatch');
    const sameSchema = narrow(
      sameUrl,
      'schema_mismatch',
      (source) => source.transport === transport && source.schemaId === binding.schemaId,
    );
    const sameAudience = narrow(sameSchema, 'audience_mismatch', (source) => binding.audiences.includes(source.audience));
    const sameSubject = narrow(sameAudience, 'subject_mismatch', (source) => source.subject === binding.subject);
    const sameOrganization = narrow(sameSubject, 'org_mismatch', (source) => source.organizationId === binding.organizationId);
    const [found] = narrow(sameOrganization, 'nonce_mismatch', (source) => nonces.accepts(source.id, binding.nonceDigest));
    return found;
  }
}

function narrow(
  sources: readonly TrustedDataSource[],
  reason: RefusalReason,
  fits: (source: TrustedDataSource) => boolean,
): readonly [TrustedDataSource, ...TrustedDataSource[]] {
  const [first, ...rest] = sources.filter(fits);
  if (first === undefined) throw refuse(reason);
  return [first, ...rest];
}
