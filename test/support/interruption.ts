// What a signal that a bot got says of its abort: an error that the world knows, with our reason in it.
import { expect } from 'vitest';
import { Interruption } from '../../src/base/abort.ts';

/** Demands a `DOMException` named AbortError. @returns the reason that it carries. */
export function reasonOf(signal: AbortSignal | undefined): unknown {
  const reason: unknown = signal?.reason;
  expect(reason).toBeInstanceOf(DOMException);
  expect(reason).toMatchObject({ name: 'AbortError' });
  return reason instanceof Interruption ? reason.cause : undefined;
}
