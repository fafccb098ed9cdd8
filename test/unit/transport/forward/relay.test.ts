// The suite "relay": a turn that is passed on to its home, over real sockets with TLS.
import { Metadata, status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { loadContract } from '../../../../src/contract/grpc.ts';
import { loadProfile } from '../../../../src/contract/profile.ts';
import { ToWire } from '../../../../src/transport/grpc/to-wire.ts';
import { at, Forwarder, Home, ScriptedHomes, Table, type HomeStream } from '../../../support/forwarding.ts';
import { until } from '../../../support/until.ts';

const wire = new ToWire(loadContract(loadProfile('fake')));
const INPUT_STARTED = Buffer.concat(wire.responses({ kind: 'input_started' }));
const INPUT_ENDED = Buffer.concat(wire.responses({ kind: 'input_ended', mode: 'chunk' }));
const FINAL = Buffer.concat(wire.responses({ kind: 'final', mode: 'wav', prompts: [], next: { kind: 'gone' } }));

/** What a home says that does not have the call. */
function notMine(): { readonly code: status; readonly details: string; readonly metadata: Metadata } {
  const metadata = new Metadata();
  metadata.set('parley-not-mine', '1');
  return { code: status.UNAVAILABLE, details: '', metadata };
}

async function oneHome(): Promise<{ readonly home: Home; readonly forwarder: Forwarder }> {
  const table = new Table();
  const home = await Home.open('one', { known: table });
  return { home, forwarder: await Forwarder.open(table, new ScriptedHomes(at(home))) };
}

describe('a forwarded turn', () => {
  it('G-12 brings messages, half-close, replies and trailing metadata through unchanged', async () => {
    const { home, forwarder } = await oneHome();
    const platform = forwarder.call({ metadata: { authorization: 'Bearer token', 'x-bin': 'AAE=' } }).send('first', 'second');
    const turn = await home.turn();
    await until('both messages are there', () => turn.received.length === 2);
    expect(turn.texts()).toEqual(['first', 'second']);
    expect(turn.header('authorization')).toBe('Bearer token');
    expect(turn.isHalfClosed).toBe(false);
    platform.stream.end();
    await until('the home sees the half-close', () => turn.isHalfClosed);
    const trailers = new Metadata();
    trailers.set('note', 'well');
    trailers.set('bytes-bin', Buffer.from([0, 255]));
    turn.stream.write(Buffer.from('reply'));
    turn.stream.end(trailers);
    const { code, metadata } = await platform.ended();
    expect(platform.texts()).toEqual(['reply']);
    expect(code).toBe(status.OK);
    expect(metadata.get('note')).toEqual(['well']);
    expect(metadata.get('bytes-bin')).toEqual([Buffer.from([0, 255])]);
    expect(metadata.get('grpc-encoding')).toEqual([]);
    expect(forwarder.events).toEqual(['opened', 'completed 11 5']);
  });

  it('G-13 passes an OK without messages on while the platform is still sending', async () => {
    const { home, forwarder } = await oneHome();
    const platform = forwarder.call().send('key');
    (await home.turn()).stream.end();
    expect(await platform.ended()).toMatchObject({ code: status.OK });
  });

  it.each([[[]], [['some', 'words']]])('passes an error on with its text and trailing metadata, behind %j', async (messages) => {
    const { home, forwarder } = await oneHome();
    const platform = forwarder.call().send('hello');
    const { stream } = await home.turn();
    for (const message of messages) stream.write(Buffer.from(message));
    const metadata = new Metadata();
    metadata.set('why', 'because');
    stream.emit('error', { code: status.RESOURCE_EXHAUSTED, details: 'too much, 100 %', metadata });
    const ended = await platform.ended();
    expect(ended).toMatchObject({ code: status.RESOURCE_EXHAUSTED, details: 'too much, 100 %' });
    expect(ended.metadata.get('why')).toEqual(['because']);
    expect(platform.texts()).toEqual(messages);
    expect(forwarder.events.at(-1)).toMatch(/^error /u);
  });

  it('G-16 is cancelled at its home when the platform cancels it, and leaves nothing behind', async () => {
    const { home, forwarder } = await oneHome();
    const platform = forwarder.call().send('hello');
    const turn = await home.turn();
    platform.stream.cancel();
    await until('the home sees it', () => turn.isCancelled);
    await until('it is counted', () => forwarder.events.includes('cancelled 5 0'));
    expect(forwarder.relays.size).toBe(0);
    expect(forwarder.homes.losses).toEqual([]);
  });

  it('has the deadline of the platform at its home', async () => {
    const { home, forwarder } = await oneHome();
    const platform = forwarder.call({ deadlineMs: 400 }).send('hello');
    const turn = await home.turn();
    const leftMs = Number(turn.stream.getDeadline()) - forwarder.clock.nowMs();
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(400);
    expect(await platform.ended()).toMatchObject({ code: status.DEADLINE_EXCEEDED });
    await until('nothing is left at the home', () => turn.isCancelled);
    expect(forwarder.relays.size).toBe(0);
  });

  it('ignores what the platform says under the names of peers, and removes it', async () => {
    const { home, forwarder } = await oneHome();
    const metadata = { 'parley-forward-to': 'evil', 'parley-turn': 'evil', 'parley-take': '1', 'parley-sent': 'start_of_input' };
    forwarder.call({ metadata }).send('hello');
    const turn = await home.turn();
    expect(turn.header('parley-forward-to')).toBe('one');
    expect(turn.header('parley-turn')).toMatch(/^[\da-f-]{36}$/u);
    expect(turn.header('parley-take')).toBeUndefined();
    expect(turn.header('parley-sent')).toBeUndefined();
  });

  it('says that the peer is to take a call which nobody has', async () => {
    const { home, forwarder } = await oneHome();
    forwarder.homes.answers = [at(home, true)];
    forwarder.call().send('hello');
    expect((await home.turn()).header('parley-take')).toBe('1');
  });

  it('times the first answer of turns that want one at once, and of no others', async () => {
    const { home, forwarder } = await oneHome();
    for (const opensWith of ['start', 'nothing'] as const) {
      forwarder.asked = { opensWith };
      const platform = forwarder.call().send('hello');
      const { stream } = await home.turn(home.turns.length);
      stream.write(Buffer.from('a'));
      stream.end();
      await platform.ended();
    }
    expect(forwarder.events.filter((event) => event === 'answered')).toHaveLength(1);
  });

  it('is refused when as many are forwarded as may be', async () => {
    const table = new Table();
    const home = await Home.open('one', { known: table });
    const forwarder = await Forwarder.open(table, new ScriptedHomes(at(home)), 1);
    forwarder.call().send('one');
    await home.turn();
    expect(await forwarder.call().send('two').ended()).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
  });
});

describe('back-pressure of a forwarded turn', () => {
  const PIECE = Buffer.alloc(16_384, 7);
  const PIECES = 200;

  /** Writes far more than may wait anywhere. */
  function writeAll(stream: Pick<HomeStream, 'write'>): { readonly takenBytes: number; isStopped(): Promise<void> } {
    let takenBytes = 0;
    for (let n = 0; n < PIECES; n += 1) stream.write(PIECE, () => (takenBytes += PIECE.length));
    let [before, looks] = [-1, 0];
    return {
      get takenBytes() {
        return takenBytes;
      },
      isStopped: () =>
        until('whoever writes is stopped', () => {
          looks = takenBytes === before ? looks + 1 : 0;
          before = takenBytes;
          return looks > 40;
        }),
    };
  }

  it('G-91 stops a home whose platform does not read, after a bounded number of bytes, and loses none', async () => {
    const { home, forwarder } = await oneHome();
    const platform = forwarder.callUnread('hello');
    const { stream } = await home.turn();
    const sent = writeAll(stream);
    await sent.isStopped();
    expect(sent.takenBytes).toBeLessThan(700_000);
    stream.end();
    let [readBytes, isEnded] = [0, false];
    platform.stream.on('data', (chunk: Buffer) => (readBytes += chunk.length));
    platform.stream.on('end', () => (isEnded = true));
    await until('all is read', () => isEnded);
    expect(readBytes).toBe(PIECES * (PIECE.length + 5));
    platform.destroy();
  });

  it('stops a platform whose home does not read, after a bounded number of bytes, and loses none', async () => {
    const table = new Table();
    const home = await Home.open('one', { known: table, reads: false });
    const forwarder = await Forwarder.open(table, new ScriptedHomes(at(home)));
    const platform = forwarder.call().send('hello');
    const turn = await home.turn();
    const sent = writeAll(platform.stream);
    await sent.isStopped();
    expect(sent.takenBytes).toBeLessThan(1_500_000);
    turn.read();
    await until('all has come', () => turn.received.length === PIECES + 1);
  });
});

describe('a turn whose home is lost', () => {
  async function twoHomes(): Promise<{ readonly one: Home; readonly two: Home; readonly forwarder: Forwarder }> {
    const table = new Table();
    const [one, two] = [await Home.open('one', { known: table }), await Home.open('two', { known: table })];
    return { one, two, forwarder: await Forwarder.open(table, new ScriptedHomes(at(one), at(one), at(two))) };
  }

  it('is brought to the next home with all that was held, and the platform hears nothing of it', async () => {
    const { one, two, forwarder } = await twoHomes();
    const platform = forwarder.call().send('first', 'second');
    const before = await one.turn();
    await until('it has both', () => before.received.length === 2);
    one.kill();
    const turn = await two.turn();
    platform.send('third');
    platform.stream.end();
    await until('the next home has all', () => turn.isHalfClosed);
    expect(turn.texts()).toEqual(['first', 'second', 'third']);
    expect(turn.header('parley-turn')).toBe(before.header('parley-turn'));
    expect(turn.header('parley-forward-to')).toBe('two');
    turn.stream.write(Buffer.from('reply'));
    turn.stream.end();
    expect(await platform.ended()).toMatchObject({ code: status.OK });
    expect(platform.texts()).toEqual(['reply']);
    // The connection broke, the next one was refused: the second is what proves it dead.
    expect(forwarder.homes.losses).toEqual([
      { home: 'one', why: 'broken' },
      { home: 'one', why: 'refused' },
    ]);
  });

  it('half-closes there as well when the platform had done so before', async () => {
    const { one, two, forwarder } = await twoHomes();
    const platform = forwarder.call().send('first');
    platform.stream.end();
    const before = await one.turn();
    await until('the home sees the half-close', () => before.isHalfClosed);
    one.kill();
    const turn = await two.turn();
    await until('the next one sees it, too', () => turn.isHalfClosed);
    expect(turn.texts()).toEqual(['first']);
  });

  it('G-36 G-38 says which events the platform has had, so that it hears neither twice', async () => {
    const { one, two, forwarder } = await twoHomes();
    const platform = forwarder.call().send('first');
    const { stream } = await one.turn();
    stream.write(INPUT_STARTED);
    stream.write(INPUT_ENDED);
    await until('the platform has them', () => platform.received.length === 2);
    one.kill();
    expect((await two.turn()).header('parley-sent')).toBe('start_of_input,end_of_input');
  });

  it('G-14 ends well when the platform has had the whole reply, and nobody says it again', async () => {
    const { one, two, forwarder } = await twoHomes();
    const platform = forwarder.call().send('first');
    (await one.turn()).stream.write(FINAL);
    await until('the platform has it', () => platform.received.length === 1);
    one.kill();
    expect(await platform.ended()).toMatchObject({ code: status.OK });
    expect(two.turns).toHaveLength(0);
  });

  it('keeps the first message and the newest ones of a turn that is longer than what is held', async () => {
    const { one, two, forwarder } = await twoHomes();
    const platform = forwarder.call().send('first');
    const before = await one.turn();
    for (let n = 0; n < 40; n += 1) platform.send(Buffer.alloc(8192, n));
    await until('it has all', () => before.received.length === 41);
    one.kill();
    const turn = await two.turn();
    platform.stream.end();
    await until('the next home has all', () => turn.isHalfClosed);
    const [first, ...newest] = turn.received;
    expect(String(first)).toBe('first');
    expect(newest.map(([byte]) => byte)).toEqual(Array.from({ length: newest.length }, (_, n) => 40 - newest.length + n));
    expect(newest.length * 8192).toBeGreaterThan(100_000);
    expect(newest.length * 8192).toBeLessThanOrEqual(131_072);
  });

  it('moves on when its home is found dead that still holds the connection', async () => {
    const { one, two, forwarder } = await twoHomes();
    forwarder.homes.answers = [at(one), at(two)];
    forwarder.call().send('first');
    const before = await one.turn();
    forwarder.relays.peerDied('two');
    expect(forwarder.relays.size).toBe(1);
    forwarder.relays.peerDied('one');
    expect((await two.turn()).header('parley-turn')).toBe(before.header('parley-turn'));
    await until('the old one is rid of it', () => before.isCancelled);
  });

  it('asks anew when a home says that the call is not its own, however often', async () => {
    const { one, two, forwarder } = await twoHomes();
    const third = await Home.open('three', { known: { has: () => true, refresh: () => Promise.resolve() } });
    forwarder.homes.answers = [at(one), at(two), at(third)];
    const platform = forwarder.call().send('first');
    for (const home of [one, two]) (await home.turn()).stream.emit('error', notMine());
    const turn = await third.turn();
    turn.stream.end();
    expect(await platform.ended()).toMatchObject({ code: status.OK });
    expect(forwarder.homes.losses.map(({ why }) => why)).toEqual(['not_mine', 'not_mine']);
  });

  it('waits a moment before it is brought anywhere the second time that homes say so, and longer each further time', async () => {
    const { home, forwarder } = await oneHome();
    forwarder.call().send('hello');
    for (let turn = 0; turn < 4; turn += 1) (await home.turn(turn)).stream.emit('error', notMine());
    await home.turn(4);
    expect(forwarder.clock.waits.filter((ms) => [50, 100, 200].includes(ms))).toEqual([50, 100, 200]);
  });

  it('does so also in the middle of a turn, as a home does that drains', async () => {
    const { one, two, forwarder } = await twoHomes();
    forwarder.homes.answers = [at(one), at(two)];
    forwarder.call().send('first');
    const { stream } = await one.turn();
    stream.write(INPUT_STARTED);
    stream.emit('error', notMine());
    expect((await two.turn()).header('parley-sent')).toBe('start_of_input');
  });

  it('comes back with what is held when this process is the next home', async () => {
    const { one, forwarder } = await twoHomes();
    const here = { kind: 'here', restored: { snapshot: { kept: true }, generation: 1 } } as const;
    forwarder.homes.answers = [at(one), here];
    const platform = forwarder.call().send('first', 'second');
    const before = await one.turn();
    before.stream.write(INPUT_STARTED);
    await until('both sides have theirs', () => before.received.length === 2 && platform.received.length === 1);
    const id = before.header('parley-turn');
    one.kill();
    await until('it comes back', () => forwarder.cameHome.length === 1);
    expect(forwarder.cameHome).toEqual([
      { located: here, held: { id, messages: [Buffer.from('second')], sentEvents: new Set(['input_started']) } },
    ]);
    expect(forwarder.events.at(-1)).toMatch(/^taken_over /u);
  });

  it('moves with 200 others that hold as much as may be, and none is lost', async () => {
    const { one, two, forwarder } = await twoHomes();
    forwarder.homes.answers = [];
    const lost = new Set<string>();
    forwarder.homes.locate = () => Promise.resolve(at(lost.has('one') ? two : one));
    forwarder.homes.lost = (_call, home) => lost.add(home.id);
    const platforms = Array.from({ length: 200 }, () => forwarder.call().send(Buffer.alloc(120_000, 1)));
    await until('all are there', () => one.turns.filter(({ received }) => received.length === 1).length === 200);
    one.kill();
    await until('all have moved', () => two.turns.filter(({ received }) => received.length === 1).length === 200);
    for (const turn of two.turns) turn.stream.end();
    for (const platform of platforms) expect(await platform.ended()).toMatchObject({ code: status.OK });
    await forwarder.relays.over(10_000);
    expect(forwarder.relays.size).toBe(0);
  });

  it('is tried at one home at a time and at most five times, and says then whether its caller waits for a reply', async () => {
    const { one, forwarder } = await twoHomes();
    one.kill();
    forwarder.homes.answers = [at(one)];
    const platform = forwarder.call().send('first');
    expect(await platform.ended()).toMatchObject({ code: status.UNAVAILABLE });
    expect(forwarder.homes.losses).toEqual(Array.from({ length: 5 }, () => ({ home: 'one', why: 'refused' })));
    expect(forwarder.failed.map(({ error, isReplyDue }) => [error.code, isReplyDue])).toEqual([['home_unreachable', false]]);
    expect(forwarder.relays.size).toBe(0);
  });

  it('needs a reply for a caller whose input is complete', async () => {
    const { one, forwarder } = await twoHomes();
    forwarder.homes.answers = [at(one)];
    const platform = forwarder.call().send('first');
    (await one.turn()).stream.write(INPUT_ENDED);
    await until('the platform has it', () => platform.received.length === 1);
    one.kill();
    await platform.ended();
    expect(forwarder.failed.map(({ isReplyDue }) => isReplyDue)).toEqual([true]);
  });

  it('goes on at its home when a connection gets GOAWAY: open turns end well, new ones get another connection', async () => {
    const { one, forwarder } = await twoHomes();
    forwarder.homes.answers = [at(one)];
    const platform = forwarder.call().send('first');
    const turn = await one.turn();
    const closed = one.port.close(10_000);
    await until('the connection is not used any more', () => forwarder.links.size === 0);
    turn.stream.write(Buffer.from('reply'));
    turn.stream.end();
    expect(await platform.ended()).toMatchObject({ code: status.OK });
    expect(platform.texts()).toEqual(['reply']);
    await closed;
  });
});
