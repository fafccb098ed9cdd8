// Makes a server not ready while nobody has logged in with the integration, if no calls can come in without a login.
import type { DataSourceState } from '../admin/lifecycle/data-source-reconciler.ts';
import type { AppError, ErrorCode } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';

/** Errors that only a new login resolves. */
const DEAD_LOGIN: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['login_needed', 'authorization_needed']);

/** Whether only a new login resolves the error. When the platform does not answer, nothing is known about the login. */
export function isLoginDead(error: AppError | undefined): boolean {
  return error !== undefined && DEAD_LOGIN.has(error.code);
}

export interface LoginWaitParts {
  /** Makes the server not ready until the returned function is called. */
  readonly holdForLogin: () => () => void;
  readonly log: Logger;
}

/** Holds the readiness while a login is missing and no data source is served with earlier tokens. */
export class LoginWait {
  readonly #parts: LoginWaitParts;
  #isDead = false;
  #release: (() => void) | undefined;

  constructor(parts: LoginWaitParts) {
    this.#parts = parts;
  }

  /** Takes the result of a login check, see {@link AdministrationObserver.loginChecked}. */
  checked(error: AppError | undefined): void {
    if (error === undefined || isLoginDead(error)) this.#isDead = error !== undefined;
  }

  /**
   * @param isStored - whether the store has a login.
   * @param states - all data sources.
   */
  update(isStored: boolean, states: readonly Pick<DataSourceState, 'isServed'>[]): void {
    const { holdForLogin, log } = this.#parts;
    const isAwaited = (this.#isDead || !isStored) && !states.some(({ isServed }) => isServed);
    if (isAwaited === (this.#release !== undefined)) return;
    if (isAwaited) {
      this.#release = holdForLogin();
      log.warn({ event: 'login_awaited' }, 'no calls can come before somebody logs in with the integration: parley admin login');
    } else {
      this.#release?.();
      this.#release = undefined;
      log.info({ event: 'login_there' }, 'somebody has logged in, or tokens of before are good');
    }
  }
}
