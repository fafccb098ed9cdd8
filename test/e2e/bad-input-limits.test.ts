// Too much of everything: each limit holds, says so, and leaves the other clients alone.
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { FrameClient } from '../support/http2-frames.ts';
import { PATHS, type PlatformClient } from '../support/platform-client.ts';
import { RunningServer, WITH_TEST_BOTS, type ServerOptions } from '../support/running-server.ts';
import { until } from '../support/until.ts';
import { event, format, keys } from '../support/wire-audio.ts';

async function serverFor(options: ServerOptions): Promise<{ server: RunningServer; client: PlatformClient }> {
  const server = await RunningServer.start({ ...options, flags: [...WITH_TEST_BOTS, ...(options.flags ?? [])] });
  onTestFinished(() => server.close());
  return { server, client: await server.client() };
}

describe('messages that are too large', () => {
  let server: RunningServer;
  let client: PlatformClient;
  beforeAll(async () => {
    server = await RunningServer.start({ flags: WITH_TEST_BOTS });
    client = await server.client();
  });
  afterAll(() => server.close());

  const LARGE = { audio_input: { caller_audio: new Uint8Array(10 * 1024 * 1024) } };
  const TOO_LARGE = { code: status.RESOURCE_EXHAUSTED, details: expect.stringMatching(/^Received message larger than max/) as string };

  it('a first message of 10 MB is RESOURCE_EXHAUSTED and opens nothing', async () => {
    const turn = client.open({ metadata: { trackingid: 'large-first' } }).send(client.call().message(LARGE));
    expect(await turn.ended()).toMatchObject(TOO_LARGE);
    expect(server.app.openSessions()).toBe(0);
    await until('the log says so', () => server.logged({ level: 'debug', trackingId: 'large-first' }).length === 1);
  });

  it('a later message of 10 MB ends its turn and not the call', async () => {
    const call = client.call();
    await call.turn(event('SESSION_START'));
    const turn = call.open(format());
    await until('the turn is open', () => server.app.openTurns() === 1);
    turn.send(call.message(LARGE));
    expect(await turn.ended()).toMatchObject(TOO_LARGE);
    await server.quiet(1);
    expect(server.logged({ event: 'turn_ended', conversationId: call.ids.conversationId, end: 'hang_up' })).toHaveLength(1);
    expect((await call.turn(keys('5'))).ending.code).toBe(status.OK);
    await call.turn(event('SESSION_END'));
    await server.quiet();
  });

  it('a list request of 10 MB is RESOURCE_EXHAUSTED', async () => {
    await expect(client.list({ customer_org_id: 'o'.repeat(10 * 1024 * 1024) })).rejects.toMatchObject(TOO_LARGE);
  });
});

describe('3,000 streams on one connection', () => {
  it(
    'of a client that keeps to the limit: 1,000 are open, the others wait, other connections are served',
    { timeout: 180_000 },
    async () => {
      const clock = new FakeClock();
      const { server, client } = await serverFor({ clock, flags: ['--turns.max_open=2000'] });
      const other = await server.client();
      await other.list();
      const turns = Array.from({ length: 3000 }, () => {
        const call = client.call();
        return call.open(format());
      });
      await until(
        () => `1000 turns are open: ${String(server.app.openTurns())}`,
        () => server.app.openTurns() === 1000,
      );
      const startedMs = systemClock.monotonicMs();
      expect((await other.list()).virtual_agents).toHaveLength(1);
      expect((await other.call().turn(event('SESSION_START'))).ending.code).toBe(status.OK);
      expect(systemClock.monotonicMs() - startedMs).toBeLessThan(5000);
      expect(server.app.openTurns()).toBe(1000);
      // The places of those that go are taken by those that wait.
      for (const turn of turns.slice(0, 500)) turn.cancel();
      await until('a waiting stream takes the place', () => server.app.openSessions() > 1001 && server.app.openTurns() === 1000);
      client.close();
      for (const turn of turns) turn.cancel();
      await until('every turn is over', () => server.app.openTurns() === 0);
      // Calls that never began are swept like all that fall silent.
      await clock.advanceAsync(700_000);
      await server.quiet();
    },
  );

  it.each([
    ['a stranger', false],
    ['a client with a token', true],
  ])('of %s that keeps to no limit: the connection is ended, others are served', async (_who, hasToken) => {
    const { server, client } = await serverFor({ hasTls: false, flags: ['--grpc.max_streams_per_connection=100'] });
    await client.list();
    const flood = (await FrameClient.connect(server.app.ready.port)).greet();
    onTestFinished(() => {
      flood.destroy();
    });
    const authorization = hasToken ? await server.issuer.issueToken() : 'none';
    for (let stream = 0; stream < 3000; stream += 1) {
      flood.open(2 * stream + 1, {
        ':method': 'POST',
        ':scheme': 'http',
        ':path': PATHS.callerInput,
        ':authority': 'localhost',
        'content-type': 'application/grpc',
        te: 'trailers',
        authorization,
      });
    }
    const startedMs = systemClock.monotonicMs();
    await client.list();
    expect(systemClock.monotonicMs() - startedMs).toBeLessThan(5000);
    await until('the connection is ended', () => flood.isClosed);
    expect(flood.counts.headers).toBeLessThanOrEqual(100);
    await server.quiet();
    // One line a second at most tells of tokens that were refused, whoever floods.
    expect(server.logged({ level: 'warn' }).length).toBeLessThanOrEqual(2);
  });
});

