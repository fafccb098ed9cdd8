// Nothing is changed at the platform, and no token renewed, unless the server of the shared store has just said that this process
// is the one that renews (L-10). Where a process is alone, everything is as it is.
import type { Renewing } from '../kept-tokens.ts';
import type { RegistrationsOptions } from '../webhooks/registration.ts';
import type { DataSourcesApi, Leader } from './ports.ts';

type WebhooksApi = RegistrationsOptions['api'];

/** Renewals of tokens: a refresh token that a deposed process uses up is lost to the one that renews. */
export function confirmedRenewing(leader: Leader | undefined): Renewing | undefined {
  if (leader === undefined) return undefined;
  return async (renewal) => {
    await leader.confirm();
    return renewal();
  };
}

/** Changes of data sources. */
export function confirmedDataSources(api: DataSourcesApi, leader: Leader | undefined): DataSourcesApi {
  if (leader === undefined) return api;
  return {
    list: (signal) => api.list(signal),
    get: (id, signal) => api.get(id, signal),
    create: (create, signal) => leader.confirm().then(() => api.create(create, signal)),
    update: (id, update, signal) => leader.confirm().then(() => api.update(id, update, signal)),
    delete: (id, signal) => leader.confirm().then(() => api.delete(id, signal)),
  };
}

/** Changes of webhooks. */
export function confirmedWebhooks(api: WebhooksApi, leader: Leader | undefined): WebhooksApi {
  if (leader === undefined) return api;
  return {
    list: (signal) => api.list(signal),
    create: (create, signal) => leader.confirm().then(() => api.create(create, signal)),
    update: (id, update, signal) => leader.confirm().then(() => api.update(id, update, signal)),
    delete: (id, signal) => leader.confirm().then(() => api.delete(id, signal)),
  };
}
