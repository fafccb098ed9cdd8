import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { inspectToken, type TokenInspection } from '../../../../src/admin/doctor/inspect-token.ts';
import { REFUSAL_HINTS, type RefusalReason } from '../../../../src/auth/refusal.ts';
import { signToken } from '../../../support/token-issuer.ts';
import { ORG, patients, PROFILE, type Patient } from './patient.ts';

const { admit, issuer } = patients();
/** Nobody listens there, and nobody connects. */
const NOWHERE = { port: 8443 };

function inspected(patient: Patient, token: string): Promise<TokenInspection> {
  return inspectToken(token, { verifier: patient.verifier, profile: PROFILE });
}

function expectSilent(inspection: TokenInspection, token: string): void {
  const told = JSON.stringify(inspection);
  expect(told).not.toContain('CANARY');
  for (const part of token.split('.')) expect(told).not.toContain(part);
}

describe('inspecting a token', () => {
  it('shows its claims and which data source the server would accept it for, and shows neither it nor its nonce', async () => {
    const patient = await admit(NOWHERE);
    const token = patient.token('grpc', { iat: 1_799_000_000, exp: Math.floor(patient.clock.nowMs() / 1000) + 600 });
    const inspection = await inspected(patient, ` Bearer ${token}\n`);
    expect(inspection).toEqual({
      transport: 'grpc',
      verdict: { isAccepted: true, principal: { organizationId: ORG, dataSourceId: 'source-grpc', transport: 'grpc' } },
      claims: {
        ...{ algorithm: 'RS256', keyId: 'key-1', issuer: issuer.server.issuer(), audience: 'TheAudience', subject: 'theSubject' },
        ...{ url: 'https://localhost:8443/line', schemaId: PROFILE.schemas.grpc, organizationId: ORG },
        ...{ issuedAt: '2027-01-03T18:13:20.000Z', notBefore: undefined },
        expiresAt: new Date(Math.floor(patient.clock.nowMs() / 1000 + 600) * 1000).toISOString(),
        nonceDigest: createHash('sha256').update('CANARY-nonce-grpc').digest('hex').slice(0, 8),
      },
    });
    expectSilent(inspection, token);
  });

  it('takes the transport from the schema, unless the transport is given (J-2E)', async () => {
    const patient = await admit(NOWHERE);
    const token = patient.token('websocket');
    expect(await inspected(patient, token)).toMatchObject({ transport: 'websocket', verdict: { isAccepted: true } });
    const told = await inspectToken(token, { verifier: patient.verifier, profile: PROFILE, transport: 'grpc' });
    expect(told.verdict).toMatchObject({ isAccepted: false, reason: 'schema_mismatch' });
  });

  it.each<readonly [RefusalReason, (patient: Patient) => string]>([
    ['nonce_mismatch', (patient) => patient.token('grpc', { jti: 'CANARY-other' })],
    ['expired', (patient) => patient.token('grpc', { exp: 1_000_000 })],
    ['issuer_mismatch', (patient) => patient.token('grpc', { iss: 'https://elsewhere.example.test' })],
    ['algorithm_refused', (patient) => patient.token('grpc', {}, { alg: 'none' })],
    ['audience_mismatch', (patient) => patient.token('grpc', { aud: ['TheAudience', 'CANARY-nonce-grpc'] })],
    ['expiry_missing', (patient) => patient.token('grpc', { exp: undefined, jti: 7 })],
  ])('says why it is refused and what to do: %s', async (reason, make) => {
    const patient = await admit(NOWHERE);
    const token = make(patient);
    const inspection = await inspected(patient, token);
    expect(inspection.verdict).toEqual({ isAccepted: false, reason, mend: REFUSAL_HINTS[reason] });
    expect(inspection.claims?.subject).toBe('theSubject');
    expectSilent(inspection, token);
  });

  it.each(['CANARY', 'Q0FOQVJZ.Q0FOQVJZ', 'Q0FOQVJZ.Q0FOQVJZ.Q0FOQVJZ.Q0FOQVJZ', 'CANARY-ü.€.x'])(
    'quotes nothing of what is no token (J-21): %s',
    async (token) => {
      const patient = await admit(NOWHERE);
      const inspection = await inspected(patient, token);
      expect(inspection).toEqual({
        transport: 'grpc',
        claims: undefined,
        verdict: { isAccepted: false, reason: 'token_malformed', mend: REFUSAL_HINTS.token_malformed },
      });
    },
  );

  it('says that there is none', async () => {
    const patient = await admit(NOWHERE);
    expect((await inspected(patient, ' ')).verdict).toMatchObject({ reason: 'token_missing' });
  });

  it('keeps a terminal from being steered by a claim, and times within what a date can hold', async () => {
    const patient = await admit(NOWHERE);
    const claims = { sub: 'a\u001B[2J\nb\u202Ec', aud: 'x'.repeat(2000), iat: 1e300, nbf: 'soon', exp: -9e12, jti: 'CANARY-nonce' };
    const inspection = await inspected(patient, signToken(issuer.key, { ...claims, [PROFILE.jws.claims.url]: 'https://CANARY-nonce' }));
    expect(inspection.claims).toMatchObject({ subject: 'a [2J b c', url: 'https://[hidden]' });
    expect(inspection.claims).toMatchObject({ issuedAt: undefined, notBefore: undefined, expiresAt: undefined, issuer: undefined });
    expect(inspection.claims?.audience?.length).toBeLessThan(400);
  });

  it('does not hide every other letter because a nonce is short', async () => {
    const patient = await admit(NOWHERE);
    const inspection = await inspected(patient, patient.token('grpc', { jti: 'e', sub: 'e' }));
    expect(inspection.claims).toMatchObject({ audience: 'TheAudience', subject: '[hidden]' });
  });
});
