// Finds the platform's records of the wanted data sources, even if they differ from the configuration, so that the doctor can report the
// differences. Pure comparison.
import { chosenRecord, isOurs, type Match } from '../lifecycle/match.ts';
import type { DataSource } from '../records.ts';
import type { ExaminedDataSource } from './context.ts';
import { compareUrls } from './url-spelling.ts';

/**
 * Finds the record of each wanted data source of one organization: the record that a server uses; otherwise one that fits no other wanted
 * data source and whose address looks like ours.
 */
export function pairRecords(items: readonly DataSource[], wanted: readonly ExaminedDataSource[]): ReadonlyMap<ExaminedDataSource, Match> {
  const pairs = new Map<ExaminedDataSource, Match>(wanted.map((each) => [each, chosenRecord(items, each, each.knownId)]));
  for (const each of wanted) {
    if (each.pinnedId !== undefined || pairs.get(each)?.kind !== 'none') continue;
    const taken = new Set([...pairs.values()].flatMap((pair) => (pair.kind === 'found' ? [pair.id] : [])));
    const near = items.filter((item) => isOurs(item, each) && !taken.has(item.id) && isMeant(item, each));
    const sameSchema = near.filter(({ schemaId }) => schemaId === each.schemaId);
    pairs.set(each, pairingOf((sameSchema.length > 0 ? sameSchema : near).map(({ id }) => id)));
  }
  return pairs;
}

function isMeant({ url }: DataSource, wanted: ExaminedDataSource): boolean {
  return url !== undefined && compareUrls(url, wanted.url).kind !== 'other';
}

function pairingOf(ids: readonly string[]): Match {
  const [first, ...more] = ids;
  if (first === undefined) return { kind: 'none' };
  return more.length === 0 ? { kind: 'found', id: first } : { kind: 'ambiguous', ids };
}
