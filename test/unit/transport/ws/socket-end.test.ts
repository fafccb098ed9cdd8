// How the call on a socket ends: by the platform, by the bot, by a server that stops, and by a client that does not read.
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../../src/base/errors.ts';
import { bot, go, say } from '../../../../src/bot/index.ts';
import { PEER_CLOSE_MS, socketBench, type PlatformSocket, type SocketBench } from '../../../support/call-socket.ts';
import { flushMicrotasks } from '../../../support/fake-clock.ts';
import { expectRefused, openingAnew, plain, started, unreadableLoad } from '../../../support/plain-socket-call.ts';
import { slowToEnd } from '../../../support/stuck-bot.ts';

type Begun = Awaited<ReturnType<typeof started>>;

describe('the end of a call', () => {
  it('W-28: the end of the session is answered with nothing, and the platform closes', async () => {
    const bench = await started();
    const { platform, seen, clock } = bench;
    platform.event('SESSION_END');
    await flushMicrotasks();
    expect(platform.socket.said).toEqual([]);
    expect(seen).toContain('session_ended caller');
    expect(platform.socket.closedWith).toBeUndefined();
    platform.call.closed();
    await flushMicrotasks();
    expect([clock.pendingTimers - 1, bench.sessions.openTurns, bench.sessions.size]).toEqual([0, 0, 0]);
    expect(platform.socket.closedWith).toBeUndefined();
  });

  it('W-28 W-44: a platform that does not close is closed with 1000, and what it says meanwhile has no answer but that to a PING', async () => {
    const { platform, clock, refused } = await started();
    platform.event('SESSION_END');
    platform.press('DTMF_DIGIT_ONE');
    platform.event('SESSION_START');
    platform.text('{');
    platform.call.received(Buffer.alloc(3), true);
    platform.envelope({ type: 'PING' });
    await clock.advanceAsync(PEER_CLOSE_MS - 1);
    expect(platform.socket.said).toEqual(['PONG']);
    expect(platform.socket.closedWith).toBeUndefined();
    await clock.advanceAsync(1);
    expect(platform.socket.closedWith).toEqual({ code: 1000, reason: '' });
    expect(refused).toEqual([]);
  });

  it('W-29: after our own end the platform has its time to play the prompt and to close', async () => {
    const bench = await started();
    const { platform, clock, seen } = bench;
    // The welcome is over.
    await clock.advanceAsync(1000);
    platform.press('DTMF_DIGIT_NINE');
    await flushMicrotasks();
    expect(platform.socket.said).toEqual(['CHUNK', 'FINAL+SESSION_END']);
    expect(seen).toContain('session_ended bot_end');
    expect(bench.sessions.openTurns).toBe(0);
    await clock.advanceAsync('Bye.'.length * 10 + PEER_CLOSE_MS - 1);
    expect(platform.socket.closedWith).toBeUndefined();
    await clock.advanceAsync(1);
    expect(platform.socket.closedWith).toEqual({ code: 1000, reason: '' });
    expect(clock.pendingTimers).toBe(1);
  });

  it('W-2A: a socket that drops ends the call, whatever it was doing', async () => {
    const bench = await started();
    bench.platform.press('DTMF_DIGIT_ONE');
    bench.platform.call.closed();
    await flushMicrotasks();
    expect(bench.platform.socket.said).toEqual([]);
    expect(bench.seen).toContain('session_ended caller');
    expect([bench.clock.pendingTimers - 1, bench.sessions.openTurns, bench.sessions.size, bench.listeners.size]).toEqual([0, 0, 0, 0]);
  });

  it('W-2A: a socket that drops while its session is made leaves none behind', async () => {
    const bench = await openingAnew();
    const { platform } = bench;
    platform.call.closed();
    await bench.made();
    expect(platform.socket.said).toEqual([]);
    expect(bench.seen).toContain('session_ended caller');
    expect([bench.clock.pendingTimers - 1, bench.sessions.openTurns, bench.sessions.size]).toEqual([0, 0, 0]);
  });

  it('a socket that drops before its first message leaves nothing behind', async () => {
    const bench = await socketBench([plain]);
    const { call } = bench.open();
    call.closed();
    expect(bench.clock.pendingTimers).toBe(1);
    expect(bench.refused).toEqual([]);
  });

  it('G-28 W-21: on a second socket a live conversation begins anew, and the first one has lost it (W-08)', async () => {
    const bench = await started();
    const second = bench.open();
    await second.start();
    expect(second.socket.said).toEqual(['CHUNK', 'FINAL']);
    expect(bench.seen.filter((event) => event.startsWith('session_'))).toEqual([
      'session_started',
      'session_ended restarted',
      'session_started',
    ]);
    bench.platform.press('DTMF_DIGIT_ONE');
    expect([bench.platform.socket.said, bench.platform.socket.closedWith?.code]).toEqual([['ERROR bad_request 409'], 1008]);
    bench.platform.call.closed();
    second.press('DTMF_DIGIT_ONE');
    await flushMicrotasks();
    expect(second.socket.said).toEqual(['CHUNK', 'FINAL', 'CHUNK', 'FINAL']);
  });

  it.each([
    [
      'its socket was dropped (W-2A)',
      ({ platform }: Begun) => {
        platform.call.closed();
      },
    ],
    [
      'its caller has hung up',
      ({ platform }: Begun) => {
        platform.event('SESSION_END');
      },
    ],
    [
      'its bot has ended it',
      ({ platform }: Begun) => {
        platform.press('DTMF_DIGIT_NINE');
      },
    ],
  ])('G-28 W-21: on a new socket a conversation begins anew when %s', async (_what, end) => {
    const bench = await started();
    end(bench);
    await flushMicrotasks();
    const next = bench.open();
    await next.start();
    next.press('DTMF_DIGIT_ONE');
    await flushMicrotasks();
    expect([next.socket.said, bench.sessions.size]).toEqual([['CHUNK', 'FINAL', 'CHUNK', 'FINAL'], 1]);
  });

  it('W-08: of two sockets that begin one conversation at once the last has it', async () => {
    const bench = await socketBench([plain]);
    const [first, second] = [bench.open(), bench.open()];
    first.event('SESSION_START');
    second.event('SESSION_START');
    await flushMicrotasks();
    expect([first.socket.said, second.socket.said]).toEqual([['ERROR bad_request 409'], ['CHUNK', 'FINAL']]);
  });

  it('W-44: an idle call ends with an ERROR and 1008', async () => {
    const bench = await started({ settings: { idleTimeoutMs: 100_000 } });
    await bench.clock.advanceAsync(180_000);
    await expectRefused(bench, bench.platform, 'ERROR timeout 408', 1008);
  });
});

