import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError, toAppError } from '../../../../src/base/errors.ts';
import { readPlatformEnvelope, type SocketRequest } from '../../../../src/contract/envelope.ts';
import { EVENT_INPUT, VOICE_ENCODING } from '../../../../src/contract/numbers.ts';
import type { Input } from '../../../../src/dialog/input.ts';
import { callFromEnvelope, inputFromEnvelope } from '../../../../src/transport/ws/from-envelope.ts';

function requestOf(payload: object): SocketRequest {
  const head = { type: 'VOICE_VA_REQUEST', seq: 1, ts: '2026-01-01T00:00:00Z', conversation_id: 'c' };
  const envelope = readPlatformEnvelope(
    JSON.stringify({ ...head, payload: { conversation_id: 'c', customer_org_id: 'o', voice_va_input_type: {}, ...payload } }),
  );
  if (envelope?.type !== 'VOICE_VA_REQUEST') throw new Error('no request');
  return envelope.payload;
}

const input = (inputs: object): Input | undefined => inputFromEnvelope(requestOf({ voice_va_input_type: inputs }));
const audio = (fields: object): Input | undefined => input({ audio_input: fields });
const event = (fields: object): Input | undefined => input({ event_input: fields });
const b64 = (length: number): string => Buffer.alloc(length, 7).toString('base64');

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (thrown) {
    return toAppError(thrown).code;
  }
  return 'nothing';
}

