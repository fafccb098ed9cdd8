// Rules about the list of agents and the start of a call, over real sockets.
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { play, say } from '../../src/bot/index.ts';
import { INPUT_MODE } from '../../src/contract/grpc.ts';
import { MULAW_WAV_HEADER_BYTES } from '../../src/speech/wav.ts';
import { DEFAULT_LISTEN } from '../support/defaults.ts';
import { recorded } from '../support/line-signals.ts';
import type { PlatformClient } from '../support/platform-client.ts';
import { ordered, started, WITH_PUPPET } from '../support/puppet.ts';
import { RunningServer } from '../support/running-server.ts';
import { event, keys } from '../support/wire-audio.ts';

/** A server for one test. */
async function serverWith(...flags: readonly string[]): Promise<{ server: RunningServer; client: PlatformClient }> {
  const server = await RunningServer.start({ flags });
  onTestFinished(() => server.close());
  return { server, client: await server.client() };
}

describe('the list of agents', () => {
  it('G-05 is empty, and no error, for an organization that may choose none', async () => {
    const { client } = await serverWith(...WITH_PUPPET, '--bots.others=none');
    expect((await client.list()).virtual_agents ?? []).toEqual([]);
    const turn = await client.call().turn(event('SESSION_START'));
    expect(turn.ending.code).toBe(status.NOT_FOUND);
  });

  it('G-06 names the same ids after a restart, and an id that a flow has stored still works', async () => {
    const before = await serverWith();
    const { virtual_agents = [] } = await before.client.list();
    await before.server.app.close();
    const after = await serverWith();
    expect(virtual_agents.length).toBeGreaterThan(1);
    expect((await after.client.list()).virtual_agents).toEqual(virtual_agents);
    for (const { virtual_agent_id: agentId = '' } of virtual_agents) {
      const call = after.client.call({ agentId });
      expect((await call.turn(event('SESSION_START'))).ending, agentId).toMatchObject({ code: status.OK });
      await call.turn(event('SESSION_END'));
    }
  });

  it.each([
    { name: 'the default agent, which alone is marked', flags: ['--bots.default_bot=echo'], defaults: ['echo'], answers: /^Say something/ },
    { name: 'the first agent by id where none is marked', flags: [], defaults: [], answers: /dental practice/ },
  ])('G-07 a call that names no agent gets $name', async ({ flags, defaults, answers }) => {
    const { client } = await serverWith('--synthesizer.engine=none', ...flags);
    const { virtual_agents = [] } = await client.list();
    expect(virtual_agents.filter(({ is_default }) => is_default).map(({ virtual_agent_id }) => virtual_agent_id)).toEqual(defaults);
    const call = client.call({ agentId: '' });
    const welcome = await call.turn(event('SESSION_START'));
    expect(welcome.responses.flatMap(({ prompts = [] }) => prompts.map(({ text }) => text)).join()).toMatch(answers);
    await call.turn(event('SESSION_END'));
  });
});

