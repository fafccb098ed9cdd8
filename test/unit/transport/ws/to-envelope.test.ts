import { describe, expect, it } from 'vitest';
import { readServerEnvelope, type SocketResponse } from '../../../../src/contract/envelope.ts';
import type { FinalNext, ListenSettings, Output, PromptAudio, SpokenPrompt } from '../../../../src/dialog/output.ts';
import { errorEnvelope, pongEnvelope, responseEnvelope, ToEnvelope } from '../../../../src/transport/ws/to-envelope.ts';

const HEAD = { seq: 3, nowMs: Date.UTC(2026, 0, 1), conversationId: 'c-1' };
const LISTEN: ListenSettings & { readonly kind: 'listen' } = {
  kind: 'listen',
  accept: 'both',
  digits: 4,
  interDigitMs: 3000,
  terminator: '#',
  noInputMs: 10_000,
  sensitive: true,
};
const toEnvelope = new ToEnvelope({ sendsNoInputTimeout: false });

function sent(output: Output, mapper = toEnvelope): readonly unknown[] {
  return mapper.payloads(output).map((payload) => JSON.parse(payload.toString()) as unknown);
}
const sound = (bytes: number): PromptAudio => ({ mulaw: new Uint8Array(bytes).fill(0x31), durationMs: bytes / 8 });
const spoken = (audio: PromptAudio, bargeIn = true): SpokenPrompt & { readonly audio: PromptAudio } => ({ audio, text: 'Hi.', bargeIn });
const final = (
  next: FinalNext,
  prompts: readonly SpokenPrompt[] = [],
  rest: { readonly mode?: 'wav'; readonly bargeIn?: boolean } = {},
): Output => ({
  kind: 'final',
  mode: 'chunk',
  prompts,
  next,
  ...rest,
});

