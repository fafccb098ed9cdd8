import { expect, it } from 'vitest';
import { foundIn, ORG, patients, saidIn } from './patient.ts';

const { admit } = patients();

it.each([
  [ORG, /the kept token of the app lacks a:write c:d; give the app these scopes, then let the administrator/u],
  [undefined, /the kept token of the integration lacks a:write c:d; give the integration these scopes and log in again/u],
])('names the scopes that a kept token of %s lacks (5.1)', async (organizationId, said) => {
  const patient = await admit();
  patient.changes = { scopes: [{ organizationId, needed: ['a:read', 'a:write', 'c:d'], granted: ['a:read', 'b:read'] }] };
  const results = await patient.examine();
  expect(foundIn(results)).toEqual(['scopes/scope_missing']);
  expect(saidIn(results)).toEqual([expect.stringMatching(said)]);
});
