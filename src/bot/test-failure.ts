// What a test that fails shows.
import { AssertionError } from 'node:assert';

export function failure(message: string, actual: unknown, expected: unknown): AssertionError {
  return new AssertionError({ message, actual, expected });
}
