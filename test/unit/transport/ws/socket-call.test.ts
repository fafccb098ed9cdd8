// The protocol of one socket: what is demanded of each message.
import { describe, expect, it } from 'vitest';
import { Gate, type Visitor } from '../../../../src/transport/gate.ts';
import { FIRST_MESSAGE_MS, PlatformSocket, socketBench } from '../../../support/call-socket.ts';
import { flushMicrotasks } from '../../../support/fake-clock.ts';
import { expectRefused, openingAnew, plain, second, started, unreadableLoad } from '../../../support/plain-socket-call.ts';

const BAD = 'ERROR bad_request 400';
const START = { event_input: { event_type: 'SESSION_START' } };

describe('the first message of a socket', () => {
  it('W-08 W-10: opens the call, whose messages are numbered, dated and named', async () => {
    const bench = await socketBench([plain]);
    const platform = bench.open();
    await platform.start();
    expect(platform.socket.said).toEqual(['CHUNK', 'FINAL']);
    expect(platform.socket.sent).toMatchObject([
      { seq: 1, ts: '2027-01-15T08:00:00.000Z', conversation_id: 'c-1' },
      { seq: 2, ts: '2027-01-15T08:00:00.000Z', conversation_id: 'c-1' },
    ]);
    expect(bench.refused).toEqual([]);
  });

  it('W-17: may follow an envelope of an unknown type, which is ignored and numbers nothing', async () => {
    const bench = await socketBench([plain]);
    const platform = bench.open();
    platform.envelope({ type: 'HELLO' });
    platform.text(JSON.stringify({ type: 'WORSE', seq: 'none' }));
    await platform.start();
    expect(platform.socket.said).toEqual(['CHUNK', 'FINAL']);
    expect(bench.refused).toEqual([]);
  });

  it('W-20: must come in time', async () => {
    const bench = await socketBench([plain]);
    const platform = bench.open();
    // A PING says that somebody is there, and nothing of a call.
    platform.envelope({ type: 'PING' });
    bench.clock.advance(FIRST_MESSAGE_MS - 1);
    expect(platform.socket.said).toEqual(['PONG']);
    bench.clock.advance(1);
    await expectRefused(bench, platform, 'ERROR timeout 408', 1008);
  });

  it.each([
    ['another event', { event_input: { event_type: 'NO_INPUT' } }],
    ['the end of a session', { event_input: { event_type: 'SESSION_END' } }],
    ['an event of a later version', { event_input: { event_type: 'LATER' } }],
    ['audio', { audio_input: { encoding: 'MULAW_FORMAT', sample_rate_hertz: 8000 } }],
    ['keys', { dtmf_input: { dtmf_events: [] } }],
  ])('W-20: is SESSION_START and not %s', async (_what, input) => {
    const bench = await socketBench([plain]);
    const platform = bench.open();
    platform.request(input);
    await expectRefused(bench, platform, BAD, 1002);
  });

  it('W-43: is refused when its session is not there in time, and reading goes on until the close is answered', async () => {
    const bench = await openingAnew({ socket: { firstMessageTimeoutMs: 300 } });
    const { platform, clock, made } = bench;
    clock.advance(299);
    expect(platform.socket.said).toEqual([]);
    clock.advance(1);
    expect(platform.socket.isPaused).toBe(false);
    expect(bench.refused).toEqual(['internal']);
    await made();
    await expectRefused(bench, platform, 'ERROR upstream_error 502', 1011);
  });

  it('W-22: must name the organization of the token, and nothing else is ever said to a foreign one', async () => {
    const foreign: string[] = [];
    const bench = await socketBench([plain]);
    const gate = new Gate(undefined, 'websocket', { onForeign: () => foreign.push('foreign') });
    const visitor: Visitor = { kind: 'checked', principal: { organizationId: 'org', dataSourceId: 'd', transport: 'websocket' } };
    const platform = new PlatformSocket({ ...bench.parts, gate }, visitor);
    platform.request(START, { customer_org_id: 'other-org' });
    expect(platform.socket.said).toEqual(['ERROR unauthorized 401']);
    expect(foreign).toEqual(['foreign']);
    platform.event('SESSION_START');
    await expectRefused(bench, platform, 'ERROR unauthorized 401', 1008);
    expect(platform.socket.said).toHaveLength(1);
  });

  it('W-43: is refused for an agent that nobody is', async () => {
    const bench = await socketBench([plain, second]);
    const platform = bench.open();
    platform.request(START, { virtual_agent_id: 'nobody' });
    await flushMicrotasks();
    await expectRefused(bench, platform, 'ERROR bad_request 404', 1008);
  });

  it('W-43: is refused with an inner fault when its session cannot be made, without a word about why', async () => {
    const bench = await socketBench([plain], unreadableLoad(new Error('secret')));
    const platform = bench.open();
    platform.event('SESSION_START');
    await flushMicrotasks();
    expect(JSON.stringify(platform.socket.sent)).not.toContain('secret');
    await expectRefused(bench, platform, 'ERROR upstream_error 502', 1011);
  });
});

