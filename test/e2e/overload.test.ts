// A server that has enough to do: new calls hear a line and go to a person, running calls notice nothing, and what a client
// does not read does not pile up.
import { status } from '@grpc/grpc-js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { FrameClient } from '../support/http2-frames.ts';
import type { PlatformClient } from '../support/platform-client.ts';
import { RunningServer, WITH_TEST_BOTS, type ServerOptions } from '../support/running-server.ts';
import { until } from '../support/until.ts';
import { event, format, keys } from '../support/wire-audio.ts';

async function serverFor(options: ServerOptions): Promise<{ server: RunningServer; client: PlatformClient }> {
  const server = await RunningServer.start({ ...options, flags: [...WITH_TEST_BOTS, ...(options.flags ?? [])] });
  onTestFinished(() => server.close());
  return { server, client: await server.client() };
}

/** Places a new call. @returns what its caller got. */
async function fate(client: PlatformClient): Promise<readonly string[]> {
  return (await client.call().turn(event('SESSION_START'))).story;
}

const WELCOMED = ['CHUNK audio', 'FINAL empty'];
const TURNED_AWAY = ['FINAL TRANSFER_TO_AGENT wav'];

describe('a new call', () => {
  it('is turned away while the event loop is really blocked, running calls go on, and new ones are taken when it is free', async () => {
    const { server, client } = await serverFor({ flags: ['--overload.max_loop_delay_ms=100'] });
    await server.app.warmed;
    const running = client.call();
    await running.turn(event('SESSION_START'));
    const refused = 'parley_calls_refused_total{reason="loop_delay"}';
    // The server lives in this very process: whatever blocks the test blocks it.
    const block = (): void => {
      const untilMs = systemClock.monotonicMs() + 250;
      while (systemClock.monotonicMs() < untilMs);
    };
    let story: readonly string[] = [];
    await until('a call is turned away', async () => {
      block();
      story = await fate(client);
      return story.length === 1;
    });
    expect(story).toEqual(TURNED_AWAY);
    expect(await server.metric(refused)).toBe(1);
    block();
    expect((await running.turn(keys('5'))).story.at(-1)).toBe('FINAL empty');
    expect(server.logged({ level: 'warn', code: 'overloaded', reason: 'loop_delay' })).toHaveLength(1);
    await until('calls are taken again', async () => (await fate(client)).length > 1);
  });

  it('is turned away while the process holds more memory than it may', async () => {
    const { server, client } = await serverFor({ flags: ['--overload.max_rss_bytes=1048576'] });
    await server.app.warmed;
    expect(await fate(client)).toEqual(TURNED_AWAY);
    expect(await server.metric('parley_calls_refused_total{reason="memory"}')).toBe(1);
    expect(server.app.openSessions()).toBe(0);
  });

  it('is turned away when its organization has as many as it may', async () => {
    const { server, client } = await serverFor({ flags: ['--sessions.max_per_organization=1'] });
    await server.app.warmed;
    const first = client.call();
    expect((await first.turn(event('SESSION_START'))).story).toEqual(WELCOMED);
    expect(await fate(client)).toEqual(TURNED_AWAY);
    expect(await server.metric('parley_calls_refused_total{reason="organization"}')).toBe(1);
    // Whose limit it was stands wherever somebody looks.
    const { organizationId } = server.issuer.claims;
    expect(server.logged({ level: 'warn', reason: 'organization', organizationId })).toHaveLength(1);
    expect(await server.metric(`parley_organization_calls_refused{organization="${organizationId}",reason="organization"}`)).toBe(1);
    const calls = await fetch(`http://127.0.0.1:${String(server.app.ready.opsPort)}/calls?organizationId=${organizationId}`);
    expect(await calls.json()).toMatchObject({ refused: [{ organizationId, reason: 'organization', calls: 1 }] });
    await first.turn(event('SESSION_END'));
    expect(await fate(client)).toEqual(WELCOMED);
  });

  it('is turned away when its organization exceeds its limit of new calls per second', async () => {
    const { server, client } = await serverFor({ flags: ['--sessions.max_new_per_s_per_organization=1'] });
    await server.app.warmed;
    await Promise.all(Array.from({ length: 40 }, () => fate(client)));
    expect(await server.metric('parley_calls_refused_total{reason="organization_rate"}')).toBeGreaterThan(0);
  });

  it('is turned away when as many streams are open as may be, and a running call still gets one', async () => {
    const { server, client } = await serverFor({ flags: ['--turns.max_open=2'] });
    await server.app.warmed;
    const running = client.call();
    await running.turn(event('SESSION_START'));
    const open = [running.open(format()), running.open(format())];
    await until('both turns are open', () => server.app.openTurns() === 2);
    expect(await fate(client)).toEqual(TURNED_AWAY);
    expect(await server.metric('parley_calls_refused_total{reason="streams"}')).toBe(1);
    expect((await running.turn(keys('5'))).story.at(-1)).toBe('FINAL empty');
    for (const turn of open) turn.halfClose();
    await server.quiet(1);
    expect(await fate(client)).toEqual(WELCOMED);
  });

  it('of a flood writes one line a second, and each is counted', async () => {
    const { server, client } = await serverFor({ clock: new FakeClock(), flags: ['--sessions.max=1'] });
    await server.app.warmed;
    await fate(client);
    for (let call = 0; call < 20; call += 1) expect(await fate(client)).toEqual(TURNED_AWAY);
    for (let call = 0; call < 20; call += 1) {
      expect((await client.call().turn(format())).ending).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
    }
    expect(await server.metric('parley_calls_refused_total{reason="total"}')).toBe(40);
    expect(await server.metric('parley_sessions_open{bot="tester"}')).toBe(await server.metric('parley_sessions_limit'));
    expect(await server.metric('parley_streams_refused_total{code="overloaded",transport="grpc"}')).toBe(20);
    // One for those that heard a line, one for those that had said nothing yet.
    expect(server.logged({ level: 'warn', code: 'overloaded' })).toHaveLength(2);
    expect(server.logged({ level: 'debug', code: 'overloaded' })).toHaveLength(38);
  });
});

