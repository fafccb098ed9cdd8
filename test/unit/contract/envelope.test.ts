import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import { bytesOfBase64 } from '../../../src/contract/base64.ts';
import { readListAnswer, readListRequest, readPlatformEnvelope, readServerEnvelope } from '../../../src/contract/envelope.ts';
import { DTMF_KEY, dtmfCharacterOfName, dtmfNameOf } from '../../../src/contract/numbers.ts';

const HEAD = { seq: 1, ts: '2026-01-01T00:00:00Z', conversation_id: 'c-1' };
const PAYLOAD = { conversation_id: 'c-1', customer_org_id: 'org', voice_va_input_type: { event_input: { event_type: 'SESSION_START' } } };

function request(payload: object = {}, head: object = {}): string {
  return JSON.stringify({ type: 'VOICE_VA_REQUEST', ...HEAD, ...head, payload: { ...PAYLOAD, ...payload } });
}

function refusal(text: string): string {
  try {
    readPlatformEnvelope(text);
  } catch (error) {
    if (error instanceof AppError && error.code === 'bad_message') return error.message;
    throw error;
  }
  throw new Error('it was taken');
}

describe('what the platform sends', () => {
  it('W-12: takes the official examples, which the published schema refuses, and lets fields of later versions through', () => {
    const envelope = readPlatformEnvelope(request({ a_field_of_next_year: 1 }, { another: true }));
    expect(envelope).toMatchObject({ type: 'VOICE_VA_REQUEST', seq: 1, payload: { customer_org_id: 'org' } });
    expect(readPlatformEnvelope(JSON.stringify({ type: 'PING', ...HEAD, seq: 7 }))).toMatchObject({ type: 'PING', seq: 7 });
    expect(readPlatformEnvelope(JSON.stringify({ type: 'ERROR', ...HEAD, code: 'timeout', status: 408 }))).toMatchObject({ status: 408 });
  });

  it.each([
    ['an array of pairs', [{ key: 'tier', value: 'gold' }, { nothing: true }, 4], { tier: 'gold' }],
    ['an empty array', [], {}],
    ['null', null, {}],
    ['an object', { tier: 'gold' }, { tier: 'gold' }],
  ])('W-16: reads free data that comes as %s', (_what, given, expected) => {
    const envelope = readPlatformEnvelope(
      request(
        {
          additional_info: given,
          voice_va_input_type: { event_input: { event_type: 'CUSTOM_EVENT', parameters: given } },
        },
        { metadata: given },
      ),
    );
    expect(envelope).toMatchObject({ metadata: expected, payload: { additional_info: expected } });
    expect(envelope?.type === 'VOICE_VA_REQUEST' ? envelope.payload.voice_va_input_type.event_input?.parameters : undefined).toEqual(
      expected,
    );
  });

  it('W-16: takes is_single_utterance null', () => {
    const audio = { encoding: 'MULAW_FORMAT', sample_rate_hertz: 8000, caller_audio_b64: '', is_single_utterance: null };
    expect(readPlatformEnvelope(request({ voice_va_input_type: { audio_input: audio } }))).toMatchObject({ seq: 1 });
  });

  it.each([
    ['no JSON', '{', 'not JSON'],
    ['JSON that is no object', '[1]', 'its top level'],
    ['no type', JSON.stringify(HEAD), 'type'],
    ['a type that is no word', JSON.stringify({ ...HEAD, type: 7 }), 'type'],
    ['a malformed envelope of a known type (W-17)', JSON.stringify({ type: 'PING' }), 'seq'],
    ['a sequence number of 0 (W-10)', request({}, { seq: 0 }), 'seq'],
    ['a sequence number that is no whole number', request({}, { seq: 1.5 }), 'seq'],
    ['no payload', JSON.stringify({ ...HEAD, type: 'VOICE_VA_REQUEST' }), 'payload'],
    ['no organization', request({ customer_org_id: undefined }), 'payload.customer_org_id'],
    ['no input', request({ voice_va_input_type: undefined }), 'payload.voice_va_input_type'],
    ['no time', request({}, { ts: undefined }), 'ts'],
  ])('refuses %s, naming the place', (_what, text, place) => {
    expect(refusal(text)).toContain(place);
  });

  it.each([
    ['a type of a later version', { ...HEAD, type: 'HELLO' }],
    ['a type that only servers send', { ...HEAD, type: 'VOICE_VA_RESPONSE' }],
    ['nothing else than its type', { type: 'HELLO' }],
  ])('W-17: reads an envelope with %s as none', (_what, envelope) => {
    expect(readPlatformEnvelope(JSON.stringify(envelope))).toBeUndefined();
  });

  it('repeats no value and no foreign name in what it says', () => {
    const text = request({ vendor_specific_config: { '4929123412341234': { pin: '8899' } }, conversation_id: 4929 });
    expect(refusal(text)).not.toMatch(/4929|8899|pin/);
  });
});