describe.each(['chunk', 'wav'] as const)('the start of a call in %s mode', (mode) => {
  let server: RunningServer;
  let client: PlatformClient;
  beforeAll(async () => {
    server = await RunningServer.start({ flags: [...WITH_PUPPET, `--media.mode=${mode}`] });
    client = await server.client();
  });
  afterAll(async () => {
    await server.quiet();
    await server.close();
  });

  it('G-21 G-22 G-26 is answered on its own RPC: prompts in their order, a FINAL, the first input by voice or keys, no transcript', async () => {
    const call = client.call();
    const welcome = await call.turn(started({ reply: play('yes.wav').play('number.wav').listen() }));
    expect(welcome.ending.code).toBe(status.OK);
    expect(welcome.story).toEqual(mode === 'chunk' ? ['CHUNK audio', 'CHUNK audio', 'FINAL empty'] : ['FINAL wav wav']);
    const headerBytes = mode === 'chunk' ? 0 : MULAW_WAV_HEADER_BYTES;
    const sounds = welcome.responses.flatMap(({ prompts = [] }) => prompts.map(({ audio_content = new Uint8Array(0) }) => audio_content));
    const [yes, number] = sounds.map((sound) => sound.subarray(headerBytes));
    expect([yes?.length, number?.length]).toEqual([recorded('yes').length, recorded('number').length]);
    const final = welcome.responses.at(-1);
    expect(final).toMatchObject({ response_type: 0, input_mode: INPUT_MODE.INPUT_VOICE_DTMF, input_sensitive: false });
    expect(final?.input_handling_config).toEqual({
      dtmf_config: { dtmf_input_length: 1, inter_digit_timeout_msec: 3000, termchar: 16 },
      speech_timers: { no_input_timeout_msec: DEFAULT_LISTEN.noInputMs },
    });
    for (const member of ['session_transcript', 'session_summary', 'output_events']) expect(final).not.toHaveProperty(member);
    await call.turn(event('SESSION_END'));
  });

  it('G-26 G-27 can be cut where neither the bot nor the setting says otherwise', async () => {
    const call = client.call();
    const { responses } = await call.turn(started({ reply: play('yes.wav').listen() }));
    const flags = responses.flatMap(({ prompts = [] }) => prompts.map(({ is_barge_in_enabled }) => is_barge_in_enabled));
    expect(new Set(flags)).toEqual(new Set([true]));
    await call.turn(event('SESSION_END'));
  });

  it.each([
    ['SESSION_START', started({ reply: play('yes.wav').listen() })],
    ['digits', keys('5')],
    ['silence', event('NO_INPUT')],
    ['an event of the flow', ordered({ reply: play('number.wav').listen() })],
  ] as const)('G-25 %s is answered and completed before the half-close, and just so after it', async (name, input) => {
    const early = client.call();
    const late = client.call();
    if (name !== 'SESSION_START') {
      for (const call of [early, late]) await call.turn(started({ later: play('yes.wav').listen() }));
    }
    const unclosed = early.open(input);
    expect(await unclosed.ended()).toMatchObject({ code: status.OK });
    const closed = await late.turn(input);
    expect(closed.ending).toMatchObject({ code: status.OK });
    expect(unclosed.story.at(-1)).toBe(mode === 'chunk' ? 'FINAL empty' : 'FINAL wav');
    expect(unclosed.responses).toEqual(closed.responses);
    // The half-close that comes too late changes nothing.
    unclosed.halfClose();
    expect((await early.turn(keys('6'))).story).toEqual(closed.story.length === 2 ? ['CHUNK audio', 'FINAL empty'] : ['FINAL wav']);
    for (const call of [early, late]) await call.turn(event('SESSION_END'));
  });

  it('G-15 goes on wherever the next RPC comes in: on another connection, with what was said on the first', async () => {
    const other = await server.client();
    const call = client.call();
    await call.turn(started({ later: play('number.wav').listen({ digits: 7 }) }));
    const elsewhere = other.call(call.ids);
    const turn = await elsewhere.turn(keys('1'));
    expect(turn.responses.at(-1)).toMatchObject({ input_handling_config: { dtmf_config: { dtmf_input_length: 7 } } });
    expect(server.app.openSessions()).toBe(1);
    await elsewhere.turn(event('SESSION_END'));
    expect(server.app.openSessions()).toBe(0);
  });
});

describe('a welcome without a voice', () => {
  it('G-46 travels as text alone, in one FINAL, and each of its texts once', async () => {
    const { client } = await serverWith(...WITH_PUPPET, '--synthesizer.engine=none');
    const call = client.call();
    const welcome = await call.turn(started({ reply: say('One.').say('Two.').listen() }));
    expect(welcome.story).toEqual(['FINAL text text']);
    expect(welcome.responses[0]?.prompts?.map(({ text }) => text)).toEqual(['One.', 'Two.']);
    await call.turn(event('SESSION_END'));
  });
});
