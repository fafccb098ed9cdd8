// Cancellation chains (process → session → turn → handler) without leaks. `AbortSignal.any` is not used: under a
// long-lived parent Node 20.20 kept about 1.2 KB per composite signal after a forced GC (measured 2026-11-21).
import { setMaxListeners } from 'node:events';
import type { Clock } from './clock.ts';

/** Why work is stopped. Cancellation is no error; the reason says what happened to the caller. */
export type AbortReason = 'hang_up' | 'barge_in' | 'superseded' | 'deadline' | 'shutdown';

/** An abort controller that follows a parent signal. Its owner must call `dispose` when the work is over. */
export interface LinkedAbort {
  /** Created on first use: many turns end without a listener. */
  readonly signal: AbortSignal;
  /** `signal.aborted`, without creating the signal. */
  readonly isAborted: boolean;
  abort(reason: AbortReason): void;
  /** Removes the listener from the parent. Does not abort the signal. */
  dispose(): void;
}

/** Creates a controller that aborts with its parent's reason when the parent does. */
export function linkAbort(parent?: AbortSignal): LinkedAbort {
  return new LazyAbort(parent, (reason) => reason);
}

/** As {@link linkAbort}, for foreign code: its signal aborts with an {@link Interruption}. */
export function linkForeignAbort(parent?: AbortSignal): LinkedAbort {
  return new LazyAbort(parent, interruptionFor);
}

const interruptions = new Map<string, Interruption>();

/** One per {@link AbortReason}, shared by all calls: creating one costs as much as ten frames of audio. */
function interruptionFor(reason: unknown): Interruption {
  if (typeof reason !== 'string') return new Interruption(reason);
  const known = interruptions.get(reason) ?? new Interruption(reason);
  interruptions.set(reason, known);
  return known;
}

/** The reason in the form that foreign code expects: `fetch(url, { signal })` rejects with it. */
export class Interruption extends DOMException {
  /** The {@link AbortReason}. */
  override readonly cause: unknown;

  constructor(reason: unknown) {
    super(`nobody waits for this any more: ${String(reason)}`, 'AbortError');
    this.cause = reason;
  }
}

// Lazy, because a controller with its signal costs some µs, and a listener on a parent as much again.
class LazyAbort implements LinkedAbort {
  /** Undefined after `dispose`. */
  #parent: AbortSignal | undefined;
  #controller: AbortController | undefined;
  /** Set when aborted before anybody asked for the signal. */
  #early: { readonly reason: unknown } | undefined;
  readonly #shown: (reason: unknown) => unknown;

  /** @param shown - turns the reason of an abort into the reason of the signal. */
  constructor(parent: AbortSignal | undefined, shown: (reason: unknown) => unknown) {
    this.#parent = parent;
    this.#shown = shown;
  }

  get signal(): AbortSignal {
    this.#controller ??= this.#made();
    return this.#controller.signal;
  }

  get isAborted(): boolean {
    return this.#controller?.signal.aborted ?? (this.#early !== undefined || this.#parent?.aborted === true);
  }

  abort(reason: AbortReason): void {
    if (this.#controller !== undefined) this.#stop(this.#controller, reason);
    // After the parent has aborted, its reason stays.
    else if (!this.isAborted) this.#early = { reason };
  }

  dispose(): void {
    const parent = this.#parent;
    this.#parent = undefined;
    if (this.#controller !== undefined) parent?.removeEventListener('abort', this.#follow);
    else if (parent?.aborted === true) this.#early ??= { reason: parent.reason };
  }

  readonly #follow = (): void => {
    if (this.#controller !== undefined) this.#stop(this.#controller, this.#parent?.reason);
  };

  #stop(controller: AbortController, reason: unknown): void {
    if (!controller.signal.aborted) controller.abort(this.#shown(reason));
  }

  #made(): AbortController {
    const controller = new AbortController();
    // A session's signal has more listeners (turns, prompts, waits) than the ten that Node takes for a leak.
    setMaxListeners(0, controller.signal);
    const parent = this.#parent;
    if (this.#early !== undefined) this.#stop(controller, this.#early.reason);
    else if (parent?.aborted === true) this.#stop(controller, parent.reason);
    else parent?.addEventListener('abort', this.#follow, { once: true });
    return controller;
  }
}

/** As {@link linkAbort}, and aborts with `deadline` after `limitMs`. `dispose` also cancels that timer. */
export function abortAfter(limitMs: number, clock: Clock, parent?: AbortSignal): LinkedAbort {
  const linked = linkAbort(parent);
  const cancelTimer = clock.after(limitMs, () => {
    linked.abort('deadline');
  });
  return {
    get signal() {
      return linked.signal;
    },
    get isAborted() {
      return linked.isAborted;
    },
    abort: (reason) => {
      linked.abort(reason);
    },
    dispose: () => {
      cancelTimer();
      linked.dispose();
    },
  };
}

/** What a bounded wait ended with. */
export type Waited<T> = { readonly kind: 'value'; readonly value: T } | { readonly kind: 'timeout' } | { readonly kind: 'aborted' };

/**
 * Waits for `work` at most `limitMs`, and no longer once `signal` aborts. Does not stop the work: pass it a signal of its own.
 * A late rejection of abandoned work is ignored.
 *
 * @throws what `work` rejects with, when it rejects in time.
 */
export function waitAtMost<T>(work: Promise<T>, limitMs: number, clock: Pick<Clock, 'after'>, signal?: AbortSignal): Promise<Waited<T>> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void): void => {
      cancelTimer();
      signal?.removeEventListener('abort', onAbort);
      finish();
    };
    const onAbort = (): void => {
      settle(() => {
        resolve({ kind: 'aborted' });
      });
    };
    const cancelTimer = clock.after(limitMs, () => {
      settle(() => {
        resolve({ kind: 'timeout' });
      });
    });
    work.then(
      (value) => {
        settle(() => {
          resolve({ kind: 'value', value });
        });
      },
      (cause: unknown) => {
        settle(() => {
          reject(cause instanceof Error ? cause : new Error('rejected without an error', { cause }));
        });
      },
    );
    if (signal?.aborted === true) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/**
 * Waits for `ms`, or until `signal` aborts, whichever comes first. Default: nothing cuts the wait short.
 *
 * @returns false when `signal` cut the wait short.
 */
export async function pause(ms: number, clock: Clock, signal?: AbortSignal): Promise<boolean> {
  return (await waitAtMost(new Promise<never>(() => undefined), ms, clock, signal)).kind === 'timeout';
}