describe('every message of a socket', () => {
  it.each([
    [
      'W-13: names one conversation in envelope and payload',
      (p: PlatformSocket) => {
        p.request({ event_input: { event_type: 'NO_INPUT' } }, { conversation_id: 'c-2' });
      },
    ],
    [
      'W-21: stays with its conversation',
      (p: PlatformSocket) => {
        p.request({ event_input: { event_type: 'NO_INPUT' } }, { conversation_id: 'c-2' }, { conversation_id: 'c-2' });
      },
    ],
    [
      'W-21: stays with its organization',
      (p: PlatformSocket) => {
        p.request({ event_input: { event_type: 'NO_INPUT' } }, { customer_org_id: 'org-2' });
      },
    ],
    [
      'W-21: stays with its agent',
      (p: PlatformSocket) => {
        p.request({ event_input: { event_type: 'NO_INPUT' } }, { virtual_agent_id: 'second' });
      },
    ],
    [
      'W-21: starts the session once',
      (p: PlatformSocket) => {
        p.event('SESSION_START');
      },
    ],
    [
      'W-10: has a number that was not there before',
      (p: PlatformSocket) => {
        p.request({ event_input: { event_type: 'NO_INPUT' } }, {}, { seq: 1 });
      },
    ],
    [
      'W-10: has a number, a PING as well',
      (p: PlatformSocket) => {
        p.envelope({ type: 'PING', seq: 1 });
      },
    ],
    [
      'W-0A: is JSON',
      (p: PlatformSocket) => {
        p.text('{');
      },
    ],
    [
      'names its type',
      (p: PlatformSocket) => {
        p.envelope({});
      },
    ],
    [
      'holds one input',
      (p: PlatformSocket) => {
        p.request({});
      },
    ],
    [
      'carries audio that is Base64',
      (p: PlatformSocket) => {
        p.request({ audio_input: { caller_audio_b64: '!' } });
      },
    ],
  ])('%s', async (_rule, send) => {
    const bench = await started();
    send(bench.platform);
    await expectRefused(bench, bench.platform, BAD, 1002);
  });

  it('W-22: stays with the organization of the token', async () => {
    const bench = await socketBench([plain]);
    const platform = bench.open({ kind: 'checked', principal: { organizationId: 'org', dataSourceId: 'd', transport: 'websocket' } });
    await platform.start();
    platform.request({ event_input: { event_type: 'NO_INPUT' } }, { customer_org_id: 'org-2' });
    await expectRefused(bench, platform, 'ERROR unauthorized 401', 1008);
  });

  it('W-0A: is text', async () => {
    const bench = await started();
    bench.platform.call.received(Buffer.alloc(3), true);
    expect(bench.refused).toEqual(['unsupported_audio']);
    await expectRefused(bench, bench.platform, 'ERROR unsupported_media 415', 1003);
  });

  it.each([
    ['an encoding', { encoding: 'OPUS_FORMAT', sample_rate_hertz: 8000 }],
    ['a rate', { encoding: 'MULAW_FORMAT', sample_rate_hertz: 44_100 }],
  ])('W-43: has audio without %s that nobody can decode', async (_what, audio_input) => {
    const bench = await started();
    bench.platform.request({ audio_input });
    await expectRefused(bench, bench.platform, 'ERROR unsupported_media 415', 1003);
  });

  it('W-17: is ignored and logged where its type is unknown, and the call goes on', async () => {
    const { platform, refused, log } = await started();
    for (let each = 0; each < 3; each += 1) platform.envelope({ type: 'HELLO', payload: { secret: 'CANARY' } });
    platform.request({ dtmf_input: { dtmf_events: ['DTMF_DIGIT_ONE'] } });
    await flushMicrotasks();
    expect(platform.socket.said).toEqual(['CHUNK', 'FINAL']);
    expect(refused).toEqual([]);
    const told = log.lines.filter(({ message }) => message === 'an envelope of an unknown type was ignored');
    expect(told).toMatchObject([{ level: 'warn', conversationId: 'c-1' }]);
    expect(JSON.stringify(log.lines)).not.toMatch(/HELLO|CANARY/u);
  });

  it('W-10: may leave numbers out, and G-90: may be an event of a later version', async () => {
    const { platform, refused } = await started();
    platform.seq += 100;
    platform.event('EVENT_OF_NEXT_YEAR');
    platform.request({ event_input: { event_type: 'NO_INPUT' } }, { virtual_agent_id: 'plain' });
    await flushMicrotasks();
    expect(platform.socket.said).toEqual(['CHUNK', 'FINAL']);
    expect(refused).toEqual([]);
  });

  it('W-11: has a number that says nothing of turns, and that no answer repeats', async () => {
    const { platform } = await started();
    for (const seq of [700, 7000]) {
      platform.seq = seq;
      platform.press('DTMF_DIGIT_ONE');
      await flushMicrotasks();
    }
    expect(platform.socket.sent.map(({ seq }) => seq)).toEqual([3, 4, 5, 6]);
    expect(JSON.stringify(platform.socket.sent)).not.toMatch(/"seq":70|correlation|turn/u);
  });

  it('W-46: is answered with an ERROR before the close, and with nothing after it', async () => {
    const bench = await started();
    const { platform } = bench;
    platform.text('{');
    expect(platform.socket.closedWith).toEqual({ code: 1002, reason: 'bad_request' });
    expect(platform.socket.sent).toMatchObject([{ type: 'ERROR', seq: 3, conversation_id: 'c-1', detail: 'the message is not JSON' }]);
    platform.event('NO_INPUT');
    platform.envelope({ type: 'PING' });
    await flushMicrotasks();
    expect(platform.socket.said).toEqual([BAD]);
    expect(platform.socket.late).toEqual([]);
  });

  it('waits while the session is looked up, and reading stops meanwhile', async () => {
    const bench = await socketBench([plain]);
    const platform = bench.open();
    platform.event('SESSION_START');
    expect(platform.socket.isPaused).toBe(true);
    platform.press('DTMF_DIGIT_ONE');
    platform.envelope({ type: 'PING' });
    expect(platform.socket.said).toEqual([]);
    await flushMicrotasks();
    expect(platform.socket.isPaused).toBe(false);
    expect(platform.socket.said.toSorted()).toEqual(['CHUNK', 'CHUNK', 'FINAL', 'FINAL', 'PONG']);
    expect(platform.socket.said[0]).toBe('PONG');
  });

  it('W-45: does not wait without a bound', async () => {
    const bench = await socketBench([plain]);
    const platform = bench.open();
    platform.event('SESSION_START');
    for (let count = 0; count < 20 && platform.socket.closedWith === undefined; count += 1) platform.audio(new Uint8Array(16_000));
    await expectRefused(bench, platform, 'ERROR rate_limit 429', 1013);
    expect(platform.socket.isPaused).toBe(false);
  });
});

