// What a server lets in: right after its start, by what the store says alone (L-15), and after its first check at the platform.
// For the server and for commands that only want to know; nothing is written here or there.
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
 * Lets the tokens in that were good when the last process ended, and those of a registration whose fate it did not know. A pinned
 * data source is never registered, and what is known of another one lets nobody in (L-02).
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

/** Fills the trust with what the store says of a data source. @returns its id; undefined when it says nothing of use. */
export async function trustKept(wanted: WantedDataSource, parts: KeptTrustParts): Promise<string | undefined> {
  const served = new ServedDataSource(wanted, parts.trust);
  serveKept(await openJournal(wanted, parts), served, wanted);
  return served.id;
}

/**
 * Fills the trust with what the platform says of a data source, whatever was known before (L-02 to L-04).
 *
 * @param keptId - what {@link trustKept} found: let in no longer when the platform has another one, or none.
 * @returns its id; undefined when there is none, or more than one fits equally well.
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
  // A server that runs meanwhile may have written another one.
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
 * The nonce of a record, with its values; what the record leaves open is as it was sent with that nonce, or as we want
 * it. Undefined when it has none.
 */
export function nonceIn(record: DataSource, { current, announced }: KnownNonces, wanted: WantedDataSource): KnownNonce | undefined {
  const { nonce } = record;
  if (nonce === undefined) return undefined;
  const sent = [current, announced].find((known) => known?.nonce === nonce);
  return { nonce, values: valuesIn(record, sent?.values ?? wanted) };
}

/** A journal that is only read: no change of it is written. */
export function openJournal(
  wanted: WantedDataSource,
  { store, clock }: { readonly store: Pick<SecretStore, 'get'>; readonly clock: Clock },
): Promise<NonceJournal> {
  const readOnly = { get: (key: string) => store.get(key), set: () => Promise.resolve(), delete: () => Promise.resolve() };
  return NonceJournal.open({ key: journalKey(wanted), store: readOnly, configured: wanted, clock, onUnsaved: () => undefined });
}