describe('what the platform sends on a socket, as inputs', () => {
  it('W-30: reads caller audio with the format that it names', () => {
    expect(audio({ encoding: 'MULAW_FORMAT', sample_rate_hertz: 8000, caller_audio_b64: b64(160) })).toEqual({
      kind: 'audio',
      audio: Buffer.alloc(160, 7),
      encoding: 'mulaw',
      sampleRateHz: 8000,
    });
    expect(audio({ encoding: 'ALAW_FORMAT', sample_rate_hertz: 16_000 })).toMatchObject({ encoding: 'alaw', sampleRateHz: 16_000 });
    expect(audio({ encoding: 'LINEAR16_FORMAT' })).toMatchObject({ encoding: 'linear16' });
    expect(audio({ encoding: 'UNSPECIFIED_FORMAT', caller_audio_b64: b64(160) })).toEqual({ kind: 'audio', audio: Buffer.alloc(160, 7) });
  });

  it('W-43: refuses an encoding and a rate that nobody can decode, and does not repeat the name of the encoding', () => {
    expect(codeOf(() => audio({ encoding: 'OPUS 4929' }))).toBe('unsupported_audio');
    expect(codeOf(() => audio({ encoding: 'toString' }))).toBe('unsupported_audio');
    expect(codeOf(() => audio({ encoding: 'MULAW_FORMAT', sample_rate_hertz: 44_100 }))).toBe('unsupported_audio');
    expect(() => audio({ encoding: 'OPUS 4929' })).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('4929') as string }) as Error,
    );
  });

  it('knows every encoding of the contract', () => {
    for (const encoding of Object.keys(VOICE_ENCODING))
      expect(
        codeOf(() => audio({ encoding })),
        encoding,
      ).toBe('nothing');
  });

  it('G-34: drops audio of less than 15 bytes and keeps 15', () => {
    expect(audio({ caller_audio_b64: b64(14) })).toEqual({ kind: 'audio', audio: new Uint8Array(0) });
    expect(audio({ caller_audio_b64: '' })).toEqual({ kind: 'audio', audio: new Uint8Array(0) });
    expect(audio({ caller_audio_b64: null })).toEqual({ kind: 'audio', audio: new Uint8Array(0) });
    expect(audio({ caller_audio_b64: b64(15) })).toEqual({ kind: 'audio', audio: Buffer.alloc(15, 7) });
  });

  it('W-34: takes 65,536 bytes of audio and not one more, and nothing that is no Base64', () => {
    expect(audio({ caller_audio_b64: b64(65_536) })).toMatchObject({ audio: { length: 65_536 } });
    expect(codeOf(() => audio({ caller_audio_b64: b64(65_537) }))).toBe('bad_message');
    expect(codeOf(() => audio({ caller_audio_b64: 'not audio!' }))).toBe('bad_message');
  });

  it('demands exactly one input', () => {
    for (const inputs of [
      {},
      { audio_input: null },
      { audio_input: {}, dtmf_input: {} },
      { dtmf_input: {}, event_input: { event_type: 'NO_INPUT' } },
      { audio_input: {}, event_input: { event_type: 'NO_INPUT' } },
    ]) {
      expect(
        codeOf(() => input(inputs)),
        JSON.stringify(inputs),
      ).toBe('bad_message');
    }
    expect(input({ audio_input: null, event_input: { event_type: 'NO_INPUT' }, dtmf_input: null })).toEqual({ kind: 'no_input' });
  });

  it('W-16: reads every event by its name, with its name and parameters in whatever form they come', () => {
    const told = { name: 'n', parameters: [{ key: 'a', value: [1, { b: null }] }] };
    expect(event({ event_type: 'SESSION_START', ...told })).toEqual({
      kind: 'session_start',
      name: 'n',
      parameters: { a: [1, { b: null }] },
    });
    expect(event({ event_type: 'CUSTOM_EVENT', ...told })).toEqual({
      kind: 'custom_event',
      name: 'n',
      parameters: { a: [1, { b: null }] },
    });
    expect(event({ event_type: 'CUSTOM_EVENT' })).toEqual({ kind: 'custom_event', name: '', parameters: {} });
    expect(event({ event_type: 'SESSION_END', ...told })).toEqual({ kind: 'session_end' });
    expect(event({ event_type: 'NO_INPUT' })).toEqual({ kind: 'no_input' });
    expect(event({ event_type: 'START_OF_DTMF' })).toEqual({ kind: 'dtmf_start' });
  });

  it('knows every event of the contract', () => {
    const unknown = Object.keys(EVENT_INPUT).filter(
      (event_type) => codeOf(() => event({ event_type })) === 'nothing' && event({ event_type }) === undefined,
    );
    expect(unknown).toEqual([]);
  });

  it('G-90: takes an event of a later contract as nothing, and refuses one that has no type', () => {
    expect(event({ event_type: 'EVENT_OF_NEXT_YEAR' })).toBeUndefined();
    for (const fields of [{}, { event_type: null }, { event_type: 'UNSPECIFIED_INPUT' }]) {
      expect(codeOf(() => event(fields))).toBe('bad_message');
    }
  });

  it('G-66: reads keys by name, and leaves out those it does not know', () => {
    const dtmf_events = ['DTMF_DIGIT_ZERO', 'DTMF_DIGIT_STAR', 'DTMF_DIGIT_POUND', 'DTMF_DIGIT_D', 'DTMF_DIGIT_OF_NEXT_YEAR'];
    expect(input({ dtmf_input: { dtmf_events } })).toEqual({ kind: 'dtmf', digits: '0*#D' });
    expect(input({ dtmf_input: {} })).toEqual({ kind: 'dtmf', digits: '' });
  });

  it('bounds parameters in size and depth before anything walks through them', () => {
    const nested = (depth: number): object => Array.from({ length: depth }).reduce<object>((inner) => ({ a: inner }), {});
    expect(codeOf(() => event({ event_type: 'CUSTOM_EVENT', parameters: nested(31) }))).toBe('nothing');
    expect(codeOf(() => event({ event_type: 'CUSTOM_EVENT', parameters: nested(32) }))).toBe('bad_message');
    expect(codeOf(() => event({ event_type: 'CUSTOM_EVENT', parameters: nested(3000) }))).toBe('bad_message');
    expect(codeOf(() => event({ event_type: 'SESSION_START', parameters: { a: 'x'.repeat(16_376) } }))).toBe('nothing');
    expect(codeOf(() => event({ event_type: 'SESSION_START', parameters: { a: 'x'.repeat(16_377) } }))).toBe('bad_message');
  });

  it('reads the call, and demands ids that may be kept', () => {
    expect(callFromEnvelope(requestOf({ virtual_agent_id: 'a', vendor_specific_config: 'v' }))).toEqual({
      conversationId: 'c',
      organizationId: 'o',
      agentId: 'a',
      vendorConfig: 'v',
    });
    expect(callFromEnvelope(requestOf({ virtual_agent_id: null }))).toMatchObject({ agentId: '', vendorConfig: '' });
    for (const fields of [
      { conversation_id: '' },
      { conversation_id: 'a\nb' },
      { virtual_agent_id: '\u0000' },
      { vendor_specific_config: 'x'.repeat(16_385) },
    ]) {
      expect(codeOf(() => callFromEnvelope(requestOf(fields)))).toBe('bad_message');
    }
  });

  it('throws nothing but its own errors, whatever stands in the message', () => {
    fc.assert(
      fc.property(fc.json(), fc.string(), (json, text) => {
        const any = JSON.parse(json) as unknown;
        for (const inputs of [
          { audio_input: any },
          { event_input: { event_type: text, parameters: any } },
          { event_input: { event_type: 'CUSTOM_EVENT', name: text, parameters: any } },
          { dtmf_input: { dtmf_events: any } },
          { audio_input: { encoding: text, caller_audio_b64: text, sample_rate_hertz: any } },
          any,
        ]) {
          try {
            inputFromEnvelope(requestOf({ voice_va_input_type: inputs }));
          } catch (error) {
            expect(error).toBeInstanceOf(AppError);
          }
        }
      }),
    );
  });
});
