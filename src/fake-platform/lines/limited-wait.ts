// The wait for one answer of a server. Knows no wire.
import type { Clock } from '../../base/clock.ts';
import type { Failure } from './failure.ts';

export interface Wait {
  readonly clock: Clock;
  /** What the server is asked for, in words for messages. */
  readonly what: string;
  readonly limitMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Asks, and waits for the answer or an error. @param ask - not called when `signal` has already aborted. */
export function limitedWait<Answer>(
  { clock, what, limitMs, signal }: Wait,
  ask: (settle: (result: Answer | Failure) => void) => void,
): Promise<Answer | Failure> {
  return new Promise((resolve) => {
    const settle = (result: Answer | Failure): void => {
      cancelTimer();
      signal?.removeEventListener('abort', onAbort);
      resolve(result);
    };
    const onAbort = (): void => settle({ code: 'no_answer', message: `the server was not waited for to ${what}` });
    const cancelTimer = clock.after(limitMs, () => {
      settle({ code: 'no_answer', message: `the server did not ${what} within ${String(limitMs)} ms` });
    });
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted === true) onAbort();
    else ask(settle);
  });
}
