// Rules about how replies travel and what stands on them, over real sockets.
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { listen, play, say, transfer } from '../../src/bot/index.ts';
import { EVENT_OUTPUT, RESPONSE_TYPE, type MediaRequest, type MediaResponse } from '../../src/contract/grpc.ts';
import { jsonFromStruct } from '../../src/contract/struct.ts';
import { decodeMulaw } from '../../src/speech/g711.ts';
import { readWavLayout } from '../../src/speech/wav.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { joined, recorded, silence } from '../support/line-signals.ts';
import type { ClientTurn, PlatformClient } from '../support/platform-client.ts';
import { ordered, started, WITH_PUPPET } from '../support/puppet.ts';
import { RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import { until } from '../support/until.ts';
import { event, format, frames, keys, quiet } from '../support/wire-audio.ts';

/** Someone who says one word, and then the silence that ends it. */
const WORD = [format(), ...quiet(200), ...frames(joined(recorded('yes'), silence(2500)))];

type Input = Omit<MediaRequest, 'conversation_id' | 'customer_org_id' | 'virtual_agent_id'>;

const NOTICES: readonly number[] = [EVENT_OUTPUT.START_OF_INPUT, EVENT_OUTPUT.END_OF_INPUT];

/** True for a response that tells of speech and replies nothing. */
const isNotice = ({ prompts = [], output_events = [] }: MediaResponse): boolean =>
  prompts.length === 0 && output_events.length === 1 && NOTICES.includes(output_events[0]?.event_type ?? 0);

describe.each(['chunk', 'wav'] as const)('replies in %s mode', (mode) => {
  let server: RunningServer;
  let client: PlatformClient;
  /** Of one call. */
  let turns: readonly ClientTurn[];
  beforeAll(async () => {
    server = await RunningServer.start({
      // Nobody waits for what nobody hears (G-7A has a test of its own).
      flags: [...WITH_PUPPET, `--media.mode=${mode}`, '--turns.max_farewell_ms=0'],
    });
    client = await server.client();
    turns = await everyKindOfTurn();
  });
  afterAll(async () => {
    await server.quiet();
    await server.close();
  });

  /** A call of every kind of input, with each turn that it had. */
  async function everyKindOfTurn(change: { readonly allow_partial_responses?: boolean } = {}): Promise<readonly ClientTurn[]> {
    const call = client.call();
    const turn = (...inputs: readonly Input[]): Promise<ClientTurn> => call.turn(...inputs.map((input) => ({ ...input, ...change })));
    return [
      await turn(started({ reply: play('yes.wav').listen(), later: play('number.wav').play('yes.wav').listen() })),
      await turn(...WORD),
      await turn(event('START_OF_DTMF')),
      await turn(keys('1', '2')),
      await turn(event('NO_INPUT')),
      await turn(ordered({ reply: listen() })),
      await turn(ordered({ reply: play('yes.wav').end('done') })),
    ];
  }

  it('G-13 G-14 G-43 every RPC that needs a reply has one FINAL, which comes last, and is completed with OK', () => {
    for (const turn of turns) {
      expect(turn.ending?.code).toBe(status.OK);
      const replies = turn.responses.filter((response) => !isNotice(response));
      const finals = replies.filter(({ response_type = RESPONSE_TYPE.FINAL }) => response_type === RESPONSE_TYPE.FINAL);
      // The first key alone owes none (G-61).
      expect(finals, JSON.stringify(turn.story)).toHaveLength(turn.responses.length === 0 ? 0 : 1);
      expect(replies.at(-1)).toBe(finals[0]);
    }
    expect(turns.filter(({ responses }) => responses.length === 0)).toHaveLength(1);
  });

  it('G-45 nothing is ever PARTIAL, whether the request allows it or not', async () => {
    const types = [...turns, ...(await everyKindOfTurn({ allow_partial_responses: true }))].flatMap(({ responses }) =>
      responses.map(({ response_type }) => response_type ?? RESPONSE_TYPE.FINAL),
    );
    expect(new Set(types)).toEqual(mode === 'chunk' ? new Set([RESPONSE_TYPE.FINAL, RESPONSE_TYPE.CHUNK]) : new Set([RESPONSE_TYPE.FINAL]));
  });

  it('G-40 G-41 G-42 sound never changes its form within a call', () => {
    for (const turn of turns) {
      for (const { prompts = [], response_type } of turn.responses.filter((response) => !isNotice(response))) {
        for (const { audio_content = new Uint8Array(0) } of prompts) {
          if (mode === 'wav' || audio_content.length > 0)
            expect(response_type ?? 0).toBe(mode === 'wav' ? RESPONSE_TYPE.FINAL : RESPONSE_TYPE.CHUNK);
          expect(Buffer.from(audio_content.subarray(0, 4)).toString('latin1') === 'RIFF').toBe(mode === 'wav');
        }
      }
    }
  });

  it('G-44 G-78 G-80 every FINAL that goes on has input settings, and no CHUNK, notice or terminal response has any', async () => {
    const failing = client.call();
    const more = [
      await failing.turn(started({ later: 'throw' })),
      // An apology, then a transfer.
      await failing.turn(keys('1')),
      await failing.turn(keys('1')),
    ];
    const terminal: readonly number[] = [EVENT_OUTPUT.TRANSFER_TO_AGENT, EVENT_OUTPUT.SESSION_END];
    let [going, ending] = [0, 0];
    for (const response of [...turns, ...more].flatMap(({ responses }) => responses)) {
      const { response_type = RESPONSE_TYPE.FINAL, output_events = [], input_mode, input_handling_config } = response;
      const isTerminal = output_events.some(({ event_type = 0 }) => terminal.includes(event_type));
      const goesOn = response_type === RESPONSE_TYPE.FINAL && !isNotice(response) && !isTerminal;
      expect([input_mode !== undefined, input_handling_config !== undefined], JSON.stringify(output_events)).toEqual([goesOn, goesOn]);
      going += goesOn ? 1 : 0;
      ending += isTerminal ? 1 : 0;
    }
    expect([going, ending]).toEqual([7, 2]);
  });

  it('G-63 digits, with or without their first key before them, are answered by prompts, a FINAL and completion', async () => {
    const call = client.call();
    await call.turn(started({ later: play('number.wav').listen() }));
    for (const hasStart of [true, false]) {
      if (hasStart) expect((await call.turn(event('START_OF_DTMF'))).story).toEqual([]);
      const turn = await call.turn(keys('4', '2'));
      expect(turn.story).toEqual(mode === 'chunk' ? ['CHUNK audio', 'FINAL empty'] : ['FINAL wav']);
      expect(turn.ending.code).toBe(status.OK);
    }
    await call.turn(event('SESSION_END'));
  });

  it('G-57 two RPCs that answer at once get their own prompts and nothing of each other', async () => {
    const tester = await RunningServer.start({ flags: [...WITH_TEST_BOTS, `--media.mode=${mode}`] });
    onTestFinished(() => tester.close());
    const call = (await tester.client()).call();
    await call.turn(event('SESSION_START'));
    // Key 7 speaks and then thinks until it is interrupted; the word is said back.
    const older = call.open(keys('7')).halfClose();
    if (mode === 'chunk') await older.heard('CHUNK audio');
    const newer = call.open(...WORD).halfClose();
    expect([(await older.ended()).code, (await newer.ended()).code]).toEqual([status.OK, status.OK]);
    const word = Buffer.from(recorded('yes').subarray(1600, 3200));
    expect([older.audio.includes(word), newer.audio.includes(word)]).toEqual([false, true]);
    // In WAV mode nothing of an interrupted reply is sent.
    expect(samples(older.audio)).toEqual(mode === 'chunk' ? samples(recorded('number')) : []);
    expect(older.story.join()).not.toContain('INPUT');
    await call.turn(event('SESSION_END'));
  });

  it('G-7B G-77 a summary stands on the last response of a session and on no other, and one terminal event ends it', async () => {
    const call = client.call();
    const asked = transfer({ reason: 'asked', summary: 'Wants a person.' });
    const turns = [
      await call.turn(started({ reply: play('yes.wav').listen(), later: play('number.wav').listen() })),
      await call.turn(keys('1')),
      await call.turn(event('NO_INPUT')),
      await call.turn(ordered({ reply: { ...asked, prompts: play('yes.wav').prompts } })),
      await call.turn(ordered({ reply: asked })),
      await call.turn(keys('1')),
      await call.turn(event('SESSION_END')),
    ];
    const responses = turns.flatMap((turn) => turn.responses);
    const last = turns[3]?.responses.at(-1);
    expect(last?.session_summary).toEqual({ text: 'Wants a person.' });
    expect(responses.filter(({ session_summary, session_transcript }) => session_summary ?? session_transcript)).toEqual([last]);
    const terminal: readonly number[] = [EVENT_OUTPUT.TRANSFER_TO_AGENT, EVENT_OUTPUT.SESSION_END];
    const ends = responses.flatMap(({ output_events = [] }) => output_events).filter(({ event_type = 0 }) => terminal.includes(event_type));
    expect(ends).toHaveLength(1);
  });

  it('G-73 an event for the flow stands on the FINAL with its name and data, beside the input settings, and the call goes on', async () => {
    const call = client.call();
    await call.turn(started());
    const turn = await call.turn(
      ordered({ reply: play('yes.wav').listen({ event: { name: 'order_found', metadata: { number: 7, open: true } } }) }),
    );
    expect(turn.story.at(-1)).toBe(mode === 'chunk' ? 'FINAL CUSTOM_EVENT empty' : 'FINAL CUSTOM_EVENT wav');
    const final = turn.responses.at(-1);
    const [sent, ...more] = turn.responses.flatMap(({ output_events = [] }) => output_events);
    expect(more).toEqual([]);
    expect(sent).toMatchObject({ event_type: EVENT_OUTPUT.CUSTOM_EVENT, name: 'order_found' });
    expect(jsonFromStruct(sent?.metadata)).toEqual({ number: 7, open: true });
    expect(final).toMatchObject({ input_mode: 3, input_handling_config: {} });
    const next = await call.turn(keys('1'));
    expect(next.responses.flatMap(({ output_events = [] }) => output_events)).toEqual([]);
    expect(next.ending.code).toBe(status.OK);
    await call.turn(event('SESSION_END'));
  });

  it('G-82 a bot that never wants to hear of silence says 0, and other times are said as they are', async () => {
    const call = client.call();
    await call.turn(started());
    for (const [noInputMs, wanted] of [
      [0, [0]],
      [7000, [7000]],
    ] as const) {
      const turn = await call.turn(ordered({ reply: play('yes.wav').listen({ noInputMs }) }));
      expect(turn.responses.flatMap(noInputTimesOf)).toEqual(wanted);
    }
    await call.turn(event('SESSION_END'));
  });
});

describe('replies with other settings', () => {
  it('G-82 the setting 0 means the same for bots that say nothing of it', async () => {
    const server = await RunningServer.start({ flags: [...WITH_PUPPET, '--listen.no_input_ms=0'] });
    onTestFinished(() => server.close());
    const call = (await server.client()).call();
    expect((await call.turn(started({ reply: play('yes.wav').listen() }))).responses.flatMap(noInputTimesOf)).toEqual([0]);
    await call.turn(event('SESSION_END'));
  });

  it('G-47 G-42 chunks are as large as they may be, so that a prompt has few of them', async () => {
    const server = await RunningServer.start({ flags: WITH_TEST_BOTS });
    onTestFinished(() => server.close());
    const call = (await server.client()).call();
    await call.turn(event('SESSION_START'));
    // Two full chunks and 60 bytes: with 160 bytes each there would be 820.
    const sizes = (await call.turn(keys('5'))).responses.flatMap(({ prompts = [] }) =>
      prompts.map(({ audio_content }) => audio_content?.length ?? 0),
    );
    expect(sizes).toEqual([65_536, 65_436, 160, 0]);
    await call.turn(event('SESSION_END'));
  });

  it('G-48 a spoken text and a recording go out as µ-law, 8 kHz, mono, whatever they are made of', async () => {
    const server = await RunningServer.start({ flags: [...WITH_PUPPET, '--media.mode=wav'] });
    onTestFinished(() => server.close());
    await server.app.warmed;
    const call = (await server.client()).call();
    const { responses } = await call.turn(started({ reply: say('One, two.').play('sentence.wav').listen() }));
    const wavs = responses.flatMap(({ prompts = [] }) => prompts.map(({ audio_content = new Uint8Array(0) }) => audio_content));
    expect(wavs).toHaveLength(2);
    for (const wav of wavs) expect(readWavLayout(wav)).toMatchObject({ coding: 'mulaw', sampleRateHz: 8000, channels: 1 });
    await call.turn(event('SESSION_END'));
  });

  it('G-7A the terminal event waits until the farewell was heard, and one that is cancelled meanwhile gets none', async () => {
    const clock = new FakeClock();
    const server = await RunningServer.start({ clock, flags: [...WITH_PUPPET, '--media.mode=chunk'] });
    onTestFinished(() => server.close());
    const client = await server.client();
    const farewell = { reply: listen(), later: play('number.wav').end('done') };
    const playMs = recorded('number').length / 8;

    const patient = client.call();
    await patient.turn(started(farewell));
    const last = patient.open(keys('1')).halfClose();
    await last.heard('CHUNK audio');
    await clock.advanceAsync(playMs - 100);
    // An answer that comes after it shows that nothing is under way.
    await client.list();
    expect(last.story).toEqual(['CHUNK audio']);
    await clock.advanceAsync(200);
    expect((await last.ended()).code).toBe(status.OK);
    expect(last.story).toEqual(['CHUNK audio', 'FINAL SESSION_END empty']);

    const gone = client.call();
    await gone.turn(started(farewell));
    const cut = gone.open(keys('1')).halfClose();
    await cut.heard('CHUNK audio');
    cut.cancel();
    await until('the turn is over', () => server.app.openTurns() === 0);
    await clock.advanceAsync(playMs + 100);
    expect(cut.story).toEqual(['CHUNK audio']);
    expect((await gone.turn(event('SESSION_END'))).ending.code).toBe(status.OK);
    await server.quiet();
  });

  it('G-66 every key reaches the bot under its name, whatever its number is', async () => {
    const server = await RunningServer.start({ flags: [...WITH_PUPPET, '--synthesizer.engine=none', '--listen.terminator=none'] });
    onTestFinished(() => server.close());
    const call = (await server.client()).call();
    await call.turn(started());
    // As the contract has them: the digits 1 to 9, then 0, A to D, star and pound.
    const turn = await call.turn({ dtmf_input: { dtmf_events: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16] } });
    expect(turn.responses.flatMap(({ prompts = [] }) => prompts.map(({ text }) => text))).toEqual(['Keys "1234567890ABCD*#".']);
    await call.turn(event('SESSION_END'));
  });

  it('G-65 a collection without digits reaches the bot as such and is answered by its words, not by an event', async () => {
    const server = await RunningServer.start({ flags: [...WITH_PUPPET, '--synthesizer.engine=none'] });
    onTestFinished(() => server.close());
    const call = (await server.client()).call();
    await call.turn(started());
    const turn = await call.turn({ dtmf_input: { dtmf_events: [] } });
    expect(turn.ending.code).toBe(status.OK);
    expect(turn.responses.map(({ prompts = [], output_events = [] }) => [prompts.map(({ text }) => text), output_events])).toEqual([
      [['Keys "".'], []],
    ]);
    await call.turn(event('SESSION_END'));
  });
});

/** What the codes mean: the code of minus zero may have become that of zero. */
function samples(mulaw: Uint8Array): readonly number[] {
  return [...decodeMulaw(mulaw)].map((sample) => sample + 0);
}

/** The no-input time of each response that has input settings, ms. Unset and 0 are the same on the wire. */
function noInputTimesOf({ input_handling_config: config }: MediaResponse): readonly number[] {
  return config === undefined ? [] : [config.speech_timers?.no_input_timeout_msec ?? 0];
}
