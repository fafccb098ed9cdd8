// What single replies look like on the wire: sizes, headers, settings, terminal events, sensitive input, texts.
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { jsonFromStruct } from '../../src/contract/struct.ts';
import { DEFAULT_LISTEN } from '../support/defaults.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { joined, recorded, silence } from '../support/line-signals.ts';
import type { PlatformCall } from '../support/platform-call.ts';
import type { ClientTurn, PlatformClient } from '../support/platform-client.ts';
import { RunningServer, WITH_TEST_BOTS, type ServerOptions } from '../support/running-server.ts';
import { event, format, frames, keys, PROBE } from '../support/wire-audio.ts';

/** A server for one test. */
async function serverFor(options: ServerOptions): Promise<{ server: RunningServer; client: PlatformClient }> {
  const server = await RunningServer.start(options);
  onTestFinished(() => server.close());
  return { server, client: await server.client() };
}

async function begun(client: PlatformClient): Promise<PlatformCall> {
  const call = client.call();
  await call.turn(event('SESSION_START'));
  return call;
}

describe('replies in chunk mode', () => {
  let server: RunningServer;
  let client: PlatformClient;
  beforeAll(async () => {
    server = await RunningServer.start({ flags: [...WITH_TEST_BOTS, '--media.mode=chunk'] });
    client = await server.client();
  });
  afterAll(() => server.close());

  it('G-42 G-43 G-49 cuts a long prompt into headerless chunks of 100 to 65,536 bytes and closes with an empty FINAL', async () => {
    const turn = await (await begun(client)).turn(keys('5'));
    const chunks = turn.responses.filter((response) => response.response_type === 2);
    expect(turn.story).toEqual([...chunks.map(() => 'CHUNK audio'), 'FINAL empty']);
    const sizes = chunks.flatMap(({ prompts = [] }) => prompts.map(({ audio_content }) => audio_content?.length ?? 0));
    expect(sizes.length).toBe(chunks.length);
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(100);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(65_536);
    expect(turn.audio.equals(new Uint8Array(2 * 65_536 + 60).fill(0x55))).toBe(true);
    for (const { input_mode, input_handling_config } of chunks) expect({ input_mode, input_handling_config }).toEqual({});
  });

  it('G-44 G-80 puts the settings for the next input on the FINAL, and only there', async () => {
    const turn = await (await begun(client)).turn(keys('1'));
    const final = turn.responses.at(-1);
    expect(final).toMatchObject({ input_mode: 2, input_sensitive: false });
    expect(final?.input_handling_config).toEqual({
      dtmf_config: { dtmf_input_length: 1, inter_digit_timeout_msec: 3000, termchar: 15 },
      speech_timers: { no_input_timeout_msec: DEFAULT_LISTEN.noInputMs },
    });
  });

  it('G-56 keeps the barge-in flag of each prompt and repeats the last on the empty one', async () => {
    const turn = await (await begun(client)).turn(keys('6'));
    expect(flagsOf(turn)).toEqual([false, true, true]);
  });

  it('G-76 G-78 G-55 ends a call with one SESSION_END, no input settings and no barge-in; G-7C nothing is said after it', async () => {
    const call = await begun(client);
    const last = await call.turn(keys('2'));
    expect(last.story).toEqual(['CHUNK audio', 'FINAL SESSION_END empty']);
    expect(flagsOf(last)).toEqual([false, false]);
    expect(last.responses.at(-1)).not.toHaveProperty('input_mode');
    expect(last.responses.at(-1)).not.toHaveProperty('input_handling_config');
    for (const late of [keys('1'), event('NO_INPUT'), event('SESSION_END')]) {
      const turn = await call.turn(late);
      expect(turn.ending.code).toBe(status.OK);
      expect(turn.responses.flatMap(({ prompts = [], output_events = [] }) => [...prompts, ...output_events])).toEqual([]);
    }
    const spoken = await call.turn(format(), ...frames(recorded('yes')), ...frames(silence(1500)));
    expect({ story: spoken.story, code: spoken.ending.code }).toEqual({ story: [], code: status.OK });
  });

  it('G-77 G-79 G-7B hands a call over with name, summary and routing hint', async () => {
    const last = await (await begun(client)).turn(keys('3'));
    expect(last.story).toEqual(['CHUNK audio', 'FINAL TRANSFER_TO_AGENT empty']);
    const final = last.responses.at(-1);
    expect(final?.session_summary).toEqual({ text: 'Wants a person.' });
    expect(final).not.toHaveProperty('input_mode');
    const [event] = final?.output_events ?? [];
    expect(event).toMatchObject({ event_type: 2, name: 'transfer_requested' });
    expect(jsonFromStruct(event?.metadata)).toEqual({
      reason: 'asked',
      summary: 'Wants a person.',
      routing_hint: 'sales',
      fields: { tries: 2 },
    });
  });

  it('G-68 G-83 marks the next input as sensitive, once, and keeps its digits out of the log', async () => {
    const call = await begun(client);
    expect((await call.turn(keys('4'))).responses.at(-1)).toMatchObject({ input_sensitive: true });
    const code = ['4', '0', '7', '1', '9', '3', '3', '8', '6', '2'] as const;
    expect((await call.turn(keys(...code))).responses.at(-1)).toMatchObject({ input_sensitive: false });
    expect(JSON.stringify(server.log)).not.toContain(code.join(''));
  });

  it('covers a bot that fails with an apology, and the second time in a row with a person (U-06)', async () => {
    const call = await begun(client);
    await server.app.warmed;
    const first = await call.turn(keys('8'));
    expect(first.story).toEqual(['CHUNK audio', 'FINAL empty']);
    expect(first.ending.code).toBe(status.OK);
    expect((await call.turn(keys('8'))).story).toEqual(['CHUNK audio', 'FINAL TRANSFER_TO_AGENT empty']);
    expect(server.logged({ event: 'bot_failed', code: 'bot_failed' })).toHaveLength(2);
    // P-14: what the bot threw holds what the caller pressed.
    expect(JSON.stringify(server.log)).not.toContain('cannot cope');
  });

  it('G-28 begins the conversation anew each time the session starts, also behind probe packets (G-33) and after its end', async () => {
    const call = client.call();
    const first = await call.turn(event('SESSION_START'));
    const second = await call.turn(event('SESSION_START'));
    const probed = await call.turn(PROBE, event('SESSION_START'));
    await call.turn(event('SESSION_END'));
    const afterEnd = await call.turn(event('SESSION_START'));
    for (const again of [second, probed, afterEnd]) {
      expect(again.story).toEqual(first.story);
      expect(again.audio.equals(first.audio)).toBe(true);
      expect(again.ending.code).toBe(status.OK);
    }
  });

  it('G-46 sends a text that was spoken as sound alone, and no texts in the trailers', async () => {
    const turn = await (await begun(client)).turn(keys('9'));
    expect(turn.story).toEqual(['CHUNK audio', 'FINAL empty']);
    expect(turn.trailerTexts).toBeUndefined();
  });
});

