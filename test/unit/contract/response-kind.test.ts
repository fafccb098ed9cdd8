// Which kind of response bytes are, without decoding them.
import { describe, expect, it } from 'vitest';
import { EVENT_OUTPUT, loadContract, RESPONSE_TYPE, type MediaResponse } from '../../../src/contract/grpc.ts';
import { loadProfile } from '../../../src/contract/profile.ts';
import { responseKind, type ResponseKind } from '../../../src/contract/response-kind.ts';

const { encodeResponse } = loadContract(loadProfile('fake'));
const sound = { audio_content: new Uint8Array(40_000).fill(0x10), is_barge_in_enabled: true };
const event = (event_type: number): MediaResponse => ({ output_events: [{ event_type }] });

describe('the kind of a response', () => {
  it.each<readonly [ResponseKind, string, MediaResponse]>([
    ['input_started', 'G-36 a stand-alone START_OF_INPUT', { ...event(EVENT_OUTPUT.START_OF_INPUT), response_type: RESPONSE_TYPE.FINAL }],
    ['input_ended', 'G-38 an END_OF_INPUT', { ...event(EVENT_OUTPUT.END_OF_INPUT), response_type: RESPONSE_TYPE.FINAL }],
    ['input_ended', 'one that is marked CHUNK', { ...event(EVENT_OUTPUT.END_OF_INPUT), response_type: RESPONSE_TYPE.CHUNK }],
    ['part', 'G-42 a piece of a prompt', { prompts: [sound], response_type: RESPONSE_TYPE.CHUNK }],
    ['part', 'an early answer', { prompts: [sound], response_type: RESPONSE_TYPE.PARTIAL }],
    ['final', 'a reply in one message', { prompts: [sound, sound], response_type: RESPONSE_TYPE.FINAL }],
    ['final', 'a reply that names no type', { prompts: [sound] }],
    ['final', 'G-77 one that transfers', { prompts: [sound], ...event(EVENT_OUTPUT.TRANSFER_TO_AGENT) }],
    ['final', 'one that says nothing', {}],
  ])('is %s for %s', (kind, _what, response) => {
    expect(responseKind(encodeResponse(response))).toBe(kind);
  });

  it('is a part for bytes that are no message', () => {
    expect(responseKind(Buffer.from([0x0a, 0x7f]))).toBe('part');
    expect(responseKind(Buffer.from([0x07]))).toBe('part');
    expect(responseKind(Buffer.from([0x80]))).toBe('part');
  });
});
