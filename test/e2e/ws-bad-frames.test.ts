// What no honest client of a socket does: frames that break the protocol, messages without end, clients that do not read, and
// a thousand that say nothing. Each gets its close, and nothing is left of it.
import { deflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../support/fake-clock.ts';
import { RawSocket, frame } from '../support/raw-socket.ts';
import { RunningServer, WITH_TEST_BOTS, type ServerOptions } from '../support/running-server.ts';
import { eventInput, keyInput, SocketClient } from '../support/socket-client.ts';
import { socketDataSource, socketToken, WITH_SOCKETS } from '../support/socket-peer.ts';
import { until } from '../support/until.ts';

/** Largest message of the operator's default, bytes. */
const MAX_MESSAGE_BYTES = 131_072;
const MEGABYTE = 1024 * 1024;
const BREACHES = 'parley_streams_refused_total{code="bad_message",transport="websocket"}';

function starting({ flags = [], ...options }: Pick<ServerOptions, 'flags' | 'clock'> = {}): Promise<RunningServer> {
  return RunningServer.start({
    dataSources: (issuer) => [socketDataSource(issuer)],
    flags: [...WITH_SOCKETS, ...WITH_TEST_BOTS, ...flags],
    hasTls: false,
    ...options,
  });
}

async function nothingLeft(server: RunningServer): Promise<void> {
  await server.quiet();
  await until('no socket is left', async () => (await server.metric('parley_sockets_open')) === 0);
}

describe('a message', () => {
  let server: RunningServer;
  let authorization = '';
  beforeAll(async () => {
    server = await starting({ flags: ['--websocket.peer_close_ms=500'] });
    authorization = `Bearer ${await socketToken(server.issuer)}`;
  });
  afterAll(async () => {
    await nothingLeft(server);
    await server.close();
  });

  async function opened(): Promise<RawSocket> {
    const socket = RawSocket.open(server, authorization);
    onTestFinished(() => {
      socket.connection.destroy();
    });
    expect(await socket.upgraded()).toBe(101);
    return socket;
  }

  // What the protocol itself forbids is closed by its own words, before anything of the contract is said.
  it.each<readonly [string, () => readonly Buffer[], number]>([
    ['of 20 MB in one frame (W-45)', () => [frame(Buffer.alloc(20 * MEGABYTE, 'x'))], 1009],
    ['that says it will have a terabyte (W-45)', () => [frame(Buffer.from('{'), { length: 2 ** 40 })], 1009],
    [
      'of 20 MB in frames of 64 KiB (W-45)',
      () => Array.from({ length: 320 }, (_, index) => frame(Buffer.alloc(65_536, 'x'), { opcode: index === 0 ? 1 : 0, isLast: false })),
      1009,
    ],
    ['that is compressed and unpacks to 100 MB', () => [frame(deflateRawSync(Buffer.alloc(100 * MEGABYTE)), { isCompressed: true })], 1002],
    ['that is not masked', () => [frame(Buffer.from('{}'), { isMasked: false })], 1002],
    ['in a frame of a kind that nobody knows', () => [frame(Buffer.from('{}'), { opcode: 3 })], 1002],
    ['that goes on without a beginning', () => [frame(Buffer.from('{}'), { opcode: 0 })], 1002],
    ['that is no Unicode', () => [frame(Buffer.of(0x7b, 0xff, 0x7d))], 1007],
    ['inside of another one', () => [frame(Buffer.from('{'), { isLast: false }), frame(Buffer.from('{}'))], 1002],
    ['that is a ping of 64 KiB', () => [frame(Buffer.alloc(65_536), { opcode: 9 })], 1002],
  ])('%s is not taken, and its socket closed', async (_what, frames, close) => {
    const before = (await server.metric(BREACHES)) ?? 0;
    const socket = await opened();
    await socket.send(frames());
    await socket.closed();
    expect(socket.said).toEqual({ texts: [], close });
    await nothingLeft(server);
    expect(await server.metric(BREACHES)).toBe(before + 1);
    expect(server.logged({ code: 'bad_message' }).at(-1)?.['msg']).toMatch(
      new RegExp(`^a socket was refused: .+ closed with ${String(close)}$`, 'u'),
    );
  });

  it('W-45 of exactly the largest size is read, and one byte more is not', async () => {
    const client = await SocketClient.connect(server);
    const message = client.message(eventInput('SESSION_START'));
    client.peer.say(message + ' '.repeat(MAX_MESSAGE_BYTES - message.length));
    await client.replied(1);
    const more = client.message(keyInput('DTMF_DIGIT_SIX'));
    client.peer.say(more + ' '.repeat(MAX_MESSAGE_BYTES + 1 - more.length));
    expect(await client.closed()).toMatchObject({ code: 1009 });
    await nothingLeft(server);
    expect(server.logged({ code: 'bad_message', conversationId: client.conversationId })).toMatchObject([
      { msg: 'a socket was refused: a message was larger than it may be; closed with 1009' },
    ]);
  });

  it('W-2A that ends the socket ends its call at once, not only when the client has closed', async () => {
    const patient = await starting({ flags: ['--websocket.peer_close_ms=60000'] });
    const client = await (await SocketClient.connect(patient)).started();
    // Does not answer the close.
    client.peer.socket.pause();
    client.peer.say('x'.repeat(MAX_MESSAGE_BYTES + 1));
    await patient.quiet();
    expect(await patient.metric('parley_sockets_open')).toBe(1);
    client.peer.socket.terminate();
    await nothingLeft(patient);
    await patient.close();
  });

  it('W-06 cannot be sent without a token: the upgrade is refused with 401, and so are frames that come with it', async () => {
    const socket = RawSocket.open(server, '');
    socket.connection.write(frame(Buffer.from('{}')));
    await socket.closed();
    expect(socket.status).toBe(401);
    expect(socket.said.texts).toEqual([]);
  });
});

describe('a client', () => {
  it('W-44 W-45 that does not read what its bot says is given up, and holds no memory', async () => {
    const server = await starting({
      flags: ['--turns.slow_reader_ms=500', '--turns.max_ahead_ms=1200000', '--websocket.peer_close_ms=500'],
    });
    const client = await (await SocketClient.connect(server)).started();
    // Far more than the buffers of two sockets hold.
    client.peer.socket.pause();
    client.send(keyInput('DTMF_DIGIT_STAR'));
    await server.quiet();
    expect(await server.metric('parley_streams_refused_total{code="slow_reader",transport="websocket"}')).toBe(1);
    client.peer.socket.terminate();
    await nothingLeft(server);
    await server.close();
  });

  it('W-20 that says nothing is one of 1,000: the rest find no place, those who have one lose it in time, and a call goes on', async () => {
    const clock = new FakeClock();
    const server = await starting({
      clock,
      flags: ['--websocket.max_connections=901', '--sessions.max=900', '--websocket.peer_close_ms=500'],
    });
    const authorization = `Bearer ${await socketToken(server.issuer)}`;
    const caller = await (await SocketClient.connect(server)).started();
    const idle: RawSocket[] = [];
    for (let batch = 0; batch < 10; batch++) {
      const sockets = Array.from({ length: 100 }, () => RawSocket.open(server, authorization));
      idle.push(...sockets);
      await Promise.all(sockets.map((socket) => socket.upgraded()));
    }
    expect(idle.filter(({ status }) => status === 101)).toHaveLength(900);
    expect(idle.filter(({ status }) => status === 503)).toHaveLength(100);
    expect(await server.metric('parley_sockets_open')).toBe(901);

    clock.advance(10_000);
    await until('all of them are closed', () => idle.every(({ isClosed }) => isClosed));
    const ends = idle.filter(({ status }) => status === 101).map(({ said }) => said);
    expect(new Set(ends.map(({ close }) => close))).toEqual(new Set([1008]));
    expect(ends.every(({ texts }) => texts.length === 1 && texts[0]?.includes('"code":"timeout","status":408') === true)).toBe(true);

    caller.send(keyInput('DTMF_DIGIT_SIX'));
    await caller.replied(2);
    caller.send(eventInput('SESSION_END'));
    await caller.close();
    await nothingLeft(server);
    await server.close();
  });
});
