// The fake platform may not import what it tests: where both need a list, a test compares them.
import { expect, it } from 'vitest';
import type { SessionEnd } from '../../src/dialog/ending.ts';
import { SERVER_REASONS } from '../../src/fake-platform/cli/load/rehearsal.ts';
import { ADMISSION_REFUSALS } from '../../src/session/admission.ts';

it('a load knows every reason for which the server itself transfers a caller', () => {
  const ends = ['failed', 'too_long', 'shutdown'] satisfies readonly SessionEnd[];
  expect([...SERVER_REASONS].sort()).toEqual([...ADMISSION_REFUSALS, ...ends].sort());
});