describe('outputs as messages of a socket', () => {
  it('W-24 W-27: says that input began in a FINAL of its own without prompts, and that it ended in a CHUNK', () => {
    expect(sent({ kind: 'input_started' })).toEqual([{ response_type: 'FINAL', output_events: [{ event_type: 'START_OF_INPUT' }] }]);
    for (const mode of ['chunk', 'wav'] as const) {
      expect(sent({ kind: 'input_ended', mode })).toEqual([{ response_type: 'CHUNK', output_events: [{ event_type: 'END_OF_INPUT' }] }]);
    }
  });

  it('W-15: never says of a reply that no later one may cancel it', () => {
    const audio = sound(800);
    const outputs: readonly Output[] = [
      ...[{ kind: 'prompt', prompt: spoken(audio) } as const, { kind: 'prompt', prompt: spoken(audio, false) } as const],
      final(LISTEN, [spoken(audio, false), { audio: undefined, text: 'Hi.', bargeIn: false }]),
      final({ kind: 'end', metadata: {}, summary: undefined, transcript: undefined }, [spoken(audio, false)]),
    ];
    const payloads = outputs.flatMap((output) => toEnvelope.payloads(output));
    expect(payloads.length).toBeGreaterThan(outputs.length);
    for (const payload of payloads) expect(payload.toString()).not.toContain('prompt_cancellation');
  });

  it('W-30 W-31: sends sound as headerless µ-law in legal pieces, without its text, and marks what may be cut', () => {
    const audio = sound(20_000);
    const chunks = sent({ kind: 'prompt', prompt: spoken(audio) }) as readonly SocketResponse[];
    expect(chunks.map(({ response_type }) => response_type)).toEqual(['CHUNK', 'CHUNK']);
    const prompts = chunks.flatMap((chunk) => chunk.prompts ?? []);
    expect(prompts.every((prompt) => prompt.is_barge_in_enabled === true && !('text' in prompt))).toBe(true);
    const bytes = prompts.map((prompt) => Buffer.from(prompt.audio_content_b64 ?? '', 'base64'));
    expect(bytes.map(({ length }) => length)).toEqual([16_000, 4000]);
    expect(Buffer.concat(bytes).equals(audio.mulaw)).toBe(true);
  });

  it('makes the text of a sound once for each barge-in flag', () => {
    const audio = sound(800);
    const once = toEnvelope.payloads({ kind: 'prompt', prompt: spoken(audio) });
    expect(toEnvelope.payloads({ kind: 'prompt', prompt: spoken(audio) })).toBe(once);
    const held = toEnvelope.payloads({ kind: 'prompt', prompt: spoken(audio, false) });
    expect(held).not.toBe(once);
    expect(sent({ kind: 'prompt', prompt: spoken(audio, false) })).toMatchObject([{ prompts: [{ is_barge_in_enabled: false }] }]);
  });

  it('W-25: ends a reply with one prompt of empty audio and the settings for the next input', () => {
    expect(sent(final(LISTEN, [], { bargeIn: true }))).toEqual([
      {
        response_type: 'FINAL',
        prompts: [{ audio_content_b64: '', is_barge_in_enabled: true }],
        input_mode: 'INPUT_VOICE_DTMF',
        input_sensitive: true,
        input_handling_config: { dtmf_config: { inter_digit_timeout_msec: 3000, termchar: 'DTMF_DIGIT_POUND', dtmf_input_length: 4 } },
      },
    ]);
  });

  it.each([
    ['speech', 'INPUT_VOICE'],
    ['keys', 'INPUT_EVENT_DTMF'],
    ['both', 'INPUT_VOICE_DTMF'],
  ] as const)('G-80: listens for %s as %s', (accept, input_mode) => {
    expect(sent(final({ ...LISTEN, accept, terminator: 'none' }))).toMatchObject([
      { input_mode, input_handling_config: { dtmf_config: { inter_digit_timeout_msec: 3000, dtmf_input_length: 4 } } },
    ]);
    expect(JSON.stringify(sent(final({ ...LISTEN, accept, terminator: 'none' })))).not.toContain('termchar');
  });

  it('W-14: names the time without input only where the operator wants it', () => {
    expect(JSON.stringify(sent(final(LISTEN)))).not.toContain('no_input');
    expect(sent(final(LISTEN), new ToEnvelope({ sendsNoInputTimeout: true }))).toMatchObject([
      { input_handling_config: { speech_timers: { no_input_timeout_msec: 10_000 } } },
    ]);
  });

  it('W-24 W-30: takes the sound out of a FINAL that carries it, in whatever mode the engine speaks', () => {
    const prompts = [spoken(sound(800)), { audio: undefined, text: 'Text alone \ud83d.', bargeIn: false }, spoken(sound(400), false)];
    const answers = sent(final(LISTEN, prompts, { mode: 'wav' })) as readonly SocketResponse[];
    expect(answers.map(({ response_type }) => response_type)).toEqual(['CHUNK', 'CHUNK', 'FINAL']);
    expect(answers[2]?.prompts).toEqual([{ text: 'Text alone \ufffd.', is_barge_in_enabled: false }]);
    expect(sent(final(LISTEN, [spoken(sound(800)), spoken(sound(400), false)], { mode: 'wav', bargeIn: true }))).toMatchObject([
      {},
      {},
      { prompts: [{ audio_content_b64: '', is_barge_in_enabled: false }] },
    ]);
  });

  it('W-28: says nothing to a caller who is gone', () => {
    expect(sent(final({ kind: 'gone' }, [spoken(sound(800))]))).toEqual([]);
  });

  it('W-24: has no FINAL of its own for an input that the FINAL of the farewell answers', () => {
    expect(sent(final({ ...LISTEN, kind: 'superseded' }))).toEqual([]);
  });

  it('W-29: ends the call with the event, its data, and what is left of the session, in well-formed text', () => {
    const metadata = { 'k\ud83d': ['a\udc00', { b: 'c\ud83d', d: 1, e: null }] };
    expect(sent(final({ kind: 'transfer', metadata, summary: 's\ud83d', transcript: 't' }))).toEqual([
      {
        response_type: 'FINAL',
        prompts: [{ audio_content_b64: '', is_barge_in_enabled: false }],
        output_events: [
          {
            event_type: 'TRANSFER_TO_AGENT',
            name: 'transfer_requested',
            metadata: { 'k\ufffd': ['a\ufffd', { b: 'c\ufffd', d: 1, e: null }] },
          },
        ],
        session_summary: { text: 's\ufffd' },
        session_transcript: { text: 't' },
      },
    ]);
    const [ended] = sent(final({ kind: 'end', metadata: { outcome: 'done' } }));
    expect(ended).toMatchObject({ output_events: [{ event_type: 'SESSION_END', name: 'session_ended', metadata: { outcome: 'done' } }] });
    expect(ended).not.toHaveProperty('input_mode');
    expect(ended).not.toHaveProperty('session_summary');
  });

  it('G-73: brings an event for the flow with the FINAL of the reply', () => {
    expect(sent(final({ ...LISTEN, event: { name: 'paid', metadata: { sum: 3 } } }))).toMatchObject([
      { output_events: [{ event_type: 'CUSTOM_EVENT', name: 'paid', metadata: { sum: 3 } }] },
    ]);
  });
});

describe('envelopes', () => {
  it('W-10: carry number, time and conversation, in any characters', () => {
    const [payload = Buffer.alloc(0)] = toEnvelope.payloads({ kind: 'input_started' });
    const read = readServerEnvelope(responseEnvelope({ ...HEAD, conversationId: 'c-"1"' }, payload).toString());
    expect(read).toMatchObject({ type: 'VOICE_VA_RESPONSE', seq: 3, ts: '2026-01-01T00:00:00.000Z', conversation_id: 'c-"1"' });
    expect(read).toMatchObject({ payload: { response_type: 'FINAL' } });
    expect(JSON.parse(responseEnvelope(HEAD, payload).toString())).not.toHaveProperty('metadata');
    expect(JSON.parse(responseEnvelope(HEAD, payload, { texts: ['Hi.'] }).toString())).toHaveProperty('metadata', {
      parley_prompt_texts: ['Hi.'],
    });
  });

  it('W-40 W-43: are written for errors and for the answer to a PING', () => {
    expect(JSON.parse(errorEnvelope(HEAD, { code: 'bad_request', status: 400, detail: 'it says "no"' }).toString())).toEqual({
      type: 'ERROR',
      seq: 3,
      ts: '2026-01-01T00:00:00.000Z',
      conversation_id: 'c-1',
      code: 'bad_request',
      status: 400,
      detail: 'it says "no"',
    });
    expect(JSON.parse(pongEnvelope(HEAD).toString())).toEqual({
      type: 'PONG',
      seq: 3,
      ts: '2026-01-01T00:00:00.000Z',
      conversation_id: 'c-1',
    });
  });
});