describe('PING, PONG and ERROR', () => {
  it('W-40 W-41: a PING is answered with its own number and conversation, and our numbers go on', async () => {
    const { platform } = await started();
    platform.envelope({ type: 'PING', seq: 70, conversation_id: 'c-other' });
    platform.seq = 70;
    platform.press('DTMF_DIGIT_ONE');
    await flushMicrotasks();
    expect(platform.socket.sent).toMatchObject([
      { type: 'PONG', seq: 70, conversation_id: 'c-other' },
      { seq: 3, conversation_id: 'c-1' },
      { seq: 4 },
    ]);
  });

  it('W-10: a PONG repeats a number of ours, which is none of the platform', async () => {
    const { platform } = await started();
    platform.envelope({ type: 'PONG', seq: 900 });
    platform.envelope({ type: 'PONG', seq: 1 });
    platform.press('DTMF_DIGIT_ONE');
    await flushMicrotasks();
    expect(platform.socket.said).toEqual(['CHUNK', 'FINAL']);
  });

  it('an ERROR is logged by its code once, and the call goes on', async () => {
    const { platform, log } = await started();
    platform.envelope({ type: 'ERROR', code: 'timeout', status: 408, detail: 'secret' });
    platform.envelope({ type: 'ERROR', code: 'secret', status: 408, detail: 'secret' });
    platform.press('DTMF_DIGIT_ONE');
    await flushMicrotasks();
    expect(platform.socket.said).toEqual(['CHUNK', 'FINAL']);
    expect(log.lines.filter(({ level }) => level === 'warn')).toMatchObject([{ reported: 'timeout', conversationId: 'c-1' }]);
    expect(JSON.stringify(log.lines)).not.toContain('secret');
  });
});
