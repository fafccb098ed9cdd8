// How long the home of a forwarded turn waits until it knows whether the reply was delivered.
import { TLSSocket } from 'node:tls';
import net from 'node:net';
import { describe, expect, it } from 'vitest';
import { Deliveries } from '../../../../src/transport/forward/deliveries.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

describe('a forwarded reply of which its forwarder says nothing', () => {
  it('is lost when the connection is gone some seconds later: on a busy machine a process that was killed keeps it so long', async () => {
    const clock = new FakeClock();
    const deliveries = new Deliveries(clock);
    const socket = new TLSSocket(new net.Socket());
    const delivered = deliveries.wait('turn-1', socket);
    clock.advance(3000);
    deliveries.cut(socket);
    expect(await delivered).toBe(false);
  });

  it('counts as delivered when the connection stays open: the peer may be an older version', async () => {
    const clock = new FakeClock();
    const deliveries = new Deliveries(clock);
    const socket = new TLSSocket(new net.Socket());
    const delivered = deliveries.wait('turn-1', socket);
    clock.advance(10_000);
    expect(await delivered).toBe(true);
  });
});
