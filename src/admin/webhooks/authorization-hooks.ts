// Notifies the operator's hooks of processed events of the service app: one result after another, each for a bounded time. Nothing in the
// server waits for the hooks.
import { linkAbort, waitAtMost, type LinkedAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import type { AuthorizationHook, AuthorizationResult } from './authorization-result.ts';

/** Most waiting results; further ones are dropped. */
const MAX_WAITING = 1000;

export interface NamedHook {
  /** The name of the hook in the log. */
  readonly name: 'callback' | 'command' | 'url';
  readonly run: AuthorizationHook;
  /** Releases the resources of the hook. Must not throw. */
  readonly close?: () => Promise<void>;
}

export interface AuthorizationHooksOptions {
  readonly hooks: readonly NamedHook[];
  /** Limit for one hook with one result, ms. */
  readonly limitMs: number;
  readonly clock: Clock;
  /** Called when a hook failed, took too long, or was not notified. Must not throw. */
  readonly onFailed: (hook: NamedHook['name'], result: AuthorizationResult, error: AppError) => void;
}

/** All hooks of one administration. Call `close`. */
export class AuthorizationHooks {
  readonly #options: AuthorizationHooksOptions;
  readonly #over: LinkedAbort = linkAbort();
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(options: AuthorizationHooksOptions) {
    this.#options = options;
  }

  /** Notifies every hook after it has been notified of earlier results. Never throws. */
  notify(result: AuthorizationResult): void {
    const { hooks, onFailed } = this.#options;
    if (hooks.length === 0 || this.#over.isAborted) return;
    if (this.#waiting >= MAX_WAITING) {
      for (const { name } of hooks) onFailed(name, result, new AppError('hook_failed', 'too many results wait for the hooks before'));
      return;
    }
    this.#waiting += 1;
    this.#last = this.#last.then(async () => {
      await Promise.all(hooks.map((hook) => this.#run(hook, result)));
      this.#waiting -= 1;
    });
  }

  /** Aborts running hooks, drops waiting results and closes all hooks. */
  async close(): Promise<void> {
    this.#over.abort('shutdown');
    await this.#last;
    await Promise.all(this.#options.hooks.map(async ({ close }) => close?.()));
  }

  /** Never rejects. */
  async #run({ name, run }: NamedHook, result: AuthorizationResult): Promise<void> {
    if (this.#over.isAborted) return;
    const { limitMs, clock, onFailed } = this.#options;
    const work = linkAbort(this.#over.signal);
    try {
      const running = Promise.resolve().then(() => run(result, work.signal));
      const waited = await waitAtMost(running, limitMs, clock, this.#over.signal);
      if (waited.kind !== 'timeout') return;
      work.abort('deadline');
      onFailed(name, result, new AppError('hook_failed', `it took longer than ${String(limitMs)} ms`));
    } catch (thrown) {
      if (!this.#over.signal.aborted) onFailed(name, result, toAppError(thrown, 'hook_failed', 'it failed'));
    } finally {
      work.dispose();
    }
  }
}
