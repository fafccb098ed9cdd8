// Which failure of the first check ends a start whose operator wants that: a mistake is to be seen at once, and neither an outage
// of the platform nor the trouble of one organization is to cost a call whose token is good. Pure comparison.
import type { AppError, ErrorCode } from '../../base/errors.ts';

export interface FirstFailure {
  readonly error: AppError;
  /** `app`: login and webhooks, which no call needs; `organizations`: no one in particular; else the UUID of the only one. */
  readonly of: 'app' | 'organizations' | { readonly organizationId: string };
}

/** What costs no call while the tokens are good that the store knows of: it passes, or is mended while calls come in. */
const CAN_WAIT: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'platform_unavailable',
  'platform_answer_invalid',
  'login_needed',
  'authorization_needed',
]);

/** What no organization can help, and no other one escapes. */
const ABOUT_ALL: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['config_invalid', 'profile_invalid', 'store_failed']);

export interface Serving {
  /** With tokens that were good before the start (L-15). */
  readonly isServing: boolean;
  /** UUIDs of the organizations whose calls can come in after the first check. */
  readonly served: readonly string[];
}

/**
 * The failure that ends the start; undefined when none does. An organization that has not authorized the app never ends it, and
 * what is wrong with one organization, or takes too long, only does when no other one is well.
 */
export function failureOfStart(failures: readonly FirstFailure[], { isServing, served }: Serving): AppError | undefined {
  const grave = failures.filter(({ error }) => error.code !== 'org_not_registered');
  const canWait = ({ code }: AppError): boolean => isServing && CAN_WAIT.has(code);
  const inTrouble = new Set(grave.flatMap(({ of, error }) => (typeof of === 'object' && !canWait(error) ? [of.organizationId] : [])));
  const isAnyWell = served.some((organizationId) => !inTrouble.has(organizationId));
  const ends = ({ error, of }: FirstFailure): boolean => {
    if (of === 'app') return !isServing;
    if (ABOUT_ALL.has(error.code)) return true;
    return !canWait(error) && !isAnyWell;
  };
  return grave.find(ends)?.error;
}
