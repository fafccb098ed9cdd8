// Servers that keep the contract in another style than ours: no check fails them, and what they do otherwise is advice. All checks
// run on them, in both modes and with tokens, in `npm run check -- conformance`.
import { expect, it, onTestFinished } from 'vitest';
import { SOCKET_CHECKS } from '../../src/fake-platform/conformance/registry.ts';
import { chooseChecks } from '../../src/fake-platform/conformance/run.ts';
import { startIssuer } from '../../src/fake-platform/platform/issuer.ts';
import { loadProfile } from '../../src/fake-platform/platform/profile.ts';
import { startOtherStyleServer } from '../fixtures/other-style/grpc-server.ts';
import { startOtherStyleSocket } from '../fixtures/other-style/socket-server.ts';
import { examine, examineSocket, tokenRules } from '../support/conformance.ts';

it('no check fails a server of RPCs in another style', async () => {
  const issuer = await startIssuer({ profile: loadProfile('fake'), url: 'https://voice.example' });
  const server = await startOtherStyleServer({ mode: 'chunk', tokens: tokenRules(issuer) });
  onTestFinished(async () => {
    server.close();
    await issuer.close();
  });
  const found = await examine(server.target, { issuer, isOurs: false });
  expect(found.results.filter(({ verdict }) => verdict === 'fail')).toEqual([]);
  expect(found).toMatchObject({ ok: true, finding: undefined });
  expect(found.advisedRules).toEqual(['G-03', 'G-04', 'G-17', 'G-34', 'G-44', 'G-46', 'G-55', 'G-78', 'G-79', 'G-7A', 'G-80']);
});

it('no quick check fails a server of sockets in another style', async () => {
  const server = await startOtherStyleSocket();
  onTestFinished(() => {
    server.close();
  });
  const rules = ['W-14', 'W-15', 'W-23', 'W-24', 'W-25', 'W-26', 'W-29', 'W-30', 'W-31', 'W-40', 'W-51', 'W-52'];
  const found = await examineSocket(server.target, { checks: chooseChecks(SOCKET_CHECKS, rules, ['envelope-shape']), isOurs: false });
  expect(found.results.filter(({ verdict }) => verdict === 'fail')).toEqual([]);
  expect(found).toMatchObject({ ok: true, advisedRules: ['W-14', 'W-29', 'W-51', 'W-52'] });
});