describe('what waits for a client that does not read', () => {
  it('G-91 is bounded in bytes: the RPC ends, and nothing grows', async () => {
    const { server, client } = await serverFor({ flags: ['--turns.max_queued_bytes=65536'] });
    const call = client.call();
    await call.turn(event('SESSION_START'));
    // Three chunks of 64 KiB at once, to a client whose window takes one.
    const turn = client
      .open({ isReading: false })
      .send(call.message(keys('*')))
      .halfClose();
    await until('the turn is given up', () => server.logged({ event: 'turn_ended', end: 'failed' }).length === 1);
    expect(server.logged({ level: 'warn', code: 'slow_reader', limitBytes: 65_536 })).toHaveLength(1);
    expect(await server.metric('parley_streams_refused_total{code="slow_reader",transport="grpc"}')).toBe(1);
    turn.read();
    expect(await turn.ended()).toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
      details: 'the client reads too slowly: too many bytes wait for it',
    });
    expect(turn.responses.length).toBeLessThanOrEqual(2);
    // The call itself goes on.
    expect((await call.turn(keys('2'))).ending.code).toBe(status.OK);
  });

  it('G-91 is no limit for a client that reads', async () => {
    const { server, client } = await serverFor({ flags: ['--turns.max_queued_bytes=200000', '--turns.max_ahead_ms=1200000'] });
    const call = client.call();
    await call.turn(event('SESSION_START'));
    // Forty prompts of 131 KB: five megabytes in all.
    expect((await call.turn(keys('*'))).ending.code).toBe(status.OK);
    expect(server.logged({ code: 'slow_reader' })).toEqual([]);
  });
});

describe('a connection', () => {
  it('without an open RPC is closed after a while, one with an open RPC is not', async () => {
    const { server, client } = await serverFor({ hasTls: false, flags: ['--grpc.max_connection_idle_ms=1000'] });
    const idle = (await FrameClient.connect(server.app.ready.port)).greet();
    onTestFinished(() => {
      idle.destroy();
    });
    const call = client.call();
    await call.turn(event('SESSION_START'));
    const open = call.open(format());
    await until('the idle connection is closed', () => idle.isClosed);
    expect(open.ending).toBeUndefined();
    expect(server.app.openTurns()).toBe(1);
    open.send(call.message(format())).halfClose();
    expect(await open.ended()).toMatchObject({ code: status.OK });
  });
});
