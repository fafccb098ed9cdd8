// What can be seen of a call from outside: log lines that are found by the platform's tracking id, a timeline, metrics.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { PlatformClient } from '../support/platform-client.ts';
import { RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import { event, keys } from '../support/wire-audio.ts';

let server: RunningServer;
let client: PlatformClient;

beforeAll(async () => {
  server = await RunningServer.start({ flags: WITH_TEST_BOTS });
  client = await server.client();
});
afterAll(() => server.close());

const anything: unknown = expect.any(String);

describe('the tracking id', () => {
  it('P-02 of the platform stands on every line of its turn, cut to a sane length and alphabet', async () => {
    const call = client.call();
    const sent = `ROUTER_7-a.b:c d"e\\f${'x'.repeat(300)}`;
    const turn = client
      .open({ metadata: { trackingid: sent } })
      .send(call.message(event('SESSION_START')))
      .halfClose();
    await turn.ended();
    const trackingId = `ROUTER_7-a.b:c_d_e_f${'x'.repeat(108)}`;
    const { conversationId } = call.ids;
    for (const name of ['turn_started', 'reply_started', 'turn_ended']) {
      expect(server.logged({ event: name, conversationId, trackingId }), name).toHaveLength(1);
    }
    // A call that nobody has begun: a line that the engine writes itself.
    const unknown = client.call();
    await unknown.turn(keys('5'));
    const lines = [conversationId, unknown.ids.conversationId]
      .flatMap((id) => server.logged({ conversationId: id }))
      .filter((line) => 'turnId' in line);
    expect(lines.filter((line) => !('event' in line))).not.toEqual([]);
    for (const line of lines) expect(line, String(line['msg'])).toMatchObject({ trackingId: anything, organizationId: anything });
  });

  it('P-02 is one of ours where the platform sends none, and another one for each turn', async () => {
    const call = client.call();
    await call.turn(event('SESSION_START'));
    await call.turn(keys('5'));
    const ids = server.logged({ event: 'turn_ended', conversationId: call.ids.conversationId }).map((line) => line['trackingId']);
    expect(ids).toEqual([expect.stringMatching(/^[\da-f-]{36}$/u), expect.stringMatching(/^[\da-f-]{36}$/u)]);
    expect(new Set(ids).size).toBe(2);
  });
});

describe('the timeline of a call', () => {
  const timeline = z.object({
    conversationId: z.string(),
    end: z.string(),
    facts: z.array(z.object({ atMs: z.number(), event: z.string(), turnId: z.string().optional(), code: z.string().optional() })),
  });
  const get = async (place: string): Promise<unknown> =>
    (await fetch(`http://127.0.0.1:${String(server.app.ready.opsPort)}${place}`)).json();

  it('shows on the operations server what happened and when, a failing bot included, and none of the keys', async () => {
    // The apology has its sound.
    await server.app.warmed;
    const call = client.call();
    await call.turn(event('SESSION_START'));
    await call.turn(keys('8'));
    await call.turn(event('SESSION_END'));
    const found = timeline.parse(await get(`/calls/${call.ids.conversationId}`));
    expect(found.end).toBe('caller');
    // Whether the key cuts the welcome is a matter of how fast this machine is.
    const second = found.facts.filter(({ turnId, event: name }) => turnId?.endsWith('#2') && name !== 'barge_in');
    expect(second.map(({ event: name }) => name)).toEqual([
      ...['turn_started', 'bot_asked', 'bot_answered', 'bot_failed', 'reply_started', 'answer_parts', 'turn_ended'],
    ]);
    expect(second.find(({ event: name }) => name === 'bot_failed')).toMatchObject({ code: 'bot_failed' });
    const times = found.facts.map(({ atMs }) => atMs);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    const list = z.object({ calls: z.array(z.object({ conversationId: z.string(), factCount: z.number() })) }).parse(await get('/calls'));
    expect(list.calls[0]).toMatchObject({ conversationId: call.ids.conversationId, factCount: found.facts.length });
    expect(JSON.stringify(found)).not.toContain('cannot cope');
  });

  it('has its counterpart in the metrics', async () => {
    expect(await server.metric('parley_bot_events_total{bot="tester",event="dtmf_input"}')).toBeGreaterThan(0);
    expect(await server.metric('parley_bot_failures_total{bot="tester",code="bot_failed"}')).toBe(1);
    expect(await server.metric('parley_bot_answer_seconds_count{bot="tester"}')).toBeGreaterThan(0);
    expect(await server.metric('parley_event_loop_delay_seconds')).toBeGreaterThanOrEqual(0);
  });
});
