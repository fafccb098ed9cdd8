// Tokens whose check takes its time: bounded in number and time, and nothing is left of them.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AppError, type ErrorCode } from '../../../../src/base/errors.ts';
import { Gate } from '../../../../src/transport/gate.ts';
import { Refusals } from '../../../../src/transport/refused.ts';
import { Upgrades, type AcceptedSocket } from '../../../../src/transport/ws/upgrade.ts';
import { FakeClock, flushMicrotasks } from '../../../support/fake-clock.ts';
import { upgradeRequest } from '../../../support/socket-peer.ts';
import { until, within } from '../../../support/until.ts';
import type { Logger } from '../../../../src/base/log.ts';
import type { Principal } from '../../../../src/auth/principal.ts';

const PRINCIPAL: Principal = { organizationId: 'org', dataSourceId: 'ds', transport: 'websocket' };
const quiet: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined, child: () => quiet };

/** Checks that wait for the test, by the order they came in. */
let checks: { readonly resolve: (principal: Principal) => void; readonly reject: (error: AppError) => void }[];
let accepted: AcceptedSocket[];
let refused: ErrorCode[];
let hasRoom: boolean;
/** What the port heard of the connections. */
let told: string[];
let take: () => void;
let clock: FakeClock;
let upgrades: Upgrades;
let server: Server;
const clients: net.Socket[] = [];

beforeEach(async () => {
  [checks, accepted, refused, hasRoom, clock] = [[], [], [], true, new FakeClock()];
  told = [];
  take = () => undefined;
  const verifier = {
    verify: (header: string | undefined) =>
      header === 'Bearer known'
        ? PRINCIPAL
        : new Promise<Principal>((resolve, reject) => {
            checks.push({ resolve, reject });
          }),
  };
  upgrades = new Upgrades({
    paths: { voice: '/va', list: '/list' },
    gate: new Gate(verifier, 'websocket'),
    refusals: new Refusals(quiet, clock, (code) => refused.push(code)),
    clock,
    trackingHeader: 'trackingid',
    maxMessageBytes: 1024,
    limitMs: 10_000,
    closeLimitMs: 100,
    hasRoom: () => hasRoom,
    connections: () => ({
      began: () => {
        told.push('began');
        return () => told.push('over');
      },
      verified: () => told.push('verified'),
    }),
    onSocket: (socket) => {
      accepted.push(socket);
      take();
    },
  });
  server = createServer().on('upgrade', upgrades.upgrade);
  await once(server.listen(0, '127.0.0.1'), 'listening');
});

afterEach(async () => {
  for (const { socket } of accepted) socket.terminate();
  for (const client of clients.splice(0)) client.destroy();
  server.close();
  await within('the server is closed', once(server, 'close'));
});

/** Asks for a socket. @returns the first line of the answer, empty when the connection was broken without one. */
async function ask(token = 'new', extra = ''): Promise<string> {
  const client = net.connect((server.address() as AddressInfo).port, '127.0.0.1');
  clients.push(client);
  client.on('error', () => undefined);
  client.write(upgradeRequest('/va', { authorization: `Bearer ${token}` }).replace('Host: h', `Host: h${extra}`));
  const answer = new Promise<string>((resolve) => {
    client.once('data', (bytes: Buffer) => {
      resolve(bytes.toString().split('\r\n')[0] ?? '');
    });
    client.once('close', () => {
      resolve('');
    });
  });
  return within('an answer comes', answer);
}