describe('what a server sends', () => {
  it('reads an answer with everything in it', () => {
    const payload = {
      response_type: 'FINAL',
      prompts: [{ audio_content_b64: '', is_barge_in_enabled: false }],
      input_mode: 'INPUT_VOICE_DTMF',
      input_handling_config: { dtmf_config: { inter_digit_timeout_msec: 3000, termchar: 'DTMF_DIGIT_POUND', dtmf_input_length: 5 } },
    };
    expect(readServerEnvelope(JSON.stringify({ type: 'VOICE_VA_RESPONSE', ...HEAD, payload }))).toMatchObject({ payload });
  });

  it('W-12: demands the type of an answer', () => {
    expect(() => readServerEnvelope(JSON.stringify({ type: 'VOICE_VA_RESPONSE', ...HEAD, payload: {} }))).toThrow('payload.response_type');
  });
});

describe('the list channel', () => {
  it('W-50, W-16: reads the question, whatever else it carries', () => {
    const question = { customer_org_id: 'org', is_default_virtual_agent_enabled: true, odd: [] };
    expect(readListRequest(JSON.stringify(question))).toEqual({ customer_org_id: 'org', is_default_virtual_agent_enabled: true });
    expect(() => readListRequest('{}')).toThrow('customer_org_id');
  });

  it('W-51: reads the answer', () => {
    expect(readListAnswer('{"virtual_agents":[{"id":"a","name":"A"}]}')).toEqual({ virtual_agents: [{ id: 'a', name: 'A' }] });
  });
});

describe('audio as text', () => {
  it('decodes what was encoded', () => {
    for (const length of [0, 1, 2, 3, 160]) {
      const bytes = Buffer.alloc(length, 0xa7);
      expect(bytesOfBase64(bytes.toString('base64'), 160)).toEqual(bytes);
    }
  });

  it.each(['a', 'ab=c', '====', 'YWJj\n', 'YW-_', 'YWJj!AAA', '=AAA'])('refuses %j, which the runtime would skip over', (text) => {
    expect(() => bytesOfBase64(text, 100)).toThrow(AppError);
  });

  it('refuses more bytes than allowed', () => {
    const text = Buffer.alloc(161).toString('base64');
    expect(() => bytesOfBase64(text, 160)).toThrow('longer than 160 bytes');
    expect(bytesOfBase64(text, 161)).toHaveLength(161);
  });
});

describe('keys as names', () => {
  it('G-66: names every key, and knows no other name', () => {
    for (const character of Object.keys(DTMF_KEY)) expect(dtmfCharacterOfName(dtmfNameOf(character))).toBe(character);
    expect(dtmfCharacterOfName('DTMF_DIGIT_POUND')).toBe('#');
    expect(dtmfCharacterOfName('DTMF_EVENT_UNSPECIFIED')).toBeUndefined();
    expect(() => dtmfNameOf('x')).toThrow(TypeError);
  });
});
