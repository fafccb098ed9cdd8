// Two organizations on one server over both wires: who gets the last places, what the other one hears, and what the operator sees.
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { organizationsCommand } from '../../src/cli/organizations.ts';
import { runCommand } from '../support/admin-command.ts';
import type { PlatformCall } from '../support/platform-call.ts';
import type { PlatformClient } from '../support/platform-client.ts';
import { dataSource, RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import { connectSocket, SocketCaller, socketDataSource, socketEvent, socketToken, WITH_SOCKETS } from '../support/socket-peer.ts';
import { until } from '../support/until.ts';
import { event } from '../support/wire-audio.ts';

const QUIET = '99999999-9999-4999-8999-999999999999';
const VIEW = 'view-token-of-thirty-two-characters';

let server: RunningServer;
let loud: string;

beforeAll(async () => {
  const limits = [{ organization_id: QUIET, max: 4 }];
  server = await RunningServer.start({
    flags: [
      ...[...WITH_TEST_BOTS, ...WITH_SOCKETS, `--ops.console.view_token=${VIEW}`],
      ...['--sessions.max=10', '--sessions.reserved_percent=20', `--sessions.organizations=${JSON.stringify(limits)}`],
    ],
    dataSources: (issuer) =>
      [dataSource(issuer), socketDataSource(issuer)].flatMap((source) => [
        source,
        { ...source, id: `${source['id'] ?? ''}-quiet`, organization_id: QUIET },
      ]),
  });
  loud = server.issuer.claims.organizationId;
  await server.app.warmed;
});
afterAll(() => server.close());

const clientOf = async (organizationId: string): Promise<PlatformClient> =>
  server.client({ organizationId, authorization: await server.issuer.issueToken({ organizationId }) });

/** A new call over gRPC. @returns undefined when it was refused. */
async function placed(client: PlatformClient): Promise<PlatformCall | undefined> {
  const call = client.call();
  const { story, ending } = await call.turn(event('SESSION_START'));
  if (story.length > 1) return call;
  expect({ story, code: ending.code }).toEqual({ story: [expect.stringContaining('FINAL TRANSFER_TO_AGENT')], code: status.OK });
  return undefined;
}

/** A new call over WebSocket. @returns the reason of its transfer; undefined when it was taken. */
async function reasonOver(organizationId: string): Promise<unknown> {
  const socket = await connectSocket(server, '/v1/va', `Bearer ${await socketToken(server.issuer, { organizationId })}`);
  const caller = new SocketCaller(socket, organizationId);
  caller.say(socketEvent('SESSION_START'));
  const [given] = (await caller.replied(1)).output_events ?? [];
  if (given?.event_type === 'TRANSFER_TO_AGENT') return (given.metadata as { readonly reason?: string }).reason;
  return undefined;
}

it('an organization that takes all it gets leaves the last places to the other one, over both wires', async () => {
  const [flood, quiet] = [await clientOf(loud), await clientOf(QUIET)];
  const refused = (reason: string): Promise<number | undefined> => server.metric(`parley_calls_refused_total{reason="${reason}"}`);
  expect(await reasonOver(QUIET)).toBeUndefined();
  let taken = 0;
  while ((await placed(flood)) !== undefined) taken += 1;
  expect(taken).toBe(7);
  expect(await reasonOver(loud)).toBe('organization_share');
  expect(await placed(quiet)).toBeDefined();
  const last = await placed(quiet);
  expect(server.app.openSessions()).toBe(10);
  expect(await reasonOver(loud)).toBe('total');
  expect([await refused('organization_share'), await refused('total')]).toEqual([2, 1]);
  expect(server.logged({ level: 'warn', reason: 'organization_share', organizationId: loud }).length).toBeGreaterThan(0);

  expect(await server.metric(`parley_organization_sessions_open{organization="${QUIET}"}`)).toBe(3);
  expect(await server.metric('parley_organization_sessions_open{organization="other"}')).toBe(7);
  expect(await server.metric(`parley_organization_sessions_limit{organization="${QUIET}"}`)).toBe(4);
  expect(await server.metric('parley_organization_sessions_started_total{organization="other"}')).toBe(7);

  await last?.turn(event('SESSION_END'));
  await until('its place is free', () => server.app.openSessions() === 9);
  expect(await placed(quiet)).toBeDefined();
});

it('parley organizations says what each of them did', async () => {
  const flags = [`--ops.port=${String(server.app.ready.opsPort)}`, `--ops.console.view_token=${VIEW}`];
  const asJson = await runCommand(organizationsCommand(), ['--json', ...flags]);
  expect(JSON.parse(asJson.out)).toEqual({
    hours: 24,
    organizations: [
      {
        ...{ organizationId: loud, openCalls: 7, maxCalls: 0, begun: 7, durationMs: 0, ends: {} },
        refused: { organization_share: 2, total: 1 },
      },
      {
        ...{ organizationId: QUIET, openCalls: 3, maxCalls: 4, begun: 4, refused: {}, ends: { caller: 1 } },
        durationMs: expect.any(Number) as number,
      },
    ],
    silent: [],
  });
  const { out, code } = await runCommand(organizationsCommand(), flags);
  expect(code).toBe(0);
  expect(out).toMatch(/^ORGANIZATION +OPEN +LIMIT +CALLS +MINUTES +TRANSFERS +REFUSED +ENDS\n/u);
  expect(out).toContain('organization_share 2, total 1');
  expect(out).toMatch(/\n2 organizations with calls within 24 hours/u);
});

it.each([
  ['the wrong token', ['--ops.console.view_token=another-token-of-thirty-two-chars'], 'sign in with a token'],
  ['no server', ['--ops.port=1'], 'nothing answers at http://127.0.0.1:1/'],
])('parley organizations fails for %s', async (_, flags, text) => {
  const { err, code } = await runCommand(organizationsCommand(), [`--ops.port=${String(server.app.ready.opsPort)}`, ...flags]);
  expect(code).toBe(1);
  expect(err).toContain(text);
});