describe('a call whose socket is closed from here', () => {
  const ends = ({ seen }: SocketBench): readonly string[] => seen.filter((event) => event.startsWith('session_ended'));

  it.each([
    [
      '1002, for a message that breaks the protocol',
      (p: PlatformSocket) => {
        p.text('{');
      },
    ],
    [
      '1003, for one that is no text',
      (p: PlatformSocket) => {
        p.call.received(Buffer.alloc(3), true);
      },
    ],
    [
      '1008, for one of a stranger',
      (p: PlatformSocket) => {
        p.call.fail(new AppError('foreign_organization', 'the organization is another'));
      },
    ],
    [
      '1011, for a fault of ours',
      (p: PlatformSocket) => {
        p.call.fail(new AppError('internal', 'a fault'));
      },
    ],
    [
      '1013, for a client that does not read',
      (p: PlatformSocket) => {
        p.call.fail(new AppError('slow_reader', 'the client reads too slowly: too many bytes wait for it'));
      },
    ],
  ])('W-44: %s, was not hung up by its caller', async (what, breakOff) => {
    const bench = await started();
    bench.platform.press('DTMF_DIGIT_ONE');
    breakOff(bench.platform);
    expect(bench.platform.socket.closedWith?.code).toBe(Number.parseInt(what));
    bench.platform.call.closed();
    await flushMicrotasks();
    expect(ends(bench)).toEqual(['session_ended failed']);
    expect(bench.seen.filter((event) => event.startsWith('turn_ended') && !event.endsWith('replied'))).toEqual([
      ...['turn_ended failed', 'turn_ended failed'],
    ]);
    expect([bench.clock.pendingTimers - 1, bench.sessions.openTurns, bench.sessions.size, bench.listeners.size]).toEqual([0, 0, 0, 0]);
  });

  it('W-44: was not hung up by its caller either when its session was still being made', async () => {
    const bench = await openingAnew();
    bench.platform.call.fail(new AppError('internal', 'a fault'));
    await bench.made();
    expect([ends(bench), bench.sessions.openTurns]).toEqual([['session_ended restarted', 'session_ended failed'], 0]);
  });

  it('W-44: ends with the server when that is stopping', async () => {
    const bench = await started({ settings: { maxFarewellMs: 30_000 } });
    const closing = bench.sessions.close(20_000);
    // In the middle of the line that hands the caller over.
    await bench.clock.advanceAsync(15_050);
    expect(bench.platform.socket.said).toEqual(['CHUNK']);
    bench.platform.text('{');
    expect(bench.platform.socket.closedWith?.code).toBe(1001);
    await bench.clock.advanceAsync(10_000);
    await closing;
    expect(ends(bench)).toEqual(['session_ended shutdown']);
  });
});

