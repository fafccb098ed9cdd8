// Selects the platform's record of our data source (L-02 to L-05). Pure comparison.
import type { DataSource } from '../records.ts';
import { isActive } from '../records.ts';
import type { WantedDataSource } from './ports.ts';
import { REGISTERED_VALUES } from './registered-values.ts';

export type Match =
  | { readonly kind: 'found'; readonly id: string }
  | { readonly kind: 'none' }
  /** The pinned record belongs to another app: no other record is used or registered instead (L-02, L-11). */
  | { readonly kind: 'foreign'; readonly id: string }
  /** Several records fit equally well: choosing one would be a guess. */
  | { readonly kind: 'ambiguous'; readonly ids: readonly string[] };

/**
 * Selects the record that a server uses: the pinned one and no other (L-02), else the known one, else the one that fits. No other code
 * decides this.
 *
 * @param knownId - from the journal.
 */
export function chosenRecord(items: readonly DataSource[], wanted: WantedDataSource, knownId: string | undefined): Match {
  const { pinnedId } = wanted;
  const known = items.find(({ id }) => id === (pinnedId ?? knownId));
  if (known !== undefined && isOurs(known, wanted)) return { kind: 'found', id: known.id };
  if (pinnedId === undefined) return fittingRecord(items, wanted);
  return known === undefined ? { kind: 'none' } : { kind: 'foreign', id: known.id };
}

/**
 * Selects the record that fits in url, schema, audience and subject (L-03), or else in url and schema (L-04). Ignores records of another
 * app (L-11).
 */
function fittingRecord(items: readonly DataSource[], wanted: WantedDataSource): Match {
  const ours = items.filter((item) => isOurs(item, wanted) && item.url === wanted.url && item.schemaId === wanted.schemaId);
  const exact = ours.filter(({ audience, subject }) => audience === wanted.audience && subject === wanted.subject);
  const fitting = exact.length > 0 ? exact : ours;
  const [first, ...more] = fitting;
  if (first === undefined) return { kind: 'none' };
  return more.length === 0 ? { kind: 'found', id: first.id } : { kind: 'ambiguous', ids: fitting.map(({ id }) => id) };
}

/** Whether the record belongs to our app, or does not say to which app. */
export function isOurs({ applicationId }: DataSource, wanted: Pick<WantedDataSource, 'applicationId'>): boolean {
  return applicationId === undefined || wanted.applicationId === undefined || applicationId === wanted.applicationId;
}

/** The names of members that differ from the wanted values; `status` when the data source gets no calls (L-05). */
export function driftOf(record: DataSource, wanted: WantedDataSource): readonly string[] {
  // A missing member is not wrong, but a missing status is not active.
  const drift: string[] = REGISTERED_VALUES.filter((member) => record[member] !== undefined && record[member] !== wanted[member]);
  if (record.status !== undefined && !isActive(record)) drift.push('status');
  return drift;
}
