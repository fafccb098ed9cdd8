// What the administration side needs of a profile: the sections that a profile may leave out, and which scope is good
// for what. Knows nothing of requests.
import { AppError } from '../../base/errors.ts';
import type { PlatformProfile } from '../../contract/profile.ts';

/** What a scope is good for. */
export type ScopeUse = keyof typeof SCOPE_ENDINGS;

/** Names of the administration side, none of them absent. */
export interface AdminNames {
  readonly rest: NonNullable<PlatformProfile['rest']>;
  readonly oauth: NonNullable<PlatformProfile['oauth']>;
  readonly ids: NonNullable<PlatformProfile['ids']>;
  readonly webhook: NonNullable<PlatformProfile['webhook']>;
  readonly scopes: Readonly<Record<ScopeUse, string>>;
}

// A profile lists scopes without saying what each is for; how they end does.
const SCOPE_ENDINGS = {
  applicationToken: 'applications_token',
  webhooksRead: 'webhooks_read',
  webhooksWrite: 'webhooks_write',
  dataSourceRead: 'datasource_read',
  dataSourceWrite: 'datasource_write',
} as const;

/** @throws AppError `profile_invalid` when a section or a scope is missing. */
export function adminNames(profile: PlatformProfile): AdminNames {
  const { rest, oauth, ids, webhook } = profile;
  if (rest === undefined || oauth === undefined || ids === undefined || webhook === undefined) {
    throw new AppError('profile_invalid', `the profile of ${profile.name} has no section rest, oauth, ids or webhook`);
  }
  const scopes = [...oauth.integrationScopes, ...oauth.serviceAppScopes];
  const find = (use: ScopeUse): string => {
    const found = scopes.find((scope) => scope.endsWith(SCOPE_ENDINGS[use]));
    if (found !== undefined) return found;
    throw new AppError('profile_invalid', `the profile of ${profile.name} has no scope that ends in ${SCOPE_ENDINGS[use]}`);
  };
  return {
    rest,
    oauth,
    ids,
    webhook,
    scopes: {
      applicationToken: find('applicationToken'),
      webhooksRead: find('webhooksRead'),
      webhooksWrite: find('webhooksWrite'),
      dataSourceRead: find('dataSourceRead'),
      dataSourceWrite: find('dataSourceWrite'),
    },
  };
}
