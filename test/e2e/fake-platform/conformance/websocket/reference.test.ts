// The checks of sockets on the reference server: whole, it passes each; with one breach, exactly the rule of the breach is named.
// A handful here; all of them in `npm run check -- conformance`.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHECKS, SOCKET_CHECKS } from '../../../../../src/fake-platform/conformance/registry.ts';
import { chooseChecks } from '../../../../../src/fake-platform/conformance/run.ts';
import { startIssuer, type Issuer } from '../../../../../src/fake-platform/platform/issuer.ts';
import { loadProfile } from '../../../../../src/fake-platform/platform/profile.ts';
import { SOCKET_BREACHES, type SocketBreach, type SocketFreedom } from '../../../../fixtures/broken-servers/ws-breaches.ts';
import { examineBrokenSocket, examineSocket, examineSocketReference } from '../../../../support/conformance.ts';
import { recorded, silence } from '../../../../support/line-signals.ts';

let issuer: Issuer;
beforeAll(async () => {
  const profile = loadProfile('fake');
  issuer = await startIssuer({ profile, url: 'wss://localhost', schemaId: profile.schemas.websocket });
});
afterAll(() => issuer.close());

/** Checks that need little time. */
const QUICK = chooseChecks(SOCKET_CHECKS, ['W-06', 'W-07', 'W-40', 'W-52', 'J-1A'], ['gaps-taken', 'list-closes', 'start-answered']);

describe('the checks of sockets', () => {
  it('find nothing on a server that keeps the contract, with the token check', async () => {
    const found = await examineSocketReference(undefined, { checks: QUICK, issuer });
    expect(found.results.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
    expect({ ok: found.ok, score: found.score, finding: found.finding }).toEqual({ ok: true, score: 1, finding: undefined });
  });

  it.each<SocketBreach>(['missing_token_is_403', 'pong_with_own_seq'])('name exactly the rule of the breach %s', async (breach) => {
    const found = await examineBrokenSocket(breach, issuer, { checks: QUICK });
    expect(found.brokenRules).toEqual([SOCKET_BREACHES[breach].rule]);
    const failed = found.results.find(({ verdict }) => verdict === 'fail');
    expect(failed?.exchanges[0]?.length).toBeGreaterThan(1);
    // The proof has no token in it.
    expect(JSON.stringify(found)).not.toContain((await issuer.issueToken()).split('.')[0]);
  });

  it.each<[SocketFreedom, readonly string[]]>([
    ['seq_with_gaps', ['seq-increases']],
    ['ends_when_cut', ['interrupted-reply-stops']],
    ['flow_varies', ['interruption-heard']],
  ])('find nothing on a server that takes the freedom %s', async (freedom, ids) => {
    const found = await examineSocketReference(freedom, { checks: chooseChecks(SOCKET_CHECKS, [], ids) });
    expect(found.results.map(({ id, verdict }) => [id, verdict])).toEqual(ids.map((id) => [id, 'pass']));
  });

  it('take words behind a pause for no second utterance: a caller who was answered says no more (W-23)', async () => {
    const speech = Buffer.concat([recorded('yes'), silence(2400), recorded('yes')]);
    const checks = chooseChecks(SOCKET_CHECKS, [], ['utterances-delimited']);
    const found = await examineSocketReference(undefined, { checks, suspect: { speech } });
    expect(found.results).toMatchObject([{ verdict: 'pass' }]);
  });

  it('advise where nothing demands: it does not count', async () => {
    const found = await examineBrokenSocket('list_has_default', issuer, {
      checks: chooseChecks(SOCKET_CHECKS, [], ['list-has-own-fields']),
    });
    expect(found).toMatchObject({ ok: true, failed: 0, score: undefined, brokenRules: [], advisedRules: ['W-52'] });
  });

  it('see disable_prompt_cancellation on an answer that is no PARTIAL (W-15)', async () => {
    const found = await examineBrokenSocket('prompt_cancellation_sent', issuer, {
      checks: chooseChecks(SOCKET_CHECKS, [], ['cancellation-field-on-partial']),
    });
    expect(found).toMatchObject({ ok: true, failed: 0, advisedRules: ['W-15'] });
  });

  it('name an envelope of an unknown type that ends the call (W-17), and no gap in the numbers for it (W-10)', async () => {
    const checks = chooseChecks(SOCKET_CHECKS, [], ['unknown-type-ignored']);
    expect(await examineSocketReference(undefined, { checks })).toMatchObject({ ok: true, passed: 1 });
    const ended = await examineBrokenSocket('unknown_type_refused', issuer, { checks, isOurs: false });
    expect(ended).toMatchObject({ ok: false, failed: 1, brokenRules: ['W-17'] });
    expect(ended.results[0]?.reason).toContain('was closed with 1002, and without it the same turn was answered');
    const strict = await examineBrokenSocket('gap_refused', issuer, { checks });
    expect(strict).toMatchObject({ ok: true, failed: 0, notApplicable: 1, brokenRules: [] });
  });

  it('are not run on a server that nobody can talk to: that is a finding by name', async () => {
    expect(await examineSocket('ws://127.0.0.1:1', { checks: QUICK })).toMatchObject({
      ok: false,
      finding: { code: 'refused', message: 'nothing listens at the address: is the server running? (connect ECONNREFUSED 127.0.0.1:1)' },
      results: [],
    });
  });

  it('have broken servers for at least thirty rules of sockets, of which each breaks a rule that a check names', () => {
    const rules = new Map(SOCKET_CHECKS.map(({ id, rules: [rule] }) => [id, rule]));
    for (const [breach, { rule, check }] of Object.entries(SOCKET_BREACHES)) expect([breach, rules.get(check)]).toEqual([breach, rule]);
    const broken = new Set(Object.values(SOCKET_BREACHES).map(({ rule }) => rule));
    expect([...broken].filter((rule) => rule.startsWith('W-')).length).toBeGreaterThanOrEqual(30);
    // Every check of sockets alone is shown to fail; those of tokens are shown by the breaches of both servers.
    const shown = new Set<string>(Object.values(SOCKET_BREACHES).map(({ check }) => check));
    const own = SOCKET_CHECKS.filter((check) => !CHECKS.some(({ id }) => id === check.id));
    expect(own.map(({ id }) => id).filter((id) => !shown.has(id))).toEqual([]);
  });
});