describe('an upgrade whose token is new', () => {
  it('waits for the check, and then gets a socket with whom it speaks for', async () => {
    const asked = ask('new', '\r\nTrackingId: trace 1');
    await until('the token is being checked', () => checks.length === 1);
    expect(accepted).toEqual([]);
    checks[0]?.resolve(PRINCIPAL);
    expect(await asked).toBe('HTTP/1.1 101 Switching Protocols');
    expect(accepted).toMatchObject([{ channel: 'voice', visitor: { kind: 'checked', principal: PRINCIPAL }, trackingId: 'trace_1' }]);
    expect(clock.pendingTimers).toBe(0);
    expect(told).toEqual(['began', 'verified']);
  });

  it('P-18 keeps its connection while its token is checked, and no longer when it is refused', async () => {
    const asked = ask();
    await until('the token is being checked', () => checks.length === 1);
    expect(told).toEqual(['began']);
    checks[0]?.reject(new AppError('unauthenticated', 'the token was refused'));
    await asked;
    expect(told).toEqual(['began', 'over']);
  });

  it('P-18 is refused with 503 when 256 others are being checked; a known token gets past them', async () => {
    const asked = Array.from({ length: 256 }, () => ask());
    await until('all are being checked', () => checks.length === 256);
    expect(await ask()).toBe('HTTP/1.1 503 Service Unavailable');
    expect(refused).toEqual(['overloaded']);
    expect(await ask('known')).toBe('HTTP/1.1 101 Switching Protocols');
    for (const check of checks) check.reject(new AppError('unauthenticated', 'the token was refused'));
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['HTTP/1.1 401 Unauthorized']));
    // There is room again.
    const late = ask();
    await until('one more is being checked', () => checks.length === 258);
    checks.at(-1)?.resolve(PRINCIPAL);
    expect(await late).toBe('HTTP/1.1 101 Switching Protocols');
    expect(clock.pendingTimers).toBe(0);
  });

  it('is broken off when the check takes too long, and a late yes gives it nothing', async () => {
    const asked = ask();
    await until('the token is being checked', () => checks.length === 1);
    clock.advance(10_000);
    expect(await asked).toBe('');
    checks[0]?.resolve(PRINCIPAL);
    await flushMicrotasks();
    expect([accepted, refused]).toEqual([[], []]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is refused when the server begins to stop meanwhile, or is full by then', async () => {
    const asked = ask();
    await until('the token is being checked', () => checks.length === 1);
    hasRoom = false;
    checks[0]?.resolve(PRINCIPAL);
    expect(await asked).toBe('HTTP/1.1 503 Service Unavailable');
    hasRoom = true;
    const second = ask();
    await until('the token is being checked', () => checks.length === 2);
    upgrades.drain();
    checks[1]?.resolve(PRINCIPAL);
    expect(await second).toBe('HTTP/1.1 503 Service Unavailable');
    expect(await ask('known')).toBe('HTTP/1.1 503 Service Unavailable');
    expect(refused).toEqual(['overloaded', 'shutting_down', 'shutting_down']);
  });

  it('is broken off when the server is closed', async () => {
    const asked = ask();
    await until('the token is being checked', () => checks.length === 1);
    upgrades.cut();
    expect(await asked).toBe('');
    checks[0]?.reject(new AppError('unauthenticated', 'the token was refused'));
    await flushMicrotasks();
    expect(clock.pendingTimers).toBe(0);
  });

  it.each<readonly [ErrorCode, string]>([
    ['keys_unavailable', 'HTTP/1.1 401 Unauthorized'],
    ['internal', 'HTTP/1.1 500 Internal Server Error'],
  ])('is answered when the check ends with %s', async (code, line) => {
    const asked = ask();
    await until('the token is being checked', () => checks.length === 1);
    checks[0]?.reject(new AppError(code, 'CANARY'));
    expect(await asked).toBe(line);
    expect(refused).toEqual([code]);
  });

  it.each(['new', 'known'])('is broken off and counted when a socket with a %s token cannot be taken', async (token) => {
    take = () => {
      throw new Error('CANARY');
    };
    const asked = ask(token);
    if (token === 'new') {
      await until('the token is being checked', () => checks.length === 1);
      checks[0]?.resolve(PRINCIPAL);
    }
    await asked;
    await until('the client sees the end', () => clients[0]?.closed === true);
    expect(refused).toEqual(['internal']);
  });

  it('survives a client that is gone before the check is over', async () => {
    void ask();
    await until('the token is being checked', () => checks.length === 1);
    clients[0]?.resetAndDestroy();
    await until('the server has seen it', () => clients[0]?.closed === true);
    checks[0]?.resolve(PRINCIPAL);
    await flushMicrotasks();
    expect(await ask('known')).toBe('HTTP/1.1 101 Switching Protocols');
  });
});
