// A server that looks after a data source for each transport: what the platform has of them, how each is renewed, and which
// tokens are let in where, from before the answer to a renewal until after a restart.
import { expect, it } from 'vitest';
import { loadProfile } from '../../src/contract/profile.ts';
import type { DataSourceRecord } from '../../src/fake-platform/platform/data-source-book.ts';
import { grpcLines, socketLines, type Lines, type TurnEnd } from '../renewal/lines.ts';
import { adminSurroundings } from '../support/admin-surroundings.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import { socketOrigin, WITH_SOCKETS } from '../support/socket-peer.ts';
import { until } from '../support/until.ts';

const ORG = 'ce861fba-6e2f-49f9-9a84-b354008fac9e';
const MINUTE_MS = 60_000;
const TRANSPORTS = ['grpc', 'websocket'] as const;
type Transport = (typeof TRANSPORTS)[number];
const { schemas } = loadProfile('fake');
/** W-03: the two forms of address. */
const URLS = { grpc: 'http://127.0.0.1:50051', websocket: 'ws://127.0.0.1:50061' } as const;

it('W-03 W-04 J-2E each transport has a data source with its own schema, address, nonces and tokens, and each is renewed', async () => {
  const clock = new FakeClock();
  /** How calls ended that came with a token before the platform had answered that it made it (L-09). */
  const early: (readonly [transport: string, end: TurnEnd])[] = [];
  const earlyEnds = (): unknown => Object.fromEntries(early.splice(0));
  let server: RunningServer | undefined;
  const lines = (transport: Transport): Lines => {
    if (server === undefined) throw new Error('no server has been started');
    return transport === 'grpc' ? grpcLines(server.target) : socketLines(socketOrigin(server));
  };
  const callWith = async (transport: Transport, token: string | undefined): Promise<TurnEnd> => {
    const open = lines(transport);
    const presented = { organizationId: ORG, token: token ?? '', endsAtMs: 0 };
    const call = open.call(presented);
    const begun = await call.begin();
    const ended = begun === 'answered' ? await call.end(presented) : begun;
    open.close();
    return ended;
  };
  const around = await adminSurroundings({
    clock,
    onSigned: async ({ claims, token }) => {
      const transport = claims.schemaId === schemas.websocket ? 'websocket' : 'grpc';
      early.push([transport, await callWith(transport, token)]);
    },
  });
  const { api } = around;
  const flags = [
    ...[...WITH_TEST_BOTS, ...around.flags, ...WITH_SOCKETS, `--admin.data_sources.websocket_url=${URLS.websocket}`],
    '--admin.data_sources.transports=["grpc","websocket"]',
  ];
  const serve = (): Promise<RunningServer> => RunningServer.start({ clock, hasTls: false, dataSources: () => [], flags });
  const sourceOf = (transport: Transport): DataSourceRecord | undefined =>
    api.dataSources(ORG).find(({ schemaId }) => schemaId === schemas[transport]);
  const changed = (transition: string): number => server?.logged({ event: 'data_source', transition }).length ?? 0;

  server = await serve();
  api.authorize(ORG);
  await until('both are registered', () => changed('created') === 2);
  expect(api.dataSources(ORG)).toHaveLength(2);
  for (const transport of TRANSPORTS) expect(sourceOf(transport)).toMatchObject({ url: URLS[transport], status: 'active' });
  expect(new Set(api.dataSources(ORG).map(({ nonce }) => nonce)).size).toBe(2);
  expect(earlyEnds()).toEqual({ grpc: 'answered', websocket: 'answered' });
  const before = { grpc: sourceOf('grpc')?.jwsToken, websocket: sourceOf('websocket')?.jwsToken };

  // Tokens live for an hour, and are renewed 20 minutes before they end.
  clock.advance(41 * MINUTE_MS);
  await until('both are renewed', () => changed('renewed') === 2);
  expect(earlyEnds()).toEqual({ grpc: 'answered', websocket: 'answered' });
  const after = { grpc: sourceOf('grpc')?.jwsToken, websocket: sourceOf('websocket')?.jwsToken };
  for (const transport of TRANSPORTS) {
    expect(after[transport]).not.toBe(before[transport]);
    expect(await server.metric(`parley_data_source_transitions_total{transport="${transport}",transition="renewed"}`)).toBe(1);
  }
  /** Tokens of each transport, at their own and at the other one (J-05, J-2E). */
  const letIn = async (tokens: Readonly<Record<Transport, string | undefined>>) => ({
    own: [await callWith('grpc', tokens.grpc), await callWith('websocket', tokens.websocket)],
    other: [await callWith('grpc', tokens.websocket), await callWith('websocket', tokens.grpc)],
  });
  const rightly = { own: ['answered', 'answered'], other: ['refused', 'refused'] };
  for (const tokens of [after, before]) expect(await letIn(tokens)).toEqual(rightly);
  await server.quiet();
  await server.close();

  const puts = api.journal.count('PUT /dataSources/:id');
  server = await serve();
  expect([api.journal.count('PUT /dataSources/:id'), api.dataSources(ORG).length, changed('adopted')]).toEqual([puts, 2, 2]);
  for (const tokens of [after, before]) expect(await letIn(tokens)).toEqual(rightly);

  // One of them is switched off: the other one is left as it is.
  const { grpc } = after;
  api.disableDataSource(sourceOf('websocket')?.id ?? '', 'too many failed calls');
  clock.advance(10 * MINUTE_MS);
  await until('it is active again', () => changed('repaired') === 1);
  expect([sourceOf('grpc')?.jwsToken === grpc, sourceOf('websocket')?.status]).toEqual([true, 'active']);

  api.deauthorize(ORG);
  await until('both are forgotten', () => changed('forgotten') === 2);
  expect((await letIn(after)).own).toEqual(['refused', 'refused']);
  await server.quiet();
  await server.close();
}, 180_000);