describe('a call that gets no session', () => {
  it('hears a line and is transferred; the socket is closed with 1000', async () => {
    const bench = await socketBench([plain], { limits: { maxSessions: 0 } });
    const platform = bench.open();
    platform.event('SESSION_START');
    platform.press('DTMF_DIGIT_ONE');
    await flushMicrotasks();
    expect(platform.socket.said).toEqual(['CHUNK', 'FINAL+TRANSFER_TO_AGENT']);
    expect([bench.refused, platform.socket.isPaused]).toEqual([[], false]);
    await bench.clock.advanceAsync('I will connect you.'.length * 10 + PEER_CLOSE_MS - 1);
    expect(platform.socket.closedWith).toBeUndefined();
    await bench.clock.advanceAsync(1);
    expect(platform.socket.closedWith?.code).toBe(1000);
  });

  it('W-44: is closed with 1001 by a server that stops', async () => {
    const bench = await socketBench([plain]);
    bench.sessions.drain();
    const platform = bench.open();
    await platform.start();
    expect(platform.socket.said).toEqual(['CHUNK', 'FINAL+TRANSFER_TO_AGENT']);
    await bench.clock.advanceAsync(60_000);
    expect(platform.socket.closedWith?.code).toBe(1001);
  });

  it('W-2A: hears a line, too, where it is unknown whether its conversation exists', async () => {
    const bench = await socketBench([plain], unreadableLoad(new AppError('store_unavailable', 'away')));
    const platform = bench.open();
    await platform.start();
    expect(platform.socket.said).toEqual(['CHUNK', 'FINAL+TRANSFER_TO_AGENT']);
    expect(bench.refused).toEqual([]);
    await bench.clock.advanceAsync(60_000);
    expect(platform.socket.closedWith?.code).toBe(1000);
  });

  it('gets nothing when its socket drops first', async () => {
    const { slow, open } = slowToEnd();
    const bench = await socketBench([slow], { limits: { maxSessions: 1 } });
    const over = bench.open();
    await over.start();
    over.event('SESSION_END');
    // Another call takes its place.
    const other = { conversation_id: 'c-2' };
    bench.open().request({ event_input: { event_type: 'SESSION_START' } }, other, other);
    const platform = bench.open();
    await platform.start();
    platform.call.closed();
    open();
    await flushMicrotasks();
    expect(bench.seen).toContain('call_refused total');
    // It does not come back to life.
    platform.text('{');
    expect(platform.socket.said).toEqual([]);
  });
});

describe('a server that stops', () => {
  it('W-44: transfers the caller with a line, and closes with 1001', async () => {
    const bench = await started();
    const { platform, clock, sessions } = bench;
    const closing = sessions.close(20_000);
    await clock.advanceAsync(14_900);
    expect(platform.socket.said).toEqual([]);
    await clock.advanceAsync(200);
    expect(platform.socket.said).toEqual(['CHUNK', 'FINAL+TRANSFER_TO_AGENT']);
    await clock.advanceAsync(10_000);
    await closing;
    expect(platform.socket.closedWith?.code).toBe(1001);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a platform that does not read', () => {
  const talker = bot<null>({
    id: 'talker',
    name: 'Talker',
    version: 1,
    session_start: () =>
      go(
        null,
        Array.from({ length: 8 }, () => 'A long prompt, said again and again. '.repeat(10))
          .reduce((reply, text) => reply.say(text), say('Well.'))
          .listen(),
      ),
    otherwise: () => go(null, say('?').listen()),
  });

  it('lets the engine wait, which then goes on', async () => {
    const bench = await socketBench([talker]);
    const platform = bench.open();
    platform.socket.isRead = false;
    await platform.start();
    const waiting = platform.socket.said.length;
    expect(platform.socket.said).not.toContain('FINAL');
    while (!platform.socket.said.includes('FINAL')) {
      platform.socket.read();
      await flushMicrotasks();
    }
    expect(platform.socket.said.length).toBeGreaterThan(waiting);
    expect(bench.refused).toEqual([]);
  });

  it('W-43 W-44: is given up with rate_limit and 1013 when it reads nothing for too long', async () => {
    const bench = await socketBench([talker], { settings: { slowReaderMs: 10_000 } });
    const platform = bench.open();
    platform.socket.isRead = false;
    await platform.start();
    await bench.clock.advanceAsync(10_000);
    expect(bench.refused).toEqual(['slow_reader']);
    await expectRefused(bench, platform, 'ERROR rate_limit 429', 1013);
  });

  it('W-45: is given up at once when more waits than may, in the middle of a prompt or with PINGs alone', async () => {
    for (const send of [
      (platform: PlatformSocket) => platform.start(),
      async (platform: PlatformSocket) => {
        for (let count = 0; count < 2000; count += 1) platform.envelope({ type: 'PING' });
        await flushMicrotasks();
      },
    ]) {
      const bench = await socketBench([talker], { socket: { maxQueuedBytes: 65_536 } });
      const platform = bench.open();
      platform.socket.isRead = false;
      await send(platform);
      expect(bench.refused).toEqual(['slow_reader']);
      await expectRefused(bench, platform, 'ERROR rate_limit 429', 1013);
      expect(platform.socket.messages.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(66_500);
    }
  });
});
