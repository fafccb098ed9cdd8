// What the page asks of the server that serves it. Nothing else goes over the network.
import { useEffect, useState } from 'preact/hooks';
import type { ApiRefusal, SignIn } from '../../src/ops/console-api.ts';

/** Longest wait for an answer, ms. */
const LIMIT_MS = 10_000;

/** The server refuses, or cannot be reached. */
export class Refused extends Error {
  /** HTTP status; 0: there was no answer. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The answer of `GET /api/…`. @throws Refused */
export async function ask<Answer>(path: string): Promise<Answer> {
  const response = await send(path);
  return (await response.json()) as Answer;
}

/** @throws Refused when the token is none. */
export async function signIn(token: string): Promise<void> {
  const body = JSON.stringify({ token } satisfies SignIn);
  await send('session', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

export async function signOut(): Promise<void> {
  await send('session', { method: 'DELETE' });
}

async function send(path: string, init?: RequestInit): Promise<Response> {
  const response = await fetch(`../api/${path}`, { ...init, signal: AbortSignal.timeout(LIMIT_MS) }).catch(() => undefined);
  if (response === undefined) throw new Refused(0, 'The server does not answer.');
  if (!response.ok) {
    const { error } = (await response.json().catch(() => ({ error: response.statusText }))) as ApiRefusal;
    throw new Refused(response.status, error);
  }
  return response;
}

/** What was last answered, and why there is no newer one. */
export interface Polled<Answer> {
  readonly answer?: Answer;
  readonly refused?: Refused;
}

/** Asks again and again while the page is seen, until `isLast`, which must stay the same function; another path asks at once. */
export function usePolled<Answer>(path: string, everyMs: number, isLast: (answer: Answer) => boolean = never): Polled<Answer> {
  const [polled, setPolled] = useState<Polled<Answer>>({});
  useEffect(() => {
    let [isOver, timer] = [false, 0];
    const poll = async (): Promise<void> => {
      if (document.visibilityState === 'visible') {
        const next = await ask<Answer>(path).then(
          (answer) => ({ answer }),
          (thrown: unknown) => ({ refused: thrown instanceof Refused ? thrown : new Refused(0, 'The answer is unreadable.') }),
        );
        if (isOver) return;
        setPolled('answer' in next ? next : (before) => ({ ...before, ...next }));
        if ('answer' in next && isLast(next.answer)) return;
      }
      timer = setTimeout(() => void poll(), everyMs);
    };
    void poll();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [path, everyMs, isLast]);
  return polled;
}

function never(): boolean {
  return false;
}
