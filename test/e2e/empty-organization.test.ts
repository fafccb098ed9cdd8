// Messages that name no organization, on both transports, with the token check and without (G-08, W-22).
import { status } from '@grpc/grpc-js';
import { expect, it, onTestFinished } from 'vitest';
import { RunningServer, dataSource, WITH_TEST_BOTS } from '../support/running-server.ts';
import { SocketClient } from '../support/socket-client.ts';
import { connectSocket, socketDataSource, WITH_SOCKETS } from '../support/socket-peer.ts';
import { event, keys } from '../support/wire-audio.ts';

async function serve(flags: readonly string[]): Promise<RunningServer> {
  const server = await RunningServer.start({
    hasTls: false,
    flags: [...WITH_TEST_BOTS, ...WITH_SOCKETS, ...flags],
    dataSources: (issuer) => [dataSource(issuer), socketDataSource(issuer)],
  });
  onTestFinished(() => server.close());
  return server;
}

const LISTED = `--bots.organizations=${JSON.stringify(['org-a', 'org-b'].map((organization_id) => ({ organization_id, bots: ['tester'] })))}`;

it('G-08 speak for the organization of their token over gRPC, all through a call', async () => {
  const server = await serve([LISTED]);
  const client = await server.client({ organizationId: '' });
  const named = await server.client();
  expect(await client.list({ customer_org_id: '' })).toEqual(await named.list());
  const call = client.call();
  expect((await call.turn(event('SESSION_START'))).ending.code).toBe(status.OK);
  expect((await call.turn(keys('1'))).ending.code).toBe(status.OK);
  await server.quiet(1);
  const { organizationId } = server.issuer.claims;
  expect(server.logged({ organizationId }).length).toBeGreaterThan(0);
  expect((await named.call({ conversationId: call.ids.conversationId }).turn(event('SESSION_END'))).ending.code).toBe(status.OK);
  await server.quiet();
});

it('G-08 W-22 speak for the organization of their token over WebSocket', async () => {
  const server = await serve([LISTED]);
  const client = new SocketClient(await connectSocket(server), '');
  await client.started();
  expect(client.errors).toEqual([]);
  client.peer.socket.terminate();
  await server.quiet();
});

it.each([
  ['are taken where one organization is configured', [], status.OK],
  ['are refused where more are', [LISTED], status.INVALID_ARGUMENT],
])('G-08 %s and nobody looks at tokens', async (_what, flags, code) => {
  const server = await serve(['--auth.enabled=false', ...flags]);
  const client = await server.client({ organizationId: '' });
  const call = client.call();
  expect((await call.turn(event('SESSION_START'))).ending.code).toBe(code);
  if (code === status.OK) await call.turn(event('SESSION_END'));
  await server.quiet();
});
