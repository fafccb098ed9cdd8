// The checks on the reference server: whole, it passes each; with one breach, exactly the rule of the breach is named. A
// handful here; all of them in `npm run check:conformance`.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHECKS } from '../../../../src/fake-platform/conformance/registry.ts';
import { chooseChecks } from '../../../../src/fake-platform/conformance/run.ts';
import { startIssuer, type Issuer } from '../../../../src/fake-platform/issuer.ts';
import { loadProfile } from '../../../../src/fake-platform/profile.ts';
import { BREACHES, type Breach } from '../../../fixtures/broken-servers/breaches.ts';
import { examine, examineBroken, examineReference } from '../../../support/conformance.ts';

let issuer: Issuer;
beforeAll(async () => {
  issuer = await startIssuer({ profile: loadProfile('fake'), url: 'https://voice.example' });
});
afterAll(() => issuer.close());

/** Checks that need little time. */
const QUICK = chooseChecks(CHECKS, ['G-01', 'G-42', 'G-63', 'G-80', 'J-1C'], ['no-token-refused', 'one-default-agent']);

describe('the checks', () => {
  it('find nothing on a server that keeps the contract, with the token check', async () => {
    const found = await examineReference({ mode: 'chunk' }, { checks: QUICK, issuer });
    expect(found.brokenRules).toEqual([]);
    expect({ ok: found.ok, score: found.score, finding: found.finding }).toEqual({ ok: true, score: 1, finding: undefined });
  });

  it.each<Breach>(['chunks_too_small', 'two_defaults', 'missing_token_wrong_code'])(
    'name exactly the rule of the breach %s',
    async (breach) => {
      const found = await examineBroken(breach, issuer, { checks: QUICK });
      expect(found.brokenRules).toEqual([BREACHES[breach].rule]);
      const failed = found.results.find(({ verdict }) => verdict === 'fail');
      expect(failed?.exchanges[0]?.length).toBeGreaterThan(1);
      // The proof has no token in it.
      expect(JSON.stringify(found)).not.toContain((await issuer.issueToken()).split('.')[0]);
    },
  );

  it('are not run on a server that nobody can talk to: that is a finding by name', async () => {
    const found = await examine('grpc://127.0.0.1:1', { checks: QUICK });
    expect(found).toMatchObject({ ok: false, finding: { code: 'refused' }, results: [] });
  });

  it('do not begin once the run is interrupted', async () => {
    const found = await examineReference({}, { checks: QUICK, signal: AbortSignal.abort() });
    expect(found).toMatchObject({ ok: false, isInterrupted: true, results: [] });
  });

  it('have at least thirty broken servers, of which each breaks a rule that a check names', () => {
    const named = new Set(CHECKS.map(({ rules }) => rules[0]));
    expect(Object.keys(BREACHES).length).toBeGreaterThanOrEqual(30);
    expect(Object.values(BREACHES).filter(({ rule }) => !named.has(rule))).toEqual([]);
    // Every check that can fail is shown to.
    const broken = new Set<string>(Object.values(BREACHES).map(({ rule }) => rule));
    expect([...named].filter((rule) => !broken.has(rule))).toEqual([]);
  });
});
