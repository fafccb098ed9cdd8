// The data sources of an organization, for its service app: register, list, get, update, delete. A token reads and changes only the data
// sources of its own organization.
import type { ServiceApp } from './apps.ts';
import type { DataSourceBook, DataSourceRecord, DataSourceWords } from './data-source-book.ts';
import { addressFault, listToWire, partialUpdate, recordToWire, registration, wholeUpdate } from './data-source-wire.ts';
import type { Platform } from './platform.ts';
import { parsed, Refusal } from './refusal.ts';
import type { Answer, GuardedRoute, Permitted } from './route.ts';
import type { Grant } from './token-book.ts';

type Changes = { readonly [Key in keyof DataSourceWords]?: DataSourceWords[Key] | undefined };

export function dataSourceRoutes(platform: Platform): readonly GuardedRoute[] {
  const { dataSourceBook: book, switches } = platform;
  const wired = (record: DataSourceRecord, status = 200): Answer => ({ status, json: recordToWire(record, switches.drift) });

  const register = async ({ body, grant }: Permitted): Promise<Answer> => {
    const words: DataSourceWords = { ...parsed(registration, body), status: 'active', errorMessage: '' };
    const app = appOf(platform, grant);
    demandSound(platform, app, words);
    const owner = { applicationId: app.clientId, orgId: grant.organizationId, createdBy: grant.accountId };
    return wired(await book.add(words, owner), switches.drift.created201 ? 201 : 200);
  };

  const update = async ({ id, body, grant }: Permitted): Promise<Answer> => {
    const record = own(book, id, grant);
    const app = appOf(platform, grant);
    if (record.applicationId !== app.clientId) throw new Refusal(403, 'the data source is of another service app');
    const changes: Changes = parsed(switches.updates === 'whole' ? wholeUpdate : partialUpdate, body);
    const words = changed(record, switches.schemaChanges === 'taken' ? changes : { ...changes, schemaId: record.schemaId });
    demandSound(platform, app, words);
    return wired(await book.change(record, words));
  };

  const remove = ({ id, grant }: Permitted): Answer => {
    const record = own(book, id, grant);
    if (record.applicationId !== grant.clientId) throw new Refusal(403, 'the data source is of another service app');
    book.delete(id);
    return { status: 204 };
  };

  const lists = { both: ['/dataSources', '/dataSources/'], bare: ['/dataSources'], slash: ['/dataSources/'] };
  const list = (path: string, grant: Grant): Answer => {
    if (!lists[switches.drift.listPath].includes(path)) throw new Refusal(404, 'there is no such path');
    return { status: 200, json: listToWire(book.of(grant.organizationId), switches.drift) };
  };

  return [
    {
      name: 'GET /dataSources',
      paths: ['/dataSources', '/dataSources/'],
      needs: 'dataSourceRead',
      answer: ({ path, grant }) => list(path, grant),
    },
    { name: 'POST /dataSources', needs: 'dataSourceWrite', takes: 'json', answer: register },
    { name: 'GET /dataSources/:id', needs: 'dataSourceRead', answer: ({ id, grant }) => wired(own(book, id, grant)) },
    { name: 'PUT /dataSources/:id', needs: 'dataSourceWrite', takes: 'json', answer: update },
    { name: 'DELETE /dataSources/:id', needs: 'dataSourceWrite', answer: remove },
  ];
}

/** A data source of the token's organization. Any other is answered with 404, as if it did not exist. */
function own(book: DataSourceBook, id: string, grant: Grant): DataSourceRecord {
  const record = book.find(id);
  if (record?.orgId === grant.organizationId) return record;
  throw new Refusal(404, 'there is no such data source');
}

function appOf({ apps }: Platform, { clientId }: Grant): ServiceApp {
  const app = apps.serviceApp(clientId);
  if (app === undefined) throw new Refusal(403, 'only a service app can do this');
  return app;
}

/** The data source after an update. Changing the status to `disabled` demands an `errorMessage` in the same body. */
function changed(record: DataSourceRecord, changes: Changes): DataSourceWords {
  const status = changes.status ?? record.status;
  const isSwitchedOff = status === 'disabled' && record.status === 'active';
  if (isSwitchedOff && (changes.errorMessage ?? '') === '') {
    throw new Refusal(400, 'the request is not valid', { descriptions: ['errorMessage: is needed to disable a data source'] });
  }
  return {
    audience: changes.audience ?? record.audience,
    subject: changes.subject ?? record.subject,
    nonce: changes.nonce ?? record.nonce,
    schemaId: changes.schemaId ?? record.schemaId,
    url: changes.url ?? record.url,
    tokenLifetimeMinutes: changes.tokenLifetimeMinutes ?? record.tokenLifetimeMinutes,
    status,
    errorMessage: status === 'active' ? '' : (changes.errorMessage ?? record.errorMessage),
  };
}

function demandSound({ schemas, names }: Platform, app: ServiceApp, { schemaId, url }: DataSourceWords): void {
  const allowLoopbackHttp = names.rest.allowLoopbackHttp === true;
  const schema = schemas.find(({ id }) => id === schemaId);
  const fault =
    schema === undefined
      ? 'schemaId: there is no such schema'
      : addressFault(url, { protocol: schema.protocol, domains: app.domains, allowLoopbackHttp });
  if (fault !== undefined) throw new Refusal(400, 'the request is not valid', { descriptions: [fault] });
}
