// Which failure of the first look ends a start whose operator wants that: a mistake is to be seen at once, and an outage of the
// platform is to cost no call whose token is good. Looks at errors, does nothing about them.
import type { AppError, ErrorCode } from '../../base/errors.ts';

/** Something that failed at the first look. */
export interface FirstFailure {
  readonly error: AppError;
  /** It is about the registrations of webhooks alone: no call needs them. */
  readonly isOfWebhooks: boolean;
}

/** What costs no call while the tokens are good that the store knows of: it passes, or is mended while calls come in. */
const CAN_WAIT: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'platform_unavailable',
  'platform_answer_invalid',
  'login_needed',
  'authorization_needed',
]);

/**
 * The failure that ends the start; undefined when none does. An organization that has not authorized the app never ends it.
 *
 * @param isServing - calls can come in with tokens that were good before the start (L-15).
 */
export function failureOfStart(failures: readonly FirstFailure[], isServing: boolean): AppError | undefined {
  const grave = failures.filter(({ error }) => error.code !== 'org_not_registered');
  return grave.find(({ error, isOfWebhooks }) => !isServing || !(isOfWebhooks || CAN_WAIT.has(error.code)))?.error;
}
