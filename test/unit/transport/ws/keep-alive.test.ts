import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import { KeepAlive, type PingedSocket } from '../../../../src/transport/ws/keep-alive.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** A socket that notes what is done with it; it answers no ping by itself. */
class StubSocket extends EventEmitter implements PingedSocket {
  readonly OPEN = 1;
  readyState = 1;
  isPaused = false;
  pings = 0;
  isTerminated = false;

  ping(): void {
    this.pings += 1;
  }

  terminate(): void {
    this.isTerminated = true;
    this.readyState = 2;
  }

  pong(): void {
    this.emit('pong');
  }

  close(): void {
    this.readyState = 3;
    this.emit('close');
  }
}

let clock: FakeClock;
let silent: number;
let keepAlive: KeepAlive;

beforeEach(() => {
  clock = new FakeClock();
  silent = 0;
  keepAlive = new KeepAlive({ pingIntervalMs: 30_000, pongTimeoutMs: 10_000, clock });
});

function watched(): StubSocket {
  const socket = new StubSocket();
  keepAlive.watch(socket, () => {
    expect(socket.isTerminated).toBe(true);
    silent += 1;
  });
  return socket;
}

describe('W-42 keep-alive', () => {
  it('pings when the interval is over, and again only after the answer', () => {
    const socket = watched();
    clock.advance(29_999);
    expect(socket.pings).toBe(0);
    clock.advance(1);
    expect(socket.pings).toBe(1);
    socket.pong();
    clock.advance(29_999);
    expect(socket.pings).toBe(1);
    clock.advance(2501);
    expect(socket.pings).toBe(2);
  });

  it('terminates a socket whose pong does not come, one look after its time, and counts it', () => {
    const [deaf, alive] = [watched(), watched()];
    clock.advance(30_000);
    alive.pong();
    clock.advance(10_000);
    expect(deaf.isTerminated).toBe(false);
    clock.advance(2500);
    expect([deaf.isTerminated, alive.isTerminated, silent]).toEqual([true, false, 1]);
    clock.advance(20_000);
    expect(silent).toBe(1);
  });

  it('spares a socket whose pong is read in the moment after a stall of the process', () => {
    const socket = watched();
    clock.advance(30_000);
    clock.advance(10_000);
    // Timers ran first; now what was received is read.
    socket.pong();
    clock.advance(20_000);
    expect(socket.isTerminated).toBe(false);
  });

  it('counts no time in which nothing is read from the socket', () => {
    const socket = watched();
    clock.advance(30_000);
    socket.isPaused = true;
    clock.advance(60_000);
    expect(socket.isTerminated).toBe(false);
    socket.isPaused = false;
    clock.advance(9999);
    expect(socket.isTerminated).toBe(false);
    clock.advance(5001);
    expect(socket.isTerminated).toBe(true);
  });

  it('leaves sockets alone that are being closed', () => {
    const socket = watched();
    socket.readyState = 2;
    clock.advance(200_000);
    expect([socket.pings, socket.isTerminated]).toEqual([0, false]);
  });

  it('has one timer for a thousand sockets, and none without a socket', () => {
    expect(clock.pendingTimers).toBe(0);
    const sockets = Array.from({ length: 1000 }, watched);
    expect(clock.pendingTimers).toBe(1);
    for (const socket of sockets) socket.close();
    expect(clock.pendingTimers).toBe(0);
    watched();
    expect(clock.pendingTimers).toBe(1);
  });
});
