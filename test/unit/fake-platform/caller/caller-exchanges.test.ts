import { describe, expect, it } from 'vitest';
import { DTMF_KEY, EVENT_OUTPUT, RESPONSE_TYPE, VOICE_ENCODING } from '../../../../src/contract/numbers.ts';
import { keysOf } from '../../../../src/fake-platform/caller/key.ts';
import type { Step } from '../../../../src/fake-platform/caller/script.ts';
import { callScripted, chunk, hear, otherwise, tone, wavReply } from '../../../support/call-lab.ts';
import { recorded } from '../../../support/line-signals.ts';
import { scaledClock } from '../../../../src/base/scaled-clock.ts';
import { isSpeech, listenFor, type TurnScript } from '../../../support/scripted-server.ts';

/** For what is measured or raced in the call's own time: at the usual pace a busy machine is late by tens of milliseconds. */
const UNHURRIED_PACE = 5;

const say = (interruptMs?: number): Step => ({
  kind: 'say',
  label: 'yes',
  mulaw: recorded('yes'),
  ...(interruptMs === undefined ? {} : { interruptMs }),
});
const press = (keys: string, interruptMs?: number): Step => ({
  kind: 'press',
  keys: keysOf(keys) ?? [],
  ...(interruptMs === undefined ? {} : { interruptMs }),
});

describe('the reference exchanges over a real connection', () => {
  it('G-10, G-11, G-20, G-23, G-32, G-33, G-35, G-38 plays call A (WAV, voice) in order', async () => {
    const script: TurnScript = async (turn) => {
      if (turn.number === 1) {
        await turn.halfClosed();
        turn.send(wavReply(1000));
        turn.complete();
      } else if (turn.number === 2) {
        await hear(turn, () => {
          turn.send(wavReply(500));
          turn.complete();
        });
      } else {
        await otherwise(turn);
      }
    };
    const { result, server } = await callScripted(script, { script: [say()] });
    expect(server.exchange.filter((line) => /^RPC[12] /u.test(line))).toEqual([
      'RPC1 > SESSION_START',
      'RPC1 > half-close',
      'RPC1 < FINAL prompt',
      'RPC1 < complete',
      'RPC2 > format',
      'RPC2 > probe',
      'RPC2 > silence',
      'RPC2 > speech',
      'RPC2 < FINAL START_OF_INPUT',
      'RPC2 > silence',
      'RPC2 < CHUNK END_OF_INPUT',
      'RPC2 > half-close',
      'RPC2 < FINAL prompt',
      'RPC2 < complete',
    ]);
    expect(server.exchange.filter((line) => line.includes('SESSION_END'))).toEqual(['RPC4 > SESSION_END']);
    expect(result).toMatchObject({ ok: true, outcome: 'hung_up', findings: [] });
    expect(server.failures).toEqual([]);
  });

  it('G-60, G-62, G-74 plays call B (DTMF) in order', async () => {
    const script: TurnScript = async (turn) => {
      await turn.halfClosed();
      if (turn.number === 1 || turn.number === 3) turn.send(wavReply(500, listenFor('INPUT_EVENT_DTMF')));
      turn.complete();
    };
    const { result, server } = await callScripted(script, { script: [press('10*#')] });
    expect(server.exchange).toEqual([
      'RPC1 > SESSION_START',
      'RPC1 > half-close',
      'RPC1 < FINAL prompt',
      'RPC1 < complete',
      'RPC2 > START_OF_DTMF',
      'RPC2 > half-close',
      'RPC2 < complete',
      `RPC3 > dtmf_input ${[DTMF_KEY['1'], DTMF_KEY['0'], DTMF_KEY['*'], DTMF_KEY['#']].join(' ')}`,
      'RPC3 > half-close',
      'RPC3 < FINAL prompt',
      'RPC3 < complete',
      'RPC4 > SESSION_END',
      'RPC4 > half-close',
      'RPC4 < complete',
    ]);
    expect(result).toMatchObject({ ok: true, outcome: 'hung_up', findings: [] });
  });

  it('G-50, G-52 plays call C (barge-in): RPC2 opens while RPC1 is open, and the old prompt is cut', async () => {
    const script: TurnScript = async (turn) => {
      if (turn.number === 1) {
        await turn.halfClosed();
        turn.send(wavReply(60_000, {}, { is_barge_in_enabled: true }));
        // Not before the second RPC is there: it must not wait for this one.
        await secondIsOpen;
        turn.complete();
      } else if (turn.number === 2) {
        openSecond();
        await hear(turn, () => {
          turn.send(chunk(300));
          turn.send(chunk(300));
          turn.send({ response_type: RESPONSE_TYPE.FINAL, ...listenFor() });
          turn.complete();
        });
      } else {
        await otherwise(turn);
      }
    };
    let openSecond = (): void => undefined;
    const secondIsOpen = new Promise<void>((resolve) => {
      openSecond = resolve;
    });
    const { result, server } = await callScripted(script, { script: [say(3000)], clock: scaledClock(UNHURRIED_PACE) });
    const order = server.exchange.filter((line) => /^RPC[12] /u.test(line));
    expect(order.indexOf('RPC2 > silence')).toBeGreaterThan(order.indexOf('RPC1 < FINAL prompt'));
    expect(order.indexOf('RPC2 > speech')).toBeGreaterThan(order.indexOf('RPC1 < complete'));
    expect(order.slice(-5)).toEqual([
      'RPC2 < CHUNK END_OF_INPUT',
      'RPC2 > half-close',
      'RPC2 < CHUNK prompt',
      'RPC2 < FINAL',
      'RPC2 < complete',
    ]);
    // WAV first and chunks later is the one thing this server does wrong.
    expect(result.findings.map(({ rule }) => rule)).toEqual(['G-40']);
    expect(result.replies.map(({ turn, isInterrupted }) => [turn, isInterrupted])).toEqual([
      [1, true],
      [2, false],
    ]);
    expect(result.durationMs).toBeLessThan(50_000);
  });

  it('G-54 puts START_OF_DTMF on the audio RPC that a prompt with barge-in had opened', async () => {
    const script: TurnScript = async (turn) => {
      await turn.halfClosed();
      if (turn.number === 1) turn.send(wavReply(60_000, listenFor('INPUT_VOICE_DTMF', { digits: 2 }), { is_barge_in_enabled: true }));
      if (turn.number === 3) turn.send(wavReply(100));
      turn.complete();
    };
    const { server, result } = await callScripted(script, { script: [press('12', 800)], clock: scaledClock(UNHURRIED_PACE) });
    // Whether a frame of silence goes before the key is a matter of milliseconds.
    expect(server.exchange.filter((line) => /^RPC[23] /u.test(line) && line !== 'RPC2 > silence')).toEqual([
      'RPC2 > format',
      'RPC2 > probe',
      'RPC2 > START_OF_DTMF',
      'RPC2 > half-close',
      'RPC2 < complete',
      'RPC3 > dtmf_input 1 2',
      'RPC3 > half-close',
      'RPC3 < FINAL prompt',
      'RPC3 < complete',
    ]);
    expect(result).toMatchObject({ ok: true, findings: [] });
  });

  it('G-70 reports silence on an RPC of its own after half-closing the silent one', async () => {
    const script: TurnScript = async (turn) => {
      await turn.halfClosed();
      if (turn.number === 1) turn.send(wavReply(200, listenFor('INPUT_VOICE', { noInputMs: 2000 })));
      if (turn.number === 3)
        turn.send({
          ...wavReply(200, { input_mode: 0, input_handling_config: {} }),
          output_events: [{ event_type: EVENT_OUTPUT.TRANSFER_TO_AGENT }],
        });
      turn.complete();
    };
    const { server, result } = await callScripted(script, {
      script: [{ kind: 'wait', waitMs: 60_000 }],
      clock: scaledClock(UNHURRIED_PACE),
    });
    // Two RPCs are two streams: which of their messages a server reads first is not decided by the sender.
    expect(server.exchange.filter((line) => line.startsWith('RPC2 >'))).toEqual(
      ['format', 'probe', 'silence', 'half-close'].map((what) => `RPC2 > ${what}`),
    );
    expect(server.exchange.filter((line) => line.startsWith('RPC3 >'))).toEqual(['RPC3 > NO_INPUT', 'RPC3 > half-close']);
    expect(result.outcome).toBe('transferred');
  });
});

