// Our server under a few of its own conformance checks: all of them run in `npm run check -- conformance`.
import { expect, it, onTestFinished } from 'vitest';
import { CHECKS, SOCKET_CHECKS } from '../../src/fake-platform/conformance/registry.ts';
import { chooseChecks } from '../../src/fake-platform/conformance/run.ts';
import { examine, examineSocket } from '../support/conformance.ts';
import { RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import { socketDataSource, socketToken, WITH_SOCKETS } from '../support/socket-peer.ts';

it('keeps the contract as far as a few quick checks of the fake platform see (G-01, G-06, G-08, G-21, G-90, J-20)', async () => {
  const server = await RunningServer.start({ hasTls: false, flags: [...WITH_TEST_BOTS, '--turns.max_farewell_ms=0'] });
  onTestFinished(() => server.close());
  const checks = chooseChecks(CHECKS, ['G-01', 'G-06', 'G-21', 'J-20'], ['foreign-organization-refused', 'unknown-fields-survived']);
  const found = await examine(`grpc://${server.target}`, { checks, issuer: server.issuer });
  expect(found.results.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
  expect(found).toMatchObject({ ok: true, passed: checks.length });
});

it('ignores an envelope of an unknown type on a socket, and goes on with the call (W-17)', async () => {
  const server = await RunningServer.start({
    hasTls: false,
    flags: [...WITH_TEST_BOTS, ...WITH_SOCKETS],
    dataSources: (issuer) => [socketDataSource(issuer)],
  });
  onTestFinished(() => server.close());
  const found = await examineSocket(`ws://127.0.0.1:${String(server.app.ready.websocket?.port)}`, {
    checks: chooseChecks(SOCKET_CHECKS, ['W-17'], []),
    issuer: server.issuer,
    suspect: { token: await socketToken(server.issuer) },
  });
  expect(found.results.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
  expect(found).toMatchObject({ ok: true, passed: 1 });
});
