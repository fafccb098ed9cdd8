// What the administration side needs from a profile: sections that a profile may omit, and the purpose of each scope. Knows nothing about
// requests.
import { AppError } from '../../base/errors.ts';
import type { PlatformProfile } from '../../contract/profile.ts';

export type ScopeUse = keyof typeof SCOPE_ENDINGS;

/** The sections for the administration side, none of them undefined. */
export interface AdminNames {
  readonly rest: NonNullable<PlatformProfile['rest']>;
  readonly oauth: NonNullable<PlatformProfile['oauth']>;
  readonly ids: NonNullable<PlatformProfile['ids']>;
  readonly webhook: NonNullable<PlatformProfile['webhook']>;
  readonly scopes: Readonly<Record<ScopeUse, string>>;
}

// A profile lists scopes without their purpose; the ending of a scope shows it.
const SCOPE_ENDINGS = {
  applicationToken: 'applications_token',
  webhooksRead: 'webhooks_read',
  webhooksWrite: 'webhooks_write',
  dataSourceRead: 'datasource_read',
  dataSourceWrite: 'datasource_write',
} as const;

/** The names in a profile. @throws AppError `profile_invalid` when a section or a scope is missing. */
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
