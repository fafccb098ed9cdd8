// Fills the trust of a server: right after its start from the store alone (L-15), after the first check also from the platform. Used by the
// server and by commands that only inspect; writes nothing, neither here nor on the platform.
import type { Clock } from '../../base/clock.ts';
import type { DataSource } from '../records.ts';
import type { SecretStore } from '../secret-store.ts';
import { chosenRecord } from './match.ts';
import { journalKey, NonceJournal, type KnownNonce, type KnownNonces } from './nonce-journal.ts';
import type { DataSourcesApi, Served, Trust, WantedDataSource } from './ports.ts';
import { valuesIn } from './registered-values.ts';
import { ServedDataSource } from './served-data-source.ts';

export interface KeptTrustParts {
  readonly store: SecretStore;
  readonly trust: Trust;
  readonly clock: Clock;
}

/**
 * Trusts the tokens that were valid when the last process ended, and those of a registration with unknown outcome. A pinned data source is
 * never registered, and no stored nonces of another data source are trusted instead (L-02).
 *
 * @returns whether the data source is known.
 */
export function serveKept(journal: NonceJournal, served: Pick<Served, 'show'>, { pinnedId }: WantedDataSource): boolean {
  const { dataSourceId, known } = journal;
  const isKnown = dataSourceId !== undefined && known.current !== undefined;
  if (pinnedId !== undefined && !(isKnown && dataSourceId === pinnedId)) return false;
  served.show(isKnown ? dataSourceId : undefined, known);
  return isKnown;
}

/** Trusts what the store has about a data source. @returns the id; undefined when the store has nothing useful. */
export async function trustKept(wanted: WantedDataSource, parts: KeptTrustParts): Promise<string | undefined> {
  const served = new ServedDataSource(wanted, parts.trust);
  serveKept(await openJournal(wanted, parts), served, wanted);
  return served.id;
}

/**
 * Trusts what the platform's record says, whatever was known before (L-02 to L-04).
 *
 * @param keptId - the result of {@link trustKept}: no longer trusted when the platform has another record, or none.
 * @returns the id; undefined when no record fits, or several fit equally well.
 * @throws AppError of the platform.
 */
export async function trustAsked(
  wanted: WantedDataSource,
  keptId: string | undefined,
  api: Pick<DataSourcesApi, 'list' | 'get'>,
  parts: KeptTrustParts,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { trust } = parts;
  const journal = await openJournal(wanted, parts);
  const served = new ServedDataSource(wanted, trust);
  serveKept(journal, served, wanted);
  const match = chosenRecord(await api.list(signal), wanted, journal.dataSourceId);
  served.drop();
  // Meanwhile a running server may have stored another id.
  if (keptId !== undefined) trust.sources.remove(keptId);
  if (match.kind !== 'found') return undefined;
  const { id } = match;
  const record = await api.get(id, signal);
  const sent = nonceIn(record, journal.known, wanted);
  if (sent !== undefined) await journal.confirm(id, sent, record.tokenExpiresAtMs);
  served.show(id, journal.known);
  return id;
}

/**
 * The nonce of a record, with its values. Values that the record lacks are those sent with that nonce, or else the wanted ones. Undefined
 * when the record has no nonce.
 */
export function nonceIn(record: DataSource, { current, announced }: KnownNonces, wanted: WantedDataSource): KnownNonce | undefined {
  const { nonce } = record;
  if (nonce === undefined) return undefined;
  const sent = [current, announced].find((known) => known?.nonce === nonce);
  return { nonce, values: valuesIn(record, sent?.values ?? wanted) };
}

/** A journal for reading; changes are not stored. */
export function openJournal(
  wanted: WantedDataSource,
  { store, clock }: { readonly store: Pick<SecretStore, 'get'>; readonly clock: Clock },
): Promise<NonceJournal> {
  const readOnly = { get: (key: string) => store.get(key), set: () => Promise.resolve(), delete: () => Promise.resolve() };
  return NonceJournal.open({ key: journalKey(wanted), store: readOnly, configured: wanted, clock, onUnsaved: () => undefined });
}
