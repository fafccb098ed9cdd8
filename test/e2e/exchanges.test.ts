// The reference exchanges of the contract against the real server, in both modes of delivery.
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeMulaw } from '../../src/speech/g711.ts';
import { readWavLayout } from '../../src/speech/wav.ts';
import { DEFAULT_LISTEN } from '../support/defaults.ts';
import { joined, recorded, silence } from '../support/line-signals.ts';
import type { ClientTurn, PlatformClient } from '../support/platform-client.ts';
import { RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import { event, format, frames, keys, PROBE, quiet } from '../support/wire-audio.ts';

/** A caller who says one sentence after a moment of silence. */
const SENTENCE = [format(), PROBE, ...quiet(200), ...frames(joined(recorded('sentence'), silence(1500)))];

/** What a FINAL carries that goes on with the bot's own settings (G-80). */
const LISTENING = {
  input_mode: 3,
  input_sensitive: false,
  input_handling_config: {
    dtmf_config: { dtmf_input_length: 1, inter_digit_timeout_msec: 3000, termchar: 16 },
    speech_timers: { no_input_timeout_msec: DEFAULT_LISTEN.noInputMs },
  },
  response_type: 0,
};

/** What the codes mean: the code of minus zero may have become that of zero. */
const samples = (mulaw: Uint8Array): readonly number[] => [...decodeMulaw(mulaw)].map((sample) => sample + 0);

describe.each(['chunk', 'wav'] as const)('in %s mode', (mode) => {
  let server: RunningServer;
  let client: PlatformClient;
  beforeAll(async () => {
    server = await RunningServer.start({ flags: [...WITH_TEST_BOTS, `--media.mode=${mode}`] });
    client = await server.client();
  });
  afterAll(async () => {
    // Every call below is ended by one side: nothing may be left before the server is told to stop.
    await server.quiet();
    await server.close();
  });

  /** How a reply of one prompt looks, and how the end of speech does (G-39, G-41, G-43). */
  const spoken = mode === 'chunk' ? ['CHUNK audio', 'FINAL empty'] : ['FINAL wav'];
  const speechEnd = mode === 'chunk' ? 'CHUNK END_OF_INPUT' : 'FINAL END_OF_INPUT';
  const unspoken = mode === 'chunk' ? 'FINAL empty' : 'FINAL';

  /** The sound of a turn, without the header that WAV mode puts before it. */
  const soundOf = ({ audio }: ClientTurn): Buffer => {
    if (mode === 'chunk') return audio;
    const layout = readWavLayout(audio);
    expect(layout).toMatchObject({ coding: 'mulaw', sampleRateHz: 8000, channels: 1 });
    return audio.subarray(layout.dataOffset, layout.dataOffset + layout.dataBytes);
  };

  it('plays exchange A: welcome, an utterance and its answer (G-13, G-21, G-36, G-38, G-39)', async () => {
    const call = client.call();
    const welcome = await call.turn(event('SESSION_START'));
    expect(welcome.story).toEqual(spoken);
    expect(welcome.ending).toMatchObject({ code: status.OK });
    expect(samples(soundOf(welcome))).toEqual(samples(recorded('sentence')));
    expect(welcome.responses.at(-1)).toMatchObject({
      input_handling_config: { dtmf_config: { dtmf_input_length: 4 }, speech_timers: { no_input_timeout_msec: 7000 } },
    });

    // Not half-closed before the server has reported the end of speech: the platform learns it from the server.
    const turn = call.open(...SENTENCE);
    await turn.heard(speechEnd);
    turn.halfClose();
    expect(await turn.ended()).toMatchObject({ code: status.OK });
    expect(turn.story).toEqual(['FINAL START_OF_INPUT', speechEnd, ...spoken]);
    expect(turn.responses[0]).toEqual({ output_events: [{ event_type: 4 }], response_type: 0 });
    expect(turn.responses.at(-1)).toMatchObject(LISTENING);
    // The bot repeats what it heard: the sentence, with some silence around it.
    const repeated = soundOf(turn);
    expect(repeated.length).toBeGreaterThan(recorded('sentence').length * 0.8);
    expect(repeated.includes(Buffer.from(recorded('sentence').subarray(8000, 12_000)))).toBe(true);

    await call.turn(event('SESSION_END'));
  });

  it('answers speech that the half-close cuts off, and silence with nothing (G-12, G-35)', async () => {
    const call = client.call();
    await call.turn(event('SESSION_START'));
    const silent = await call.turn(format(), PROBE, ...quiet(1000));
    expect({ story: silent.story, code: silent.ending.code }).toEqual({ story: [], code: status.OK });
    const cut = await call.turn(format(), ...frames(recorded('sentence').subarray(0, 16_000)));
    expect(cut.story).toEqual(['FINAL START_OF_INPUT', speechEnd, ...spoken]);
    await call.turn(event('SESSION_END'));
  });

  it('plays exchange B: keys, with and without their start (G-61, G-63, G-64, G-67), and the end of the call (G-75)', async () => {
    const call = client.call();
    await call.turn(event('SESSION_START'));
    const start = await call.turn(event('START_OF_DTMF'));
    expect({ story: start.story, code: start.ending.code }).toEqual({ story: [], code: status.OK });
    const digits = await call.turn(keys('1'));
    expect(digits.story).toEqual(mode === 'chunk' ? ['CHUNK audio', 'CHUNK audio', 'FINAL empty'] : ['FINAL wav wav']);
    expect(digits.responses.at(-1)).toMatchObject({
      input_mode: 2,
      input_handling_config: { dtmf_config: { dtmf_input_length: 1, termchar: 15 } },
    });
    // G-67: the terminator that was asked for is taken off, so this is key 2 and ends the call.
    const last = await call.turn(keys('2', '*'));
    expect(last.story.at(-1)).toBe(mode === 'chunk' ? 'FINAL SESSION_END empty' : 'FINAL SESSION_END wav');

    const other = client.call();
    await other.turn(event('SESSION_START'));
    const end = await other.turn(event('SESSION_END'));
    expect({ story: end.story, code: end.ending.code }).toEqual({ story: ['FINAL'], code: status.OK });
    expect(end.responses[0]).toEqual({ response_type: 0 });
  });

  it('plays exchange C: the second RPC overlaps the first and cuts its prompt (G-50, G-52, G-53, G-57)', async () => {
    const call = client.call();
    const first = call.open(event('SESSION_START'));
    const second = call.open(format(), ...quiet(100));
    await first.ended();
    expect(first.story).toEqual(spoken);
    second.send(...frames(joined(recorded('number'), silence(1500))).map((frame) => call.message(frame)));
    await second.heard(speechEnd);
    second.halfClose();
    await second.ended();
    expect(second.story).toEqual(['FINAL START_OF_INPUT', speechEnd, ...spoken]);
    expect(await server.metric('parley_barge_ins_total{bot="tester",by="speech"}')).toBeGreaterThan(0);

    const slow = call.open(keys('7')).halfClose();
    if (mode === 'chunk') await slow.heard('CHUNK audio');
    const third = call.open(format(), ...quiet(100));
    expect(slow.ending).toBeUndefined();
    third.send(...frames(recorded('number')).map((frame) => call.message(frame)));
    await third.heard('FINAL START_OF_INPUT');
    // G-53: the older RPC completes cleanly, without the prompt that its bot still had.
    expect(await slow.ended()).toMatchObject({ code: status.OK });
    expect(slow.story).toEqual(mode === 'chunk' ? ['CHUNK audio', 'FINAL empty'] : ['FINAL']);
    expect(slow.responses.at(-1)).toMatchObject({ input_mode: 3 });
    third.halfClose();
    expect(await third.ended()).toMatchObject({ code: status.OK });
    expect(third.story).toEqual(['FINAL START_OF_INPUT', speechEnd, ...spoken]);
    await call.turn(event('SESSION_END'));
  });

  it('lets a key cut the prompt: its RPC completes without a word, the digits follow on the next (G-54)', async () => {
    const call = client.call();
    await call.turn(event('SESSION_START'));
    const slow = call.open(keys('7')).halfClose();
    if (mode === 'chunk') await slow.heard('CHUNK audio');
    const listening = call.open(format(), ...quiet(100));
    listening.send(call.message(event('START_OF_DTMF'))).halfClose();
    expect(await listening.ended()).toMatchObject({ code: status.OK });
    expect(listening.story).toEqual([]);
    expect(await slow.ended()).toMatchObject({ code: status.OK });
    expect(slow.story.at(-1)).toBe(unspoken);
    expect((await call.turn(keys('5'))).story.at(-1)).toBe(mode === 'chunk' ? 'FINAL empty' : 'FINAL wav');
    await call.turn(event('SESSION_END'));
  });

  it('asks again when nothing comes and gives the call to a person in the end (G-70, G-71, G-77)', async () => {
    const call = client.call();
    await call.turn(event('SESSION_START'));
    for (const round of [1, 2]) {
      const turn = await call.turn(event('NO_INPUT'));
      expect(turn.story, `round ${String(round)}`).toEqual(spoken);
    }
    const last = await call.turn(event('NO_INPUT'));
    expect(last.story.at(-1)).toBe(mode === 'chunk' ? 'FINAL TRANSFER_TO_AGENT empty' : 'FINAL TRANSFER_TO_AGENT wav');
  });
});
