// Many forwarded turns on one connection between two servers, over real sockets with TLS.
import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { at, Forwarder, Home, ScriptedHomes, Table } from '../../../support/forwarding.ts';
import { until } from '../../../support/until.ts';

async function oneHome(): Promise<{ readonly home: Home; readonly forwarder: Forwarder }> {
  const table = new Table();
  const home = await Home.open('one', { known: table });
  return { home, forwarder: await Forwarder.open(table, new ScriptedHomes(at(home))) };
}

describe('a forwarded turn', () => {
  it('goes with 200 others over one connection, each to its own end', async () => {
    const { home, forwarder } = await oneHome();
    const platforms = Array.from({ length: 200 }, (_, n) => forwarder.call().send(`turn ${String(n)}`));
    await until('all are there', () => home.turns.length === 200 && home.turns.every(({ received }) => received.length === 1));
    expect(forwarder.links.size).toBe(1);
    for (const turn of home.turns) {
      turn.stream.write(Buffer.concat(turn.received));
      turn.stream.end();
    }
    for (const [n, platform] of platforms.entries()) {
      expect(await platform.ended()).toMatchObject({ code: status.OK });
      expect(platform.texts()).toEqual([`turn ${String(n)}`]);
    }
    await until('none is open', () => forwarder.relays.size === 0);
  });

  it('goes on however many others end before it on the same connection while their platform is still sending', async () => {
    const { home, forwarder } = await oneHome();
    const lasting = forwarder.call().send('first');
    const lastingTurn = await home.turn();
    // More than a peer may reset at once (nghttp2: 1,000).
    for (let ended = 0; ended < 1400; ended += 100) {
      const platforms = Array.from({ length: 100 }, () => forwarder.call().send('key'));
      await home.turn(ended + 100);
      for (const { stream } of home.turns.slice(ended + 1, ended + 101)) stream.end();
      for (const platform of platforms) expect(await platform.ended()).toMatchObject({ code: status.OK });
    }
    lasting.send('last');
    await until('it arrives', () => lastingTurn.received.length === 2);
    lastingTurn.stream.end();
    expect(await lasting.ended()).toMatchObject({ code: status.OK });
    expect(forwarder.homes.losses).toEqual([]);
    expect(home.turns).toHaveLength(1401);
  });
});
