// Checks the access to the platform: whether each organization has a token, whether the scopes suffice, and whether the clocks agree (5.1,
// 5.4).
import { AppError, ERROR_MENDS } from '../../base/errors.ts';
import type { Check, CheckTask, CheckTools, Verdict } from './check.ts';
import type { DoctorContext, ExaminedOrganization } from './context.ts';
import { fault, type Found } from './finding.ts';
import { EVERYTHING, organizationSubject } from './subject.ts';

/** Largest allowed difference of the clocks, ms: the same as in the token check (J-16). */
const MAX_SKEW_MS = 30_000;
/** Resolution of the Date header, ms. */
const DATE_STEP_MS = 1000;
/** New scopes apply only after another authorization (5.1). */
const AUTHORIZE_AGAIN = 'then let the administrator withdraw the authorization and give it again';

/** For each organization, a token of the app is stored and is valid or can be renewed. */
export const organizationTokenCheck: Check = {
  id: 'organization_token',
  title: 'a token of the app is kept and good',
  needs: [],
  tasks: (context) => {
    const { organizations, profile } = context;
    const { consoleName } = profile.admin;
    if (organizations?.length === 0) {
      const what = 'no organization has authorized the app, and none is named in admin.organizations';
      const mend = `let an administrator authorize the app in ${consoleName}, and name the organization where no webhook notifies us`;
      return [{ subject: EVERYTHING, run: () => [fault('no_organization', what, mend)] }];
    }
    return inEach(context, async (organization, { signal }) => {
      if (!(await organization.isStored())) {
        const mend = `let its administrator authorize the app in ${consoleName}, and start the server, which asks for the token`;
        return [fault('token_not_stored', 'no token of the app is kept for it', mend)];
      }
      // Throws the platform's reason, which has its own advice.
      return unlessUnauthorized(() => organization.tokens.current(signal));
    });
  },
};

/** The data sources of each organization can be read. */
export const platformAccessCheck: Check = {
  id: 'platform_access',
  title: 'its data sources may be read',
  needs: ['organization_token'],
  tasks: (context) =>
    inEach(context, async ({ id, dataSources }, { signal, notes }) => {
      const where = `${organizationSubject(id).text}, list of data sources`;
      try {
        return await unlessUnauthorized(async () => notes.lists.set(id, await dataSources.list(signal)), where);
      } catch (thrown) {
        const scopes = context.profile.oauth?.serviceAppScopes ?? [];
        return [scopeFinding(thrown, where, `give the app the scopes ${scopes.join(' ')}, ${AUTHORIZE_AGAIN}`)];
      }
    }),
};

function inEach(
  { organizations = [] }: DoctorContext,
  run: (organization: ExaminedOrganization, tools: CheckTools) => Promise<Verdict>,
): readonly CheckTask[] {
  return organizations.map((one) => ({ subject: organizationSubject(one.id), run: (tools) => run(one, tools) }));
}

/** Runs `work` with the tokens of an organization; a withdrawn authorization becomes a finding (6.5, H-26). */
async function unlessUnauthorized(work: () => Promise<unknown>, where?: string): Promise<readonly Found[]> {
  try {
    await work();
    return [];
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== 'org_not_registered') throw thrown;
    return [fault('not_authorized', thrown.message, ERROR_MENDS.org_not_registered, where)];
  }
}

/** Converts a refusal for missing rights to a finding. @throws every other error unchanged. */
export function scopeFinding(thrown: unknown, where: string, mend: string): Found {
  const isRefusal = thrown instanceof AppError && thrown.code === 'platform_refused' && thrown.details['status'] === 403;
  if (!isRefusal) throw thrown;
  return fault('scope_missing', `the platform refuses for missing rights (${thrown.message})`, mend, where);
}

/** The tokens of the integration and of each organization have the necessary scopes (5.1), if the platform names the scopes. */
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
            : ['the app', `give the app these scopes, ${AUTHORIZE_AGAIN}`];
        const what = `the kept token of ${whose} lacks ${missing.join(' ')}`;
        return [fault('scope_missing', what, mend, 'scopes that the platform named with the token')];
      },
    })),
};

/** The platform's clock agrees with ours. */
export const clockCheck: Check<Pick<DoctorContext, 'platformDate'>> = {
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
        if (Number.isNaN(dateMs)) return { skipped: 'the platform does not say its time' };
        return skewFindings(dateMs, { beforeMs, afterMs }, 'the platform', 'Date header of the platform');
      },
    },
  ],
};

/**
 * Compares a clock that was read elsewhere, with a resolution of seconds, with our clock.
 *
 * @param dateMs - the time it showed, ms since the epoch; NaN: none.
 * @param asked - our time before and after the request, ms since the epoch.
 */
export function skewFindings(
  dateMs: number,
  { beforeMs, afterMs }: { readonly beforeMs: number; readonly afterMs: number },
  whose: string,
  where?: string,
): readonly Found[] {
  // Positive: our clock is behind. The other clock was read at an unknown moment between request and response.
  const skewMs = Math.max(0, dateMs - afterMs) - Math.max(0, beforeMs - DATE_STEP_MS - dateMs);
  if (Number.isNaN(skewMs) || Math.abs(skewMs) <= MAX_SKEW_MS) return [];
  const what = `this machine is ${String(Math.round(Math.abs(skewMs) / 1000))} s ${skewMs > 0 ? 'behind' : 'ahead of'} ${whose}`;
  const mend = 'let a time service set the clock, otherwise good tokens count as over or as not yet valid';
  return [fault('clock_skew', what, mend, where)];
}