describe('replies with other settings', () => {
  it('G-41 sends one FINAL with a WAV per prompt in WAV mode', async () => {
    const { client } = await serverFor({ flags: [...WITH_TEST_BOTS, '--media.mode=wav'] });
    const turn = await (await begun(client)).turn(keys('6'));
    expect(turn.story).toEqual(['FINAL wav wav']);
    expect(flagsOf(turn)).toEqual([false, true]);
  });

  it('names the texts of its prompts in the trailers where a test setting allows it, never beside the sound', async () => {
    const { server, client } = await serverFor({ flags: [...WITH_TEST_BOTS, '--media.reveal_prompt_text=true'] });
    // The synthesizer speaks one text after the other, and a caller is kept waiting for 5 s at most.
    await server.app.warmed;
    const call = await begun(client);
    const turn = await call.turn(keys('9'));
    expect(turn.story).toEqual(['CHUNK audio', 'FINAL empty']);
    expect(turn.trailerTexts).toEqual(['Seven is a prime number.']);
    // A recording has no text.
    expect((await call.turn(keys('1'))).trailerTexts).toBeUndefined();
  });

  it('sends a text alone where nothing can speak it, as one FINAL (G-40, G-46)', async () => {
    const { client } = await serverFor({ flags: [...WITH_TEST_BOTS, '--synthesizer.engine=none'] });
    const turn = await (await begun(client)).turn(keys('9'));
    expect(turn.story).toEqual(['FINAL text']);
    expect(turn.responses[0]?.prompts).toEqual([{ text: 'Seven is a prime number.', is_barge_in_enabled: true }]);
  });

  it('G-27 G-37 G-51 takes nothing for input while a welcome plays that may not be cut', async () => {
    const clock = new FakeClock();
    const { client } = await serverFor({ clock, flags: [...WITH_TEST_BOTS, '--media.welcome_barge_in=false'] });
    const call = client.call();
    const welcome = await call.turn(event('SESSION_START'));
    expect(flagsOf(welcome)).toEqual([false, false]);
    const speech = [format(), ...frames(joined(recorded('yes'), silence(1500)))];
    expect((await call.turn(...speech)).story).toEqual([]);
    // The welcome is 26,800 bytes of 8 kHz: 3.35 s.
    clock.advance(3400);
    expect((await call.turn(...speech)).story).toEqual(['FINAL START_OF_INPUT', 'CHUNK END_OF_INPUT', 'CHUNK audio', 'FINAL empty']);
  });
});

/** The barge-in flag of every prompt, in order. */
function flagsOf(turn: ClientTurn): readonly (boolean | undefined)[] {
  return turn.responses.flatMap(({ prompts = [] }) => prompts.map((prompt) => prompt.is_barge_in_enabled));
}
