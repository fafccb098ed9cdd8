import { describe, expect, it } from 'vitest';
import { DTMF_KEY, EVENT_OUTPUT, INPUT_MODE, loadContract, RESPONSE_TYPE } from '../../../src/contract/grpc.ts';
import { loadProfile } from '../../../src/contract/profile.ts';
import type { ListenSettings, Output, PromptAudio } from '../../../src/dialog/output.ts';
import { ToWire } from '../../../src/transport/grpc/to-wire.ts';

const contract = loadContract(loadProfile('fake'));
const decode = (bytes: Buffer) => contract.media.definition.ProcessCallerInput.responseDeserialize(bytes);
const toWire = new ToWire(contract);
const sent = (output: Output) => toWire.responses(output).map((bytes) => decode(bytes));
const sound = (bytes: number): PromptAudio => ({ mulaw: new Uint8Array(bytes).fill(0x31), durationMs: bytes / 8 });
const LISTEN: ListenSettings = { accept: 'both', digits: 4, interDigitMs: 3000, terminator: '#', noInputMs: 10_000, sensitive: true };

describe('to-wire', () => {
  it('G-36 G-38 G-39 sends the start of input as a FINAL of its own and its end in the mode of the call', () => {
    expect(sent({ kind: 'input_started' })).toEqual([
      { output_events: [{ event_type: EVENT_OUTPUT.START_OF_INPUT }], response_type: RESPONSE_TYPE.FINAL },
    ]);
    expect(sent({ kind: 'input_ended', mode: 'wav' })).toEqual([
      { output_events: [{ event_type: EVENT_OUTPUT.END_OF_INPUT }], response_type: RESPONSE_TYPE.FINAL },
    ]);
    expect(sent({ kind: 'input_ended', mode: 'chunk' })).toEqual([
      { output_events: [{ event_type: EVENT_OUTPUT.END_OF_INPUT }], response_type: RESPONSE_TYPE.CHUNK },
    ]);
  });

  it('G-46 sends streamed audio headerless, without text, and the same bytes each time', () => {
    const audio = sound(1600);
    const output: Output = { kind: 'prompt', prompt: { audio, text: 'hello', bargeIn: true } };
    const [first] = toWire.responses(output);
    expect(toWire.responses(output)[0]).toBe(first);
    const [response] = sent(output);
    expect(response?.prompts).toEqual([{ audio_content: Buffer.from(audio.mulaw), is_barge_in_enabled: true }]);
    const uncut = sent({ kind: 'prompt', prompt: { audio, text: 'hello', bargeIn: false } });
    expect(uncut[0]?.prompts?.[0]?.is_barge_in_enabled ?? false).toBe(false);
  });

  it('G-41 sends several prompts in one FINAL, each a WAV, in WAV mode', () => {
    const [response, ...more] = sent({
      kind: 'final',
      mode: 'wav',
      prompts: [
        { audio: sound(800), text: 'a', bargeIn: true },
        { audio: undefined, text: 'only text', bargeIn: false },
        { audio: sound(1600), text: 'b', bargeIn: true },
      ],
      next: { kind: 'listen', ...LISTEN },
    });
    expect(more).toEqual([]);
    const prompts = response?.prompts ?? [];
    expect(prompts.map((prompt) => prompt.text)).toEqual([undefined, 'only text', undefined]);
    expect(prompts.map((prompt) => prompt.audio_content?.length)).toEqual([858, undefined, 1658]);
    expect(Buffer.from(prompts[0]?.audio_content ?? []).toString('latin1', 0, 4)).toBe('RIFF');
  });

  it('G-43 G-80 G-83 closes a streamed reply with one prompt without audio and the input settings', () => {
    expect(sent({ kind: 'final', mode: 'chunk', prompts: [], next: { kind: 'listen', ...LISTEN } })).toEqual([
      {
        prompts: [{ audio_content: Buffer.alloc(0), is_barge_in_enabled: false }],
        response_type: RESPONSE_TYPE.FINAL,
        input_sensitive: true,
        input_mode: INPUT_MODE.INPUT_VOICE_DTMF,
        input_handling_config: {
          dtmf_config: { dtmf_input_length: 4, inter_digit_timeout_msec: 3000, termchar: DTMF_KEY['#'] },
          speech_timers: { no_input_timeout_msec: 10_000 },
        },
      },
    ]);
  });

  it.each([
    ['speech', INPUT_MODE.INPUT_VOICE],
    ['keys', INPUT_MODE.INPUT_EVENT_DTMF],
    ['both', INPUT_MODE.INPUT_VOICE_DTMF],
  ] as const)('maps accept %s by name', (accept, input_mode) => {
    const [response] = sent({ kind: 'final', mode: 'chunk', prompts: [], next: { kind: 'listen', ...LISTEN, accept, terminator: 'none' } });
    expect(response?.input_mode).toBe(input_mode);
    expect(response?.input_handling_config?.dtmf_config?.termchar).toBeUndefined();
  });

  it('G-78 G-79 ends with a terminal event and neither input mode nor input settings', () => {
    const [transfer] = sent({
      kind: 'final',
      mode: 'chunk',
      prompts: [],
      next: { kind: 'transfer', summary: 'All of it.', metadata: { summary: 'All of it.' } },
    });
    expect(transfer).toMatchObject({
      output_events: [{ event_type: EVENT_OUTPUT.TRANSFER_TO_AGENT, name: 'transfer_requested' }],
      session_summary: { text: 'All of it.' },
    });
    const [end] = sent({ kind: 'final', mode: 'chunk', prompts: [], next: { kind: 'end', metadata: { outcome: 'done' } } });
    expect(end).toMatchObject({ output_events: [{ event_type: EVENT_OUTPUT.SESSION_END }] });
    for (const response of [transfer, end]) {
      expect(response?.input_mode).toBeUndefined();
      expect(response?.input_handling_config).toBeUndefined();
    }
  });

  it('G-56 repeats the flag of the last streamed prompt on the empty one', () => {
    for (const bargeIn of [true, false]) {
      const [response] = sent({ kind: 'final', mode: 'chunk', prompts: [], next: { kind: 'listen', ...LISTEN }, bargeIn });
      expect(response?.prompts).toEqual([{ audio_content: Buffer.alloc(0), is_barge_in_enabled: bargeIn }]);
    }
  });

  it('G-7C G-80 closes a stream that gets no reply of its own without a prompt, with the settings that still stand', () => {
    const [listening] = sent({ kind: 'final', mode: 'chunk', prompts: [], next: { kind: 'listen', ...LISTEN } });
    const { prompts: _, ...settings } = listening ?? {};
    expect(sent({ kind: 'final', mode: 'chunk', prompts: [], next: { kind: 'superseded', ...LISTEN } })).toEqual([settings]);
  });

  it('G-75 answers a hang-up with an empty response', () => {
    expect(sent({ kind: 'final', mode: 'chunk', prompts: [], next: { kind: 'gone' } })).toEqual([{ response_type: RESPONSE_TYPE.FINAL }]);
  });
});
