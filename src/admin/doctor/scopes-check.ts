// Have the kept tokens the scopes that they need (5.1)? Only where the platform says which it has granted.
import type { Check } from './check.ts';
import { EVERYTHING, organizationSubject } from './subject.ts';

/** The tokens of the integration and of each organization may do what they are for. */
export const scopesCheck: Check = {
  id: 'scopes',
  title: 'its kept token has the scopes that are needed',
  needs: [],
  tasks: ({ scopes = [] }) =>
    scopes.map(({ organizationId, needed, granted }) => ({
      subject: organizationId === undefined ? EVERYTHING : organizationSubject(organizationId),
      run: () => {
        const missing = needed.filter((scope) => !granted.includes(scope));
        if (missing.length === 0) return [];
        const [whose, mend] =
          organizationId === undefined
            ? ['the integration', 'give the integration these scopes and log in again']
            : ['the app', 'give the app these scopes, then let the administrator withdraw the authorization and give it again'];
        const what = `the kept token of ${whose} lacks ${missing.join(' ')}`;
        return [{ code: 'scope_missing', severity: 'fault', what, where: 'scopes that the platform told with the token', mend }];
      },
    })),
};
