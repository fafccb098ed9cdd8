// What is known of a call when it is over: texts, latencies, expectations, and the recording.
import { describe, expect, it } from 'vitest';
import { scaledClock } from '../../../../src/base/scaled-clock.ts';
import { EVENT_OUTPUT } from '../../../../src/contract/numbers.ts';
import { parseExpectation } from '../../../../src/fake-platform/caller/expectation.ts';
import { callRecording } from '../../../../src/fake-platform/caller/recorded-sound.ts';
import type { Step } from '../../../../src/fake-platform/caller/script.ts';
import { decodeMulaw } from '../../../../src/speech/g711.ts';
import { readWavLayout } from '../../../../src/speech/wav.ts';
import { callScripted, hear, otherwise, tone, wavReply } from '../../../support/call-lab.ts';
import { recorded } from '../../../support/line-signals.ts';
import { listenFor, type TurnScript } from '../../../support/scripted-server.ts';

/** For what is measured in the call's own time: at the usual pace a busy machine is late by tens of milliseconds. */
const UNHURRIED_PACE = 5;
/** How far a sound may stand from its moment in a recording at that pace, ms of the call. */
const LATE_MS = 150;
const ONE: Step = { kind: 'press', keys: ['1'] };
const YES: Step = { kind: 'say', label: 'yes', mulaw: recorded('yes') };

describe('the result of a call', () => {
  const script: TurnScript = async (turn) => {
    await turn.halfClosed();
    if (turn.number === 1) turn.send(wavReply(1000, listenFor('INPUT_VOICE_DTMF', { digits: 1 }), { text: 'Welcome.' }));
    if (turn.received[0]?.message.dtmf_input === undefined) {
      turn.complete();
    } else {
      turn.send({ prompts: wavReply(700).prompts ?? [], output_events: [{ event_type: EVENT_OUTPUT.SESSION_END, name: 'session_ended' }] });
      turn.complete({ 'parley-prompt-text-bin': Buffer.from(JSON.stringify(['Thank you.', 'Goodbye – ümläut.'])) });
    }
  };

  it('names what was heard, from prompts and from trailers, and meets its expectations', async () => {
    const expectations = ['text:/^welcome/i', 'text:thank you', 'text:/ümläut/', 'end', 'latency<60s'].map(parseExpectation);
    const { result } = await callScripted(script, { script: [ONE], expectations });
    expect(result.heardTexts).toEqual(['Welcome.', 'Thank you.', 'Goodbye – ümläut.']);
    expect(result).toMatchObject({ ok: true, outcome: 'ended', unmet: [] });
  });

  it('is not ok when an expectation is not met, and says which', async () => {
    const expectations = ['text:/sales/', 'transfer', 'latency<0.001ms'].map(parseExpectation);
    const { result } = await callScripted(script, { script: [ONE], expectations });
    expect(result.ok).toBe(false);
    expect(result.unmet.map(({ expected }) => expected)).toEqual(['text:/sales/', 'transfer', 'latency<0.001ms', 'latency<0.001ms']);
  });

  it('measures the latency of every reply from the end of the input to its first sign', async () => {
    const { result } = await callScripted(script, { script: [ONE] });
    expect(result.replies.map(({ kind, prompts, audioMs, maxGapMs }) => ({ kind, prompts, audioMs, maxGapMs }))).toEqual([
      { kind: 'session_start', prompts: 1, audioMs: 1000, maxGapMs: 0 },
      { kind: 'dtmf', prompts: 1, audioMs: 700, maxGapMs: 0 },
    ]);
    // The caller is done between these two, which the timeline shows in whole milliseconds.
    const doneAfter = ['calls', 'presses'].map((name) => result.timeline.find(({ what }) => what === name)?.atMs ?? 0);
    const doneBefore = ['session_start', 'dtmf'].map((name) => result.timeline.find(({ what }) => what === name)?.atMs ?? 0);
    result.replies.forEach(({ latencyMs = 0, atMs }, index) => {
      expect(latencyMs).toBeGreaterThan(0);
      expect(latencyMs).toBeLessThanOrEqual(atMs - (doneAfter[index] ?? 0) + 1);
      expect(latencyMs).toBeGreaterThanOrEqual(atMs - (doneBefore[index] ?? 0) - 1);
    });
  });

  it('measures speech from the last voiced frame and not from the silence behind it', async () => {
    const hearing: TurnScript = async (turn) => {
      if (turn.number === 2) {
        await turn.speech();
        await turn.silenceAfterSpeech(40);
        turn.send(wavReply(100));
        turn.complete();
      } else {
        await turn.halfClosed();
        if (turn.number === 1) turn.send(wavReply(100));
        turn.complete();
      }
    };
    const { result } = await callScripted(hearing, {
      script: [{ kind: 'say', label: 'tone', mulaw: tone(300) }],
      clock: scaledClock(UNHURRIED_PACE),
    });
    // 40 frames of silence are 800 ms, less what a busy machine sends late and then at once; from the silence it would be none.
    expect(result.replies[1]?.latencyMs).toBeGreaterThanOrEqual(500);
  });

  it('records what was heard and said at its place, as long as the call', async () => {
    const echo: TurnScript = async (turn) => {
      if (turn.number === 1) {
        await turn.halfClosed();
        turn.send(wavReply(1000));
        turn.complete();
      } else if (turn.number === 2) {
        await hear(turn, () => {
          turn.send(wavReply(400));
          turn.complete();
        });
      } else {
        await otherwise(turn);
      }
    };
    const { result } = await callScripted(echo, { script: [YES], clock: scaledClock(UNHURRIED_PACE) });
    const { heard, said, durationMs } = result;
    expect(heard.length).toBe(Math.floor(durationMs * 8));
    expect(said.length).toBe(heard.length);
    const [welcome, reply] = result.replies;
    const expected = decodeMulaw(tone(1000));
    const from = heard.findIndex((sample) => sample !== 0) - expected.findIndex((sample) => sample !== 0);
    expect(Math.abs(from / 8 - (welcome?.atMs ?? 0))).toBeLessThan(LATE_MS);
    expect(heard.subarray(from, from + 8000)).toEqual(expected);
    const second = Math.floor((reply?.atMs ?? 0) * 8) + 80;
    expect(heard.subarray(second, second + 2400).some((sample) => sample !== 0)).toBe(true);
    const spoken = decodeMulaw(recorded('yes'));
    const firstLoud = spoken.findIndex((sample) => sample !== 0);
    const speech = said.findIndex((sample) => sample !== 0) - firstLoud;
    expect(said.subarray(speech, speech + spoken.length)).toEqual(spoken);
    const speaks = result.timeline.find(({ what }) => what === 'speaks');
    expect(Math.abs(speech / 8 - (speaks?.atMs ?? 0))).toBeLessThan(LATE_MS);
    expect(readWavLayout(callRecording(result))).toMatchObject({
      channels: 2,
      sampleRateHz: 8000,
      coding: 'pcm16',
      dataBytes: heard.length * 4,
    });
  });
});
