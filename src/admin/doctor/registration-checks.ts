// Checks that each wanted data source is registered as configured (L-02 to L-05, J-19, J-1A). Compares records with the configuration;
// changes nothing.
import { isLoopback } from '../../base/loopback.ts';
import { isSocketOrigin } from '../../base/socket-origin.ts';
import { isActive, type DataSource } from '../records.ts';
import type { Check, CheckId, CheckTools, Verdict } from './check.ts';
import type { DoctorContext, ExaminedDataSource } from './context.ts';
import { fault, type Found } from './finding.ts';
import { dataSourceSubject } from './subject.ts';
import { pairRecords } from './registered-records.ts';
import { shownText } from '../../base/shown-text.ts';
import { compareUrls } from './url-spelling.ts';

export interface RecordCase {
  readonly wanted: ExaminedDataSource;
  readonly record: DataSource;
  readonly context: DoctorContext;
  readonly tools: CheckTools;
}

export function recordCheck(
  check: Pick<Check, 'id' | 'title'> & { readonly needs?: readonly CheckId[] },
  examine: (of: RecordCase) => Promise<Verdict> | Verdict,
): Check {
  return {
    ...check,
    needs: ['data_source', ...(check.needs ?? [])],
    tasks: (context) =>
      context.wanted.map((wanted) => ({
        subject: dataSourceSubject(wanted),
        async run(tools) {
          const record = tools.notes.records.get(wanted);
          if (record === undefined) return { skipped: 'its record is not known' };
          const found = await examine({ wanted, record, context, tools });
          if ('skipped' in found) return found;
          const where = `${dataSourceSubject(wanted).text}, record ${shownText(record.id)}`;
          return found.map((one) => ({ ...one, where }));
        },
      })),
  };
}

/** Each wanted data source has a record. */
export const dataSourceCheck: Check = {
  id: 'data_source',
  title: 'it is registered',
  needs: ['platform_access'],
  tasks: (context) =>
    context.wanted.map((wanted) => ({ subject: dataSourceSubject(wanted), run: (tools) => foundRecord(wanted, context, tools) })),
};

/** Finds the record and stores it for later checks. @returns why there is none; no findings when there is one. */
async function foundRecord(wanted: ExaminedDataSource, context: DoctorContext, { signal, notes }: CheckTools): Promise<Verdict> {
  const { organizationId } = wanted;
  const items = notes.lists.get(organizationId);
  const api = context.organizations?.find(({ id }) => id === organizationId)?.dataSources;
  if (items === undefined || api === undefined) return { skipped: 'the data sources of this organization are not managed here' };
  const together = context.wanted.filter((each) => each.organizationId === organizationId);
  const pair = pairRecords(items, together).get(wanted) ?? { kind: 'none' };
  if (pair.kind === 'none' || pair.kind === 'foreign') return [missing(wanted, pair.kind, items.length)];
  if (pair.kind === 'ambiguous') {
    const what = `${String(pair.ids.length)} data sources fit equally well (${pair.ids.map((id) => shownText(id)).join(', ')})`;
    return [fault('data_source_ambiguous', what, 'delete those that are too many, or pin the right one')];
  }
  // The record in a list may lack members (5.3).
  notes.records.set(wanted, await api.get(pair.id, signal));
  return [];
}

function missing({ pinnedId, url, schemaId }: ExaminedDataSource, kind: 'none' | 'foreign', others: number): Found {
  if (pinnedId !== undefined) {
    const mend = 'mend the pinned id, or take it out to have the data source found or registered';
    const why = kind === 'foreign' ? 'belongs to another app, so that the server does not take it' : 'is not there';
    return fault('data_source_missing', `the pinned data source ${shownText(pinnedId)} ${why}`, mend);
  }
  const what = `it is not registered (the organization has ${String(others)} data sources, none of which fits)`;
  const mend = `start the server, which registers it, or register ${shownText(url)} with the schema ${shownText(schemaId)}`;
  return fault('data_source_missing', what, mend);
}

/** The record has the schema of its transport (J-1A). */
export const schemaCheck = recordCheck({ id: 'schema', title: 'its schema is the right one' }, ({ wanted, record, context }) => {
  const { schemaId } = record;
  if (schemaId === undefined) return { skipped: 'the record has no schema' };
  if (schemaId === wanted.schemaId) return [];
  const { schemas } = context.profile;
  const other = wanted.transport === 'grpc' ? 'websocket' : 'grpc';
  const mend = `register it with the schema ${shownText(wanted.schemaId)}`;
  if (schemaId === schemas[other]) {
    const what = `it has the schema of ${other}, so that the platform calls by ${other} and the token is refused`;
    return [fault('schema_of_other_transport', what, mend)];
  }
  return [fault('schema_wrong', `its schema is ${shownText(schemaId)}`, mend)];
});

/** The registered address is the configured one, character for character (J-19). */
export const urlCheck = recordCheck(
  // With the schema of another transport the address differs as well (W-03).
  { id: 'url', title: 'its address is the configured one, character for character', needs: ['schema'] },
  ({ wanted, record }) => {
    if (record.url === undefined) return { skipped: 'the record has no address' };
    const compared = compareUrls(record.url, wanted.url);
    if (compared.kind === 'same') return [];
    const secrets = [record.nonce, record.jwsToken];
    if (!isSafe(record.url)) {
      const what = `its address is without TLS, and calls would cross the network in plain (registered ${shownText(record.url, secrets)})`;
      return [fault('url_form', what, 'register an https:// or wss:// address; without TLS only on this machine')];
    }
    const pair = `registered ${shownText(record.url, secrets)}, configured ${shownText(wanted.url)}`;
    if (compared.kind === 'other' && wanted.transport === 'websocket' && !isSocketOrigin(record.url)) {
      // W-03: the platform appends a path to the registered address.
      const what = `its address is none for WebSocket, which has neither path nor other scheme than wss (${pair})`;
      return [fault('url_form', what, 'register scheme, host and port alone: wss://HOST or wss://HOST:PORT')];
    }
    if (compared.kind === 'other') {
      return [fault('url_wrong', `its address is another one (${pair})`, 'make both the address that the platform can reach')];
    }
    const what = `its address is the same and spelt differently: ${compared.differences.join(', ')} (${pair})`;
    return [fault('url_spelling', what, 'write both alike to the character, because tokens are compared so')];
  },
);

/** Whether calls to an address are encrypted or stay on this machine. */
function isSafe(url: string): boolean {
  if (!URL.canParse(url)) return true;
  const { protocol, hostname } = new URL(url);
  return !['http:', 'ws:'].includes(protocol) || isLoopback(hostname.replace(/^\[|\]$/gu, ''));
}

/** The platform delivers calls to the data source. */
export const statusCheck = recordCheck({ id: 'status', title: 'it is active' }, ({ record }) => {
  if (record.status === undefined) return { skipped: 'the record has no status' };
  if (isActive(record)) return [];
  const { status, errorMessage, nonce, jwsToken } = record;
  const why = errorMessage === undefined ? 'without a message' : `with the message "${shownText(errorMessage, [nonce, jwsToken])}"`;
  const what = `it is ${shownText(status)}, ${why}`;
  return [fault('not_active', what, 'mend what the message says, then start the server, which makes it active again')];
});
