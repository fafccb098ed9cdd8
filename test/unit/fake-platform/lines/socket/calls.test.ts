// Whole calls over real sockets: what the platform sends and when, and whose it takes each answer to be.
import { describe, expect, it } from 'vitest';
import { press, say } from '../../../../support/fake-line.ts';
import { CountedClock } from '../../../../support/counted-clock.ts';
import { scaledClock } from '../../../../../src/base/scaled-clock.ts';
import {
  around,
  audioOf,
  callSocket,
  chunk,
  ending,
  final,
  hear,
  reply,
  welcome,
  type ScriptedSocket,
  type SocketScript,
} from '../../../../support/scripted-socket-server.ts';

/** Welcomes, and says nothing more. */
const welcoming: SocketScript = (socket) => welcome(socket);

describe('a call over WebSocket', () => {
  it('W-01, W-05 goes to the voice path with the token as Bearer, below the prefix of the target (W-02)', async () => {
    const { server } = await callSocket(welcoming, { token: 'a.b.c' });
    expect(server.sockets[0]?.request.url).toBe('/v1/va');
    expect(server.sockets[0]?.request.headers.authorization).toBe('Bearer a.b.c');
    const { server: prefixed } = await callSocket(welcoming, {}, { prefix: '/voice' });
    expect(prefixed.sockets[0]?.request.url).toBe('/voice/v1/va');
    expect(prefixed.sockets[0]?.request.headers.authorization).toBeUndefined();
  });

  it('W-08, W-28 is one socket from SESSION_START to SESSION_END, which the platform then closes', async () => {
    const clock = new CountedClock(scaledClock(20));
    const { result, server } = await callSocket(welcoming, { clock });
    expect(result).toMatchObject({ ok: true, outcome: 'hung_up', findings: [] });
    expect(server.exchange).toEqual(['> SESSION_START', '< CHUNK sound', '< FINAL', '> SESSION_END', '> close 1000']);
    expect(server.sockets).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('numbers its messages from 1 upwards, dates them, and names call, organization and agent in each (W-10, W-13)', async () => {
    const { server } = await callSocket(welcoming, {
      agentId: 'hello',
      allowPartial: true,
      vendorConfig: '{"a":"?"}',
      sessionStart: { name: 'begin', parameters: { points: 3 } },
    });
    const received = server.sockets[0]?.received ?? [];
    expect(received.map(({ envelope }) => envelope.seq)).toEqual(received.map((_, index) => index + 1));
    for (const { envelope } of received) {
      expect(new Date(envelope.ts).toISOString()).toBe(envelope.ts);
      expect(envelope.conversation_id).toBe('conversation-1');
      if (envelope.type !== 'VOICE_VA_REQUEST') continue;
      expect(envelope.payload).toMatchObject({
        conversation_id: 'conversation-1',
        customer_org_id: '11111111-2222-4333-8444-555555555555',
        virtual_agent_id: 'hello',
        allow_partial_responses: true,
        vendor_specific_config: '{"a":"?"}',
      });
    }
    expect(received[0]?.envelope).toMatchObject({
      payload: { voice_va_input_type: { event_input: { event_type: 'SESSION_START', name: 'begin', parameters: { points: 3 } } } },
    });
  });

  it('W-23, W-30 sends audio without a pause from the session start on, each frame with encoding and rate', async () => {
    const { result, server } = await callSocket(
      async (socket) => {
        await socket.next('SESSION_START');
        for (let frame = 0; frame < 10; frame += 1) await socket.next('silence');
        reply(socket, 100);
        await hear(socket);
        // While the platform awaits the reply, and while the prompt plays that may not be cut, silence goes on.
        for (let frame = 0; frame < 25; frame += 1) await socket.next('silence');
        reply(socket, 500);
        for (let frame = 0; frame < 20; frame += 1) await socket.next('silence');
      },
      { script: [say(300)] },
    );
    expect(result).toMatchObject({ outcome: 'hung_up', findings: [], replies: [{ kind: 'session_start' }, { kind: 'speech' }] });
    const frames = (server.sockets[0]?.received ?? []).flatMap(({ envelope }) => (audioOf(envelope) === undefined ? [] : [envelope]));
    for (const envelope of frames) {
      expect(envelope).toMatchObject({
        payload: { voice_va_input_type: { audio_input: { encoding: 'MULAW_FORMAT', sample_rate_hertz: 8000 } } },
      });
    }
    const lengths = frames.map((envelope) => audioOf(envelope)?.length);
    expect(lengths.filter((length) => length !== 160)).toEqual([3, 3, 3]);
  });

  it('speaks, presses keys by name (W-26), and hears the end (W-29)', async () => {
    const { result, server } = await callSocket(
      async (socket) => {
        await welcome(socket, 300);
        await hear(socket);
        reply(socket, 200);
        await socket.next('START_OF_DTMF');
        await socket.next('dtmf STAR');
        socket.respond(chunk(200));
        socket.respond(ending('TRANSFER_TO_AGENT', { routing_hint: 'sales' }));
      },
      { script: [say(300), press('*')] },
    );
    expect(result).toMatchObject({ ok: true, outcome: 'transferred', findings: [], terminal: { metadata: { routing_hint: 'sales' } } });
    expect(result.replies.map(({ kind, audioMs }) => [kind, audioMs])).toEqual([
      ['session_start', 300],
      ['speech', 200],
      ['dtmf', 200],
    ]);
    expect(server.exchange).toEqual([
      '> SESSION_START',
      '< CHUNK sound',
      '< FINAL',
      '< FINAL START_OF_INPUT',
      '< CHUNK END_OF_INPUT',
      '< CHUNK sound',
      '< FINAL',
      '> START_OF_DTMF',
      '> dtmf STAR',
      '< CHUNK sound',
      '< FINAL TRANSFER_TO_AGENT',
      '> close 1000',
    ]);
  });

  it('W-14 reports silence after its own time where the server names none, and after that of the server where it does', async () => {
    const silent: SocketScript = async (socket) => {
      await welcome(socket);
      await socket.next('NO_INPUT');
      reply(socket, 100, { input_handling_config: { speech_timers: { no_input_timeout_msec: 700 } } });
      await socket.next('NO_INPUT');
      socket.respond(ending('SESSION_END'));
    };
    const { result } = await callSocket(silent, { script: [{ kind: 'stay_silent' }, { kind: 'stay_silent' }], noInputMs: 2000 });
    expect(result).toMatchObject({ outcome: 'ended', findings: [] });
    const waits = result.timeline.filter(({ what }) => what === 'no_input' || what === 'prompts_over').map(({ atMs }) => atMs);
    expect((waits[1] ?? 0) - (waits[0] ?? 0)).toBeGreaterThanOrEqual(1990);
    expect((waits[3] ?? 0) - (waits[2] ?? 0)).toBeLessThan(1900);
  });

  it('G-72 sends an event of the flow with its data', async () => {
    const { server } = await callSocket(
      async (socket) => {
        await welcome(socket);
        await socket.next('CUSTOM_EVENT');
        socket.respond(final());
      },
      { script: [{ kind: 'send_event', name: 'bonus', parameters: { points: 3 } }] },
    );
    expect(server.sockets[0]?.received.find(({ name }) => name === 'CUSTOM_EVENT')?.envelope).toMatchObject({
      payload: { voice_va_input_type: { event_input: { name: 'bonus', parameters: { points: 3 } } } },
    });
  });

  it('G-72 hears the caller while an event of the flow stays without an answer', async () => {
    const { result, server } = await callSocket(
      async (socket) => {
        await welcome(socket);
        await socket.next('CUSTOM_EVENT');
        await hear(socket);
        reply(socket, 200);
      },
      { script: [{ kind: 'wait', waitMs: 2000 }, say(300)], flowEvents: [{ atMs: 1000, name: 'x', parameters: {} }] },
    );
    expect(server.failures).toEqual([]);
    expect(result).toMatchObject({
      outcome: 'hung_up',
      findings: [],
      replies: [{ kind: 'session_start' }, { kind: 'speech', audioMs: 200 }],
    });
    expect(result.durationMs).toBeLessThan(20_000);
  });

  it('takes the texts of a reply from the metadata of its FINAL, and nothing that is no text', async () => {
    const { result } = await callSocket(async (socket) => {
      await socket.next('SESSION_START');
      socket.respond(chunk(100));
      socket.respond(final(), { metadata: { parley_prompt_texts: ['Welcome.', 4] } });
    });
    expect(result.heardTexts).toEqual(['Welcome.']);
  });

  it('is lost with the connection when it is to be', async () => {
    const { result, server } = await callSocket(welcoming, {
      script: [{ kind: 'wait', waitMs: 60_000 }],
      conditions: { loseAfterMs: 800 },
    });
    expect(result).toMatchObject({ ok: true, outcome: 'lost', findings: [] });
    expect(server.sockets[0]?.closedWith).toBe(1006);
  });

  it('goes on over a line with jitter and a reader that is slow', async () => {
    const { result } = await callSocket(
      async (socket) => {
        await welcome(socket, 300);
        await hear(socket);
        reply(socket, 200);
      },
      { script: [say(300)], conditions: { jitterMs: 100, slowReader: { pauseMs: 300, bytesPerSecond: 4000 } } },
    );
    expect(result).toMatchObject({ ok: true, outcome: 'hung_up', findings: [] });
  });
});

describe('a caller who comes in between', () => {
  /** Speaks 300 ms into the welcome, which goes on for seconds. */
  function interrupting(cut: (socket: ScriptedSocket) => void): ReturnType<typeof callSocket> {
    return callSocket(
      async (socket) => {
        await socket.next('SESSION_START');
        // Long enough for a busy machine: it is not over when the cut arrives.
        for (let piece = 0; piece < 3; piece++) socket.respond(chunk(2000, true));
        await socket.next('speech');
        cut(socket);
        await socket.next('silence');
        socket.respond(around('END_OF_INPUT'));
        reply(socket, 200);
      },
      { script: [say(400, 300)] },
    );
  }

  const good = {
    outcome: 'hung_up',
    replies: [
      { kind: 'session_start', isInterrupted: true },
      { kind: 'speech', audioMs: 200 },
    ],
  };

  it('W-27 hears no more of the reply that was cut, whose FINAL comes first', async () => {
    const { result } = await interrupting((socket) => {
      socket.respond(final());
      socket.respond(around('START_OF_INPUT'));
    });
    expect(result).toMatchObject({ ...good, findings: [] });
  });

  it('W-24, W-27 takes the silent FINAL of the reply that was cut also behind START_OF_INPUT, and can do without one', async () => {
    const late = await interrupting((socket) => {
      socket.respond(around('START_OF_INPUT'));
      socket.respond(final());
    });
    expect(late.result).toMatchObject({ ...good, findings: [] });
    const never = await interrupting((socket) => {
      socket.respond(around('START_OF_INPUT'));
    });
    expect(never.result).toMatchObject({ ...good, findings: [] });
  });

  it('W-27 finds a reply that goes on behind START_OF_INPUT', async () => {
    const { result } = await interrupting((socket) => {
      socket.respond(around('START_OF_INPUT'));
      socket.respond(chunk(100, true));
    });
    expect(result).toMatchObject({ ...good, findings: [{ code: 'old_reply_goes_on', rule: 'W-27' }] });
  });

  it('with keys hears the reply to the keys, whether or not the reply before it closes', async () => {
    for (const { closes, frames } of [
      { closes: true, frames: 0 },
      { closes: false, frames: 10 },
      // Longer than the platform waits for the FINAL of a reply that was cut.
      { closes: false, frames: 60 },
    ]) {
      const { result } = await callSocket(
        async (socket) => {
          await socket.next('SESSION_START');
          socket.respond(chunk(4000, true));
          await socket.next('START_OF_DTMF');
          if (closes) socket.respond(final());
          await socket.next('dtmf ONE');
          for (let frame = 0; frame < frames; frame += 1) await socket.next('silence');
          reply(socket, 200);
        },
        { script: [press('1', 300)] },
      );
      expect(result.replies).toMatchObject([
        { kind: 'session_start', isInterrupted: true },
        { kind: 'dtmf', audioMs: 200 },
      ]);
      expect(result).toMatchObject({ outcome: 'hung_up', findings: [] });
    }
  });
});
