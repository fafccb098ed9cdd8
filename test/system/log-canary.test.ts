// What a real server process writes while strangers send what no header, frame or message may hold: lines of our log, and in none
// of them anything that was sent (P-14).
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { LogLevel } from '../../src/base/log.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { startIssuer, type Issuer } from '../../src/fake-platform/platform/issuer.ts';
import { FrameClient } from '../support/http2-frames.ts';
import { PATHS } from '../support/platform-client.ts';
import { frame, RawSocket } from '../support/raw-socket.ts';
import { dataSource, serverFlags, WITH_TEST_BOTS } from '../support/running-server.ts';
import { ServeProcess } from '../support/serve-process.ts';
import { socketDataSource, socketToken, upgradeRequest, WITH_SOCKETS } from '../support/socket-peer.ts';
import { until } from '../support/until.ts';

const CANARY = 'CANARY-7f3a';
/** All lines, and those of most servers. */
const LEVELS: readonly LogLevel[] = ['trace', 'warn'];

let issuer: Issuer;
beforeAll(async () => {
  issuer = await startIssuer({ profile: loadProfile('fake') });
});
afterAll(() => issuer.close());

/** A server for both transports with the token check on. */
async function serve(level: LogLevel): Promise<{ readonly process: ServeProcess; readonly port: number; readonly socketPort: number }> {
  const sources = [dataSource(issuer), socketDataSource(issuer)];
  const flags = [...serverFlags(issuer, undefined, sources), ...WITH_TEST_BOTS, ...WITH_SOCKETS];
  const process = new ServeProcess([...flags, '--shutdown.grace_ms=0', `--log.level=${level}`, '--json']);
  onTestFinished(() => process.kill());
  await process.ready();
  const ready = JSON.parse(process.stdout) as { readonly port: number; readonly websocket: { readonly port: number } };
  return { process, port: ready.port, socketPort: ready.websocket.port };
}

const post = (path: string): readonly (readonly [string, string])[] => [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', path],
  [':authority', 'localhost'],
  ['content-type', 'application/grpc'],
  ['te', 'trailers'],
];

/** Streams with headers, most of which the gRPC library cannot read. */
async function badHeaders(port: number, token: string): Promise<void> {
  const client = (await FrameClient.connect(port)).greet();
  onTestFinished(() => {
    client.destroy();
  });
  const tries: readonly (readonly [string, string])[][] = [
    [['authorization', `\t${token}`]],
    [['authorization', `Bearer\t${token}`]],
    [
      ['authorization', `Bearer ${token}`],
      ['trackingid', `\t${CANARY}`],
    ],
    [
      ['authorization', CANARY],
      ['x-note', `${CANARY}\u00e9`],
    ],
    [
      ['authorization', CANARY],
      ['grpc-timeout', CANARY],
    ],
    [
      ['authorization', CANARY],
      ['grpc-encoding', CANARY],
    ],
    [[`x-${CANARY.toLowerCase()}\t`, CANARY]],
    [['x-note-bin', `${CANARY}!!`]],
  ];
  let stream = 1;
  for (const path of [PATHS.callerInput, PATHS.list, `/${CANARY}/${CANARY}`]) {
    for (const more of tries) {
      client.open(stream, [...post(path), ...more], { isWhole: true });
      stream += 2;
    }
  }
  // The library speaks once for each of them.
  for (let again = 0; again < 200; again += 1) {
    client.open(stream, [...post(PATHS.callerInput), ['authorization', `\t${token}`]], { isWhole: true });
    stream += 2;
  }
  await until('the streams are answered', () => client.counts.headers + client.counts.reset >= 200 || client.isClosed);
}

/** Sockets that ask, and speak, as no socket may. */
async function badSockets(port: number, token: string): Promise<void> {
  const requests = [
    upgradeRequest('/v1/va', { authorization: `Bearer ${token}\r\nX-Note: ${CANARY}\u00e9` }),
    upgradeRequest('/v1/va', { authorization: `Bearer ${CANARY}` }),
    upgradeRequest(`/${CANARY}`, { authorization: CANARY }),
    `${CANARY}\r\n\r\n`,
  ];
  for (const request of requests) {
    const socket = new RawSocket(port);
    onTestFinished(() => void socket.connection.destroy());
    socket.connection.write(request);
    await until('the request is answered', () => socket.status !== 0 || socket.isClosed);
    await socket.send([
      frame(Buffer.from(`{"type":"${CANARY}","conversation_id":"${CANARY}"}`)),
      frame(Buffer.from(CANARY), { opcode: 3 }),
    ]);
    await socket.closed();
  }
}

describe('what a server process writes', () => {
  it.each(LEVELS)('P-14 at level %s are lines of its log, and nothing of what strangers sent', async (level) => {
    const { process, port, socketPort } = await serve(level);
    const [token, forSocket] = await Promise.all([issuer.issueToken(), socketToken(issuer)]);
    await badHeaders(port, token);
    await badSockets(socketPort, forSocket);
    process.signal('SIGTERM');
    await process.ended();
    const lines = (process.stdout + process.stderr).split('\n').filter((line) => line !== '');
    for (const line of lines) expect(() => JSON.parse(line) as unknown, line).not.toThrow();
    for (const secret of [CANARY, CANARY.toLowerCase(), token, forSocket, ...token.split('.'), ...forSocket.split('.')]) {
      expect(lines.filter((line) => line.includes(secret))).toEqual([]);
    }
    const told = lines.filter((line) => line.includes('a header of an RPC has illegal characters and is ignored'));
    // Once a second at most, whoever sends them.
    expect(told.length).toBeLessThanOrEqual(5);
    if (level === 'warn') expect(told).not.toEqual([]);
  });
});