describe('what a call looks like on the wire', () => {
  it('G-10, G-30, G-32 names the call on every message and the audio format on one only', async () => {
    const script: TurnScript = async (turn) => {
      if (turn.number === 2)
        await hear(turn, () => {
          turn.send(wavReply(100));
          turn.complete();
        });
      else if (turn.number !== 1) await otherwise(turn);
      else {
        await turn.halfClosed();
        turn.send(wavReply(300));
        turn.complete();
      }
    };
    const { server } = await callScripted(script, {
      script: [say()],
      agentId: 'echo',
      vendorConfig: 'line 7',
      sessionStart: { parameters: { tier: 'gold' } },
    });
    const messages = server.turns.flatMap(({ received }) => received.map(({ message }) => message));
    const { conversation_id, customer_org_id, virtual_agent_id, vendor_specific_config, allow_partial_responses } = messages[0] ?? {};
    expect({ conversation_id, customer_org_id, virtual_agent_id, vendor_specific_config, allow_partial_responses }).toEqual({
      conversation_id: 'conversation-1',
      customer_org_id: '11111111-2222-4333-8444-555555555555',
      virtual_agent_id: 'echo',
      vendor_specific_config: 'line 7',
      allow_partial_responses: undefined,
    });
    expect(new Set(messages.map((message) => message.conversation_id))).toEqual(new Set(['conversation-1']));
    expect(messages[0]?.event_input?.parameters?.fields?.['tier']?.stringValue).toBe('gold');
    const formats = messages.filter(({ audio_input: input }) => input?.encoding !== undefined || input?.sample_rate_hertz !== undefined);
    expect(formats.map(({ audio_input: input }) => input)).toEqual([{ encoding: VOICE_ENCODING.MULAW_FORMAT, sample_rate_hertz: 8000 }]);
    const frames = messages.flatMap(({ audio_input: input }) => input?.caller_audio ?? []);
    expect(new Set(frames.map((frame) => frame.length))).toEqual(new Set([3, 160]));
    const speech = messages.filter(isSpeech).flatMap(({ audio_input: input }) => input?.caller_audio ?? []);
    expect(Buffer.concat(speech).length).toBeGreaterThan(recorded('yes').length / 2);
  });

  it('G-30 keeps the pace of 20 ms per frame over the whole utterance', async () => {
    const script: TurnScript = async (turn) => {
      if (turn.number === 2) {
        await turn.until(({ received }) => received.length >= 154);
        turn.send(wavReply(100));
        turn.complete();
      } else {
        await turn.halfClosed();
        if (turn.number === 1) turn.send(wavReply(100));
        turn.complete();
      }
    };
    const { server } = await callScripted(script, {
      script: [{ kind: 'say', label: 'long', mulaw: tone(8000) }],
      clock: scaledClock(UNHURRIED_PACE),
    });
    const times = server.turns[1]?.received.map(({ atMs }) => atMs) ?? [];
    const perFrame = ((times[153] ?? 0) - (times[4] ?? 0)) / 149;
    expect(perFrame).toBeGreaterThan(17);
    expect(perFrame).toBeLessThan(26);
  });
});
