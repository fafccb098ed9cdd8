// The checks on the reference server: whole, it passes each; with one breach, exactly the rule of the breach is named. A
// handful here; all of them in `npm run check -- conformance`.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHECKS } from '../../../../src/fake-platform/conformance/registry.ts';
import { chooseChecks } from '../../../../src/fake-platform/conformance/run.ts';
import { startIssuer, type Issuer } from '../../../../src/fake-platform/platform/issuer.ts';
import { loadProfile } from '../../../../src/fake-platform/platform/profile.ts';
import { BREACHES, type Breach, type Freedom } from '../../../fixtures/broken-servers/breaches.ts';
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

  it.each<Breach>(['chunks_too_small', 'missing_token_wrong_code'])('name exactly the rule of the breach %s', async (breach) => {
    const found = await examineBroken(breach, issuer, { checks: QUICK });
    expect(found.brokenRules).toEqual([BREACHES[breach].rule]);
    const failed = found.results.find(({ verdict }) => verdict === 'fail');
    expect(failed?.exchanges[0]?.length).toBeGreaterThan(1);
    // The proof has no token in it.
    expect(JSON.stringify(found)).not.toContain((await issuer.issueToken()).split('.')[0]);
  });

  it.each<[Freedom, readonly string[]]>([
    ['voice_only', ['digits-answered', 'no-digits-survived', 'first-key-on-listening-rpc', 'unknown-key-survived', 'half-close-goes-on']],
    ['flow_varies', ['barge-in-heard']],
  ])('find nothing on a server that takes the freedom %s', async (breach, ids) => {
    const found = await examineReference({ breach }, { checks: chooseChecks(CHECKS, [], ids) });
    expect(found.results.filter(({ verdict }) => verdict === 'fail')).toEqual([]);
    expect(found.results).toHaveLength(ids.length);
  });

  it('take any error for a refusal of a token that breaks its check (G-92)', async () => {
    const found = await examineReference(
      { breach: 'broken_json_is_internal' },
      { checks: chooseChecks(CHECKS, [], ['odd-json-refused']), issuer },
    );
    expect(found).toMatchObject({ ok: true, passed: 1, failed: 0, brokenRules: [] });
  });

  it.each<[string, Breach, string]>([
    ['is refused', 'second_start_refused', 'ALREADY_EXISTS'],
    ['gets no prompt', 'second_start_unanswered', 'without a prompt'],
  ])('advise where nothing demands, and it does not count: a second SESSION_START that %s (G-28)', async (_what, breach, reason) => {
    const found = await examineReference({ breach }, { checks: chooseChecks(CHECKS, [], ['start-may-come-again']) });
    expect(found.results).toMatchObject([{ level: 'advice', verdict: 'advice', reason: expect.stringContaining(reason) as string }]);
    expect(found).toMatchObject({ ok: true, failed: 0, score: undefined, brokenRules: [], advisedRules: ['G-28'] });
  });

  it('say nothing about a second SESSION_START where the first got no prompt either (G-21, G-28)', async () => {
    const checks = chooseChecks(CHECKS, [], ['welcome-on-its-rpc', 'start-may-come-again']);
    const found = await examineReference({ breach: 'welcome_without_prompt' }, { checks });
    expect(found).toMatchObject({ failed: 1, notApplicable: 1, brokenRules: ['G-21'], advisedRules: [] });
  });

  it('hold no server but ours to what only we have decided (G-07)', async () => {
    const checks = chooseChecks(CHECKS, [], ['one-default-agent']);
    const foreign = await examineReference({ breach: 'two_defaults' }, { checks, isOurs: false });
    expect(foreign).toMatchObject({ ok: true, failed: 0, notApplicable: 1, brokenRules: [], advisedRules: [] });
    expect(foreign.results[0]?.reason).toContain('--ours');
    const ours = await examineReference({ breach: 'two_defaults' }, { checks, isOurs: true });
    expect(ours).toMatchObject({ ok: false, failed: 1, brokenRules: ['G-07'], results: [{ level: 'ours', verdict: 'fail' }] });
  });

  it.each<[Breach, string]>([
    ['health_wants_token', 'G-04'],
    ['settings_on_chunk', 'G-44'],
    ['transfer_misnamed', 'G-79'],
  ])('only advise a server with %s: %s is a convention or a habit of samples for others', async (breach, rule) => {
    const checks = chooseChecks(CHECKS, [], [BREACHES[breach].check]);
    const found = await examineBroken(breach, issuer, { checks, isOurs: false });
    expect(found).toMatchObject({ ok: true, failed: 0, brokenRules: [], advisedRules: [rule], results: [{ verdict: 'advice' }] });
  });

  it('let a server look at the token when the first message comes, as long as it answers nothing else (G-02)', async () => {
    const checks = chooseChecks(CHECKS, [], ['no-token-refused', 'malformed-token-refused', 'refused-before-first-message']);
    const found = await examineBroken('refused_upon_first_message', issuer, { checks, isOurs: false });
    expect(found).toMatchObject({ ok: true, passed: 2, failed: 0, notApplicable: 1, advisedRules: [] });
    const ours = await examineBroken('refused_upon_first_message', issuer, {
      checks,
      isOurs: true,
      suspect: { timing: { answerMs: 1000, pace: 8, newKeyMs: 100 } },
    });
    expect(ours).toMatchObject({ ok: false, passed: 2, failed: 1, brokenRules: ['G-02'] });
  });

  it('are not run on a server that nobody can talk to: that is a finding by name', async () => {
    const found = await examine('grpc://127.0.0.1:1', { checks: QUICK });
    expect(found).toMatchObject({ ok: false, finding: { code: 'refused' }, results: [] });
  });

  it('do not begin once the run is interrupted', async () => {
    const found = await examineReference({}, { checks: QUICK, signal: AbortSignal.abort() });
    expect(found).toMatchObject({ ok: false, isInterrupted: true, results: [] });
  });

  it('have at least thirty broken servers, of which each breaks a rule that a check names', () => {
    expect(Object.keys(BREACHES).length).toBeGreaterThanOrEqual(30);
    const rules = new Map(CHECKS.map(({ id, rules: [rule] }) => [id, rule]));
    for (const [breach, { rule, check }] of Object.entries(BREACHES)) expect([breach, rules.get(check)]).toEqual([breach, rule]);
    // Every check is shown to fail.
    const shown = new Set<string>(Object.values(BREACHES).map(({ check }) => check));
    expect(CHECKS.map(({ id }) => id).filter((id) => !shown.has(id))).toEqual([]);
  });
});
