// Can the platform be asked at all: is there a token of the organization, is it good for what it is needed for, and do our
// clocks agree (5.1, 5.4)?
import { AppError, ERROR_MENDS } from '../../base/errors.ts';
import type { PlatformProfile } from '../../contract/profile.ts';
import type { Check, Finding } from './check.ts';
import { EVERYTHING, organizationSubject } from './subject.ts';

/** Largest difference that is let pass, ms: the token check allows as much (J-16). */
const MAX_SKEW_MS = 30_000;
/** The Date header has no fractions of a second. */
const DATE_STEP_MS = 1000;

/** A token of the app is kept for each organization, and is good or can be renewed. */
export const organizationTokenCheck: Check = {
  id: 'organization_token',
  title: 'a token of the app is kept and good',
  needs: [],
  tasks: ({ organizations, profile }) =>
    organizations?.length === 0
      ? [{ subject: EVERYTHING, run: () => [noOrganization(profile)] }]
      : (organizations ?? []).map((organization) => ({
          subject: organizationSubject(organization.id),
          async run({ signal }) {
            const where = organizationSubject(organization.id).text;
            if (!(await organization.isStored())) {
              const mend = `let its administrator authorize the app in ${profile.admin.consoleName}, and start the server, which asks for the token`;
              return [{ code: 'token_not_stored', severity: 'fault', what: 'no token of the app is kept for it', where, mend }];
            }
            // Throws what the platform says against it, with its own mend.
            return unlessUnauthorized(where, async () => {
              await organization.tokens.current(signal);
            });
          },
        })),
};

function noOrganization({ admin }: PlatformProfile): Finding {
  const what = 'no organization has authorized the app, and none is named in admin.organizations';
  const mend = `let an administrator authorize the app in ${admin.consoleName}, and name the organization where no webhook tells of it`;
  return { code: 'no_organization', severity: 'fault', what, where: EVERYTHING.text, mend };
}

/** The data sources of the organization may be read. */
export const platformAccessCheck: Check = {
  id: 'platform_access',
  title: 'its data sources may be read',
  needs: ['organization_token'],
  tasks: ({ organizations, profile }) =>
    (organizations ?? []).map(({ id, dataSources }) => ({
      subject: organizationSubject(id),
      async run({ signal, notes }) {
        const where = `${organizationSubject(id).text}, list of data sources`;
        try {
          return await unlessUnauthorized(where, async () => {
            notes.lists.set(id, await dataSources.list(signal));
          });
        } catch (thrown) {
          const scopes = profile.oauth?.serviceAppScopes ?? [];
          // Changed scopes count only after another authorization (5.1).
          const mend = `give the app the scopes ${scopes.join(' ')}, then let the administrator withdraw the authorization and give it again`;
          return [scopeFinding(thrown, where, mend)];
        }
      },
    })),
};

/** Does something with the tokens of an organization; that it has taken its authorization back is a finding (6.5, H-26). */
async function unlessUnauthorized(where: string, work: () => Promise<void>): Promise<readonly Finding[]> {
  try {
    await work();
    return [];
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== 'org_not_registered') throw thrown;
    return [{ code: 'not_authorized', severity: 'fault', what: thrown.message, where, mend: ERROR_MENDS.org_not_registered }];
  }
}

/** A refusal for missing rights, told as such. @throws every other failure as it is. */
export function scopeFinding(thrown: unknown, where: string, mend: string): Finding {
  const isRefusal = thrown instanceof AppError && thrown.code === 'platform_refused' && thrown.details['status'] === 403;
  if (!isRefusal) throw thrown;
  return { code: 'scope_missing', severity: 'fault', what: `the platform refuses for missing rights (${thrown.message})`, where, mend };
}

/** Our clock and the platform's agree. */
export const clockCheck: Check = {
  id: 'clock',
  title: 'our clock agrees with the platform',
  needs: [],
  tasks: ({ platformDate }) => [
    {
      subject: EVERYTHING,
      async run({ signal, clock }) {
        if (platformDate === undefined) return { skipped: 'nobody asks the platform for its time' };
        const beforeMs = clock.nowMs();
        const header = await platformDate(signal);
        const afterMs = clock.nowMs();
        const dateMs = Date.parse(header ?? '');
        if (Number.isNaN(dateMs)) return { skipped: 'the platform does not tell its time' };
        // Positive: we are late. The answer was written at some moment between asking and hearing.
        const skewMs = Math.max(0, dateMs - afterMs) - Math.max(0, beforeMs - DATE_STEP_MS - dateMs);
        if (Math.abs(skewMs) <= MAX_SKEW_MS) return [];
        const what = `this machine is ${String(Math.round(Math.abs(skewMs) / 1000))} s ${skewMs > 0 ? 'behind' : 'ahead of'} the platform`;
        const mend = 'let a time service set the clock, otherwise good tokens count as over or as not yet valid';
        return [{ code: 'clock_skew', severity: 'fault', what, where: 'Date header of the platform', mend }];
      },
    },
  ],
};