describe('turns and sessions', () => {
  it('more open turns than allowed are RESOURCE_EXHAUSTED; places come back', async () => {
    const { server, client } = await serverFor({ flags: ['--turns.max_open=2'] });
    const open = [client.call().open(format()), client.call().open(format())];
    await until('both turns are open', () => server.app.openTurns() === 2);
    const third = client.call().open(format());
    expect(await third.ended()).toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
      details: 'the server has reached its limit of open streams',
    });
    expect(server.logged({ level: 'warn', code: 'overloaded' })).toHaveLength(1);
    for (const turn of open) turn.cancel();
    await server.quiet(2);
    expect((await client.call().turn(event('SESSION_START'))).ending.code).toBe(status.OK);
  });

  it('U-06 a call beyond the limit hears a line and goes to a person whatever it begins with; what wants no answer is RESOURCE_EXHAUSTED', async () => {
    const { server, client } = await serverFor({ flags: ['--sessions.max=1'] });
    await server.app.warmed;
    await client.call().turn(event('SESSION_START'));
    const turnedAway = await client.call().turn(event('SESSION_START'));
    expect([turnedAway.ending.code, turnedAway.story]).toEqual([status.OK, ['FINAL TRANSFER_TO_AGENT wav']]);
    // As if they had begun on another server: prompts of a call never change their way (G-40).
    for (const input of [keys('1'), event('NO_INPUT')]) {
      const late = await client.call().turn(input);
      expect([late.ending.code, late.story]).toEqual([status.OK, ['CHUNK audio', 'FINAL TRANSFER_TO_AGENT empty']]);
    }
    expect((await client.call().turn(format())).ending).toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
      details: 'the server has reached its limit of sessions',
    });
    expect(server.app.openSessions()).toBe(1);
  });

  it('more than eight open turns of one conversation are RESOURCE_EXHAUSTED', async () => {
    const { server, client } = await serverFor({});
    const call = client.call();
    await call.turn(event('SESSION_START'));
    const open = Array.from({ length: 8 }, () => call.open(format()));
    await until('eight turns are open', () => server.app.openTurns() === 8);
    expect(await call.open(format()).ended()).toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
      details: expect.stringMatching(/^the conversation has too many open streams/) as string,
    });
    for (const turn of open) turn.halfClose();
    await server.quiet(1);
  });

  it('G-91 a client that never reads is given up, and what waits for it is bounded', async () => {
    const clock = new FakeClock();
    const { server, client } = await serverFor({ clock, hasTls: false });
    const call = client.call();
    await call.turn(event('SESSION_START'));
    const timersAtRest = clock.pendingTimers;
    const deaf = (await FrameClient.connect(server.app.ready.port)).greet();
    onTestFinished(() => {
      deaf.destroy();
    });
    deaf.open(1, {
      ...{ ':method': 'POST', ':scheme': 'http', ':path': PATHS.callerInput, ':authority': 'localhost' },
      ...{ 'content-type': 'application/grpc', te: 'trailers', authorization: await server.issuer.issueToken() },
    });
    // The bot answers with forty prompts of 131 KB.
    deaf.send(1, client.encode(call.message(keys('*'))));
    await until('the window is full', () => deaf.receivedBytes === 65_535);
    await clock.advanceAsync(10_000);
    await server.quiet(1);
    expect(server.logged({ level: 'warn', code: 'slow_reader' })).toHaveLength(1);
    expect(await server.metric('parley_slow_readers_total{bot="tester"}')).toBe(1);
    expect(await server.metric('parley_streams_refused_total{code="slow_reader",transport="grpc"}')).toBe(1);
    expect(deaf.receivedBytes).toBe(65_535);
    expect(clock.pendingTimers).toBe(timersAtRest);
    expect((await call.turn(keys('5'))).ending.code).toBe(status.OK);
    await call.turn(event('SESSION_END'));
    await server.quiet();
  });
});
