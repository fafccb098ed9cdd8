// Selects the failure of the first check that ends the start, if the operator wants that. A mistake must be noticed at once, but neither an
// outage of the platform nor a problem of one organization may cost calls that have valid tokens. Pure comparison.
import type { AppError, ErrorCode } from '../../base/errors.ts';

export interface FirstFailure {
  readonly error: AppError;
  /** `app`: login and webhooks, which calls do not need; `organizations`: several organizations; otherwise one organization. */
  readonly of: 'app' | 'organizations' | { readonly organizationId: string };
}

/** Errors that do not affect calls while stored tokens are valid: they pass, or are fixed meanwhile. */
const CAN_WAIT: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'platform_unavailable',
  'platform_answer_invalid',
  'login_needed',
  'authorization_needed',
]);

/** Errors that affect all organizations. */
const ABOUT_ALL: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['config_invalid', 'profile_invalid', 'store_failed']);

export interface Serving {
  /** Whether a person can log in while the server runs, so that the server waits for a missing login. */
  readonly waitsForLogin: boolean;
  /** Whether an organization has tokens that were valid before the start (L-15). */
  readonly isServing: boolean;
  /** UUIDs of the organizations whose calls can come in after the first check. */
  readonly served: readonly string[];
}

/**
 * Returns the failure that ends the start; undefined: none. An organization that has not authorized the app never ends it. A failure or
 * timeout of one organization ends it only when no other organization works.
 */
export function failureOfStart(failures: readonly FirstFailure[], { waitsForLogin, isServing, served }: Serving): AppError | undefined {
  const isWaitedFor = ({ code }: AppError): boolean => waitsForLogin && code === 'login_needed';
  const grave = failures.filter(({ error }) => error.code !== 'org_not_registered' && !isWaitedFor(error));
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
