// A connection to a peer on which nothing arrives any more, and of which nobody says so.
import { describe, expect, it } from 'vitest';
import { probe } from '../../../../src/transport/forward/peer-service.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { at, Forwarder, Home, ScriptedHomes, Table } from '../../../support/forwarding.ts';
import { until } from '../../../support/until.ts';

/** Longest time from the loss until a turn comes back, ms. */
const LIMIT_MS = 4000;

async function twoHomes() {
  const table = new Table();
  const [one, two] = [await Home.open('one', { known: table }), await Home.open('two', { known: table })];
  const clock = new FakeClock();
  return { one, two, clock, forwarder: await Forwarder.open(table, new ScriptedHomes(at(one), at(two)), 1000, clock) };
}

/** A second passes, and what is on its way over the connection to a home arrives. */
async function aSecond(clock: FakeClock, forwarder: Forwarder, home: Home): Promise<void> {
  clock.advance(1000);
  await probe(forwarder.links, home.peer, 'any', clock);
}

describe('a connection to a home', () => {
  it('that loses everything gives its turns back within four seconds, and is not used again', async () => {
    const { one, two, clock, forwarder } = await twoHomes();
    const platform = forwarder.call().send('hello');
    await until('its home has it', async () => (await one.turn()).received.length === 1);
    for (let second = 0; second < 5; second += 1) await aSecond(clock, forwarder, one);
    one.swallow();
    clock.advance(LIMIT_MS);
    const turn = await two.turn();
    await until('the next home has what was said', () => turn.received.length === 1);
    expect(forwarder.homes.losses).toEqual([{ home: 'one', why: 'broken' }]);
    turn.stream.write(Buffer.from('reply'));
    turn.stream.end();
    await platform.ended();
    expect(platform.texts()).toEqual(['reply']);
    // The way is open again: over another connection.
    forwarder.homes.answers = [at(one)];
    forwarder.call().send('again');
    expect((await one.turn(1)).header('parley-forward-to')).toBe('one');
  });

  it('that lost everything while it had no turns is noticed by the next turn', async () => {
    const { one, two, clock, forwarder } = await twoHomes();
    await probe(forwarder.links, one.peer, 'any', clock);
    await aSecond(clock, forwarder, one);
    one.swallow();
    forwarder.call().send('hello');
    await until('it is sent', () => forwarder.relays.size === 1);
    clock.advance(LIMIT_MS);
    await two.turn();
  });

  it('stays while its turns say nothing, and is asked nothing once they are over', async () => {
    const { one, clock, forwarder } = await twoHomes();
    const platform = forwarder.call().send('hello');
    const turn = await one.turn();
    for (let second = 0; second < 20; second += 1) await aSecond(clock, forwarder, one);
    expect(forwarder.homes.losses).toEqual([]);
    turn.stream.end();
    await platform.ended();
    await until('nothing is left but the timer of an idle connection', () => {
      clock.advance(100);
      return clock.pendingTimers === 1;
    });
    expect(forwarder.links.size).toBe(1);
  });
});
