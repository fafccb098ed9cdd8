// A small part of `npm run check -- renewal`: nonces are renewed while calls come in, the platform fails and the server is
// started again. What is demanded stands in test/renewal/rehearsal.ts.
import { expect, it } from 'vitest';
import { rehearse } from '../renewal/rehearsal.ts';

it('J-05 L-09 R-12 no renewal costs a call, and none is made twice, whatever goes wrong with the platform', async () => {
  const result = await rehearse({ rotations: 10, organizations: 5, restarts: 2, callers: 1, seed: 1 });
  expect(result).toMatchObject({ ok: true, described: [], refusedCalls: 0, duplicateDataSources: 0, doubleRenewals: 0, restarts: 2 });
  expect(result.calls).toBeGreaterThan(50);
  expect(result.faults).toBeGreaterThan(3);
}, 120_000);
