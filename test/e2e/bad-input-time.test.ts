// Callers that go silent or vanish: what was open for them is closed in time, and nothing of it is left.
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { MediaRequest } from '../../src/contract/grpc.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { Http2Client, type Http2Stream } from '../support/http2-client.ts';
import { recorded } from '../support/line-signals.ts';
import { PATHS, type ClientTurn, type PlatformClient } from '../support/platform-client.ts';
import { RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import { until } from '../support/until.ts';
import { event, format, frames, keys, quiet } from '../support/wire-audio.ts';

const HOUR_MS = 3_600_000;

let clock: FakeClock;
let server: RunningServer;
let client: PlatformClient;
/** Timers of the server while nobody calls. */
let timersAtRest: number;

beforeAll(async () => {
  clock = new FakeClock();
  server = await RunningServer.start({ clock, flags: WITH_TEST_BOTS });
  await server.app.warmed;
  client = await server.client({ authorization: await server.issuer.issueToken({ lifetimeMinutes: 1440 }) });
});
afterAll(() => server.close());

beforeEach(async () => {
  // From here on the token is remembered, so that no check of it waits for keys.
  await client.list();
  // The synthesizer's thread goes when it has nothing to do.
  await clock.advanceAsync(120_000);
  timersAtRest = clock.pendingTimers;
});

/** A connection below gRPC with a valid token. */
async function rawClient(): Promise<Http2Client> {
  const raw = new Http2Client(server.target, {
    authority: server.certificate.certificatePem,
    authorization: await server.issuer.issueToken({ lifetimeMinutes: 1440 }),
  });
  onTestFinished(() => {
    raw.destroy();
  });
  await raw.connected();
  return raw;
}

/** Lets time pass until the turn is over: an hour at most. Frames may still be on their way when it begins. */
async function silenceUntilEnded(turn: ClientTurn): Promise<void> {
  let passedMs = 0;
  await until('the turn is over', async () => {
    if (turn.ending !== undefined) return true;
    await clock.advanceAsync(30_000);
    passedMs += 30_000;
    return false;
  });
  expect(passedMs).toBeLessThanOrEqual(HOUR_MS);
}

describe('a stream that is half open for an hour', () => {
  it('without any message ends with DEADLINE_EXCEEDED', async () => {
    const turn = client.open({ metadata: { trackingid: 'without-a-message' } });
    await until('the server waits for a message', () => clock.pendingTimers > timersAtRest);
    await clock.advanceAsync(HOUR_MS);
    expect(await turn.ended()).toMatchObject({
      code: status.DEADLINE_EXCEEDED,
      details: 'the stream was opened and no message came',
    });
    expect(server.logged({ level: 'warn', code: 'turn_timeout', trackingId: 'without-a-message' })).toHaveLength(1);
    await server.quiet();
    expect(clock.pendingTimers).toBe(timersAtRest);
  });

  it.each<readonly [string, readonly Pick<MediaRequest, 'audio_input' | 'event_input'>[]]>([
    ['after audio', [format(), ...quiet(500)]],
    ['in the middle of speech', [format(), ...frames(recorded('sentence').subarray(0, 12_000))]],
    ['after the start of keys', [event('START_OF_DTMF')]],
  ])('%s ends with DEADLINE_EXCEEDED, and its call with it', async (_when, messages) => {
    const call = client.call();
    await call.turn(event('SESSION_START'));
    const turn = call.open(...messages);
    await until('the turn is open', () => server.app.openTurns() === 1);
    if (messages.length > 50) await turn.heard('FINAL START_OF_INPUT');
    await silenceUntilEnded(turn);
    expect(turn.ending).toMatchObject({ code: status.DEADLINE_EXCEEDED, details: 'nothing came on the stream for too long' });
    await server.quiet();
    expect(server.logged({ event: 'session_ended', end: 'idle', conversationId: call.ids.conversationId })).toHaveLength(1);
    expect(clock.pendingTimers).toBe(timersAtRest);
  });

  it('with audio that never ends is transferred when the call has lasted as long as it may', async () => {
    const call = client.call();
    await call.turn(event('SESSION_START'));
    const turn = call.open(format());
    await until('the turn is open', () => server.app.openTurns() === 1);
    let passedMs = 0;
    await until('the turn is over', async () => {
      if (turn.ending !== undefined) return true;
      turn.send(...quiet(100).map((frame) => call.message(frame)));
      await client.list();
      await clock.advanceAsync(5 * 60_000);
      passedMs += 5 * 60_000;
      return false;
    });
    expect(passedMs).toBeGreaterThan(HOUR_MS - 1);
    expect(turn.ending).toMatchObject({ code: status.OK });
    expect(turn.story.at(-1)).toMatch(/^FINAL TRANSFER_TO_AGENT/);
    await server.quiet();
  });

  it('on the client side only holds no turn, no session and no timer of the server', async () => {
    const raw = await rawClient();
    const call = client.call();
    const streams = Array.from({ length: 50 }, () => raw.open(PATHS.callerInput).send(client.encode(call.message(event('START_OF_DTMF')))));
    await until('eight are open and the others refused', () => streams.filter(({ code }) => code !== undefined).length === 42);
    const ended = raw.open(PATHS.callerInput).send(client.encode(client.call().message(event('SESSION_END'))));
    expect(await ended.ended()).toMatchObject({ code: status.OK });
    await clock.advanceAsync(HOUR_MS);
    for (const stream of streams) await stream.ended();
    await server.quiet();
    expect(clock.pendingTimers).toBe(timersAtRest);
    expect(raw.isClosed).toBe(false);
  });
});

describe('a caller that vanishes', () => {
  /** Opens a turn on which the bot has begun to speak and still thinks. */
  async function speaking(raw: Http2Client, how: 'keys' | 'start' = 'keys'): Promise<{ stream: Http2Stream; conversationId: string }> {
    const call = client.call();
    if (how === 'keys') await call.turn(event('SESSION_START'));
    const input = how === 'keys' ? keys('7') : event('SESSION_START');
    const stream = raw.open(PATHS.callerInput).send(client.encode(call.message(input)));
    await until('the prompt is under way', () => stream.receivedBytes > 30_000 || how === 'start');
    return { stream, conversationId: call.ids.conversationId };
  }

  it('in the middle of a prompt, with its connection: the turn ends as a hang-up, the call is swept (G-93)', async () => {
    const raw = await rawClient();
    const { conversationId } = await speaking(raw);
    expect(server.app.openTurns()).toBe(1);
    raw.vanish();
    await server.quiet(1);
    expect(server.logged({ event: 'turn_ended', conversationId, end: 'hang_up' })).toHaveLength(1);
    await clock.advanceAsync(700_000);
    await server.quiet();
    expect(server.logged({ event: 'session_ended', conversationId, end: 'idle' })).toHaveLength(1);
    expect(clock.pendingTimers).toBe(timersAtRest);
  });

  it.each(['loses power', 'closes it'] as const)(
    'in the middle of a sentence, with a connection that %s: what was said so far is no input (G-12, G-16)',
    async (how) => {
      const raw = await rawClient();
      const call = client.call();
      await call.turn(event('SESSION_START'));
      const { conversationId } = call.ids;
      const stream = raw.open(PATHS.callerInput);
      for (const input of [format(), ...frames(recorded('sentence').subarray(0, 12_000))]) stream.send(client.encode(call.message(input)));
      await until('the caller is heard', () => stream.receivedBytes > 0);
      if (how === 'loses power') raw.vanish();
      else raw.destroy();
      await server.quiet(1);
      const seen = await server.app.shown.answer({ conversationId });
      const facts = seen.call?.facts.map(({ event: fact }) => fact);
      expect(facts).toContain('input_started');
      expect(facts).not.toContain('input_ended');
      await clock.advanceAsync(700_000);
      await server.quiet();
    },
  );

  it('in the middle of a prompt, by cancelling the RPC: the call goes on (G-16)', async () => {
    const call = client.call();
    await call.turn(event('SESSION_START'));
    const turn = call.open(keys('7')).halfClose();
    await turn.heard('CHUNK audio');
    turn.cancel();
    await server.quiet(1);
    expect((await call.turn(keys('5'))).story.at(-1)).toBe('FINAL empty');
    await call.turn(event('SESSION_END'));
    await server.quiet();
    // The ended call is remembered for a minute, so that late streams get no prompts; no timer is needed for it.
    expect(clock.pendingTimers).toBe(timersAtRest);
  });

  it('while the server waits for the first message, and while the token is checked', async () => {
    const raw = await rawClient();
    raw.open(PATHS.callerInput);
    await until('the server waits for a message', () => clock.pendingTimers > timersAtRest);
    raw.vanish();
    await until('no timer is left', () => clock.pendingTimers === timersAtRest);

    // Keys must be fetched for a token of another key.
    await server.issuer.rotateKey();
    clock.advance(60_000);
    const other = await rawClient();
    other.open(PATHS.callerInput).send(client.encode(client.call().message(event('SESSION_START'))));
    await other.connected();
    other.vanish();
    await client.list();
    await until('no timer is left', () => clock.pendingTimers <= timersAtRest);
    await clock.advanceAsync(700_000);
    await server.quiet();
  });

  it('at once, a hundred times: nothing piles up', async () => {
    for (let round = 0; round < 10; round += 1) {
      const raw = await rawClient();
      await Promise.all(Array.from({ length: 10 }, () => speaking(raw, 'start')));
      raw.vanish();
    }
    await until('every turn is over', () => server.app.openTurns() === 0);
    await clock.advanceAsync(700_000);
    await server.quiet();
    expect(clock.pendingTimers).toBe(timersAtRest);
  });
});
