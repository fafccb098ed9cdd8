import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DTMF_KEY, EVENT_INPUT, VOICE_ENCODING, type MediaRequest } from '../../../src/contract/grpc.ts';
import { structFromJson } from '../../../src/contract/struct.ts';
import { AppError } from '../../../src/base/errors.ts';
import { callFromWire, inputFromWire } from '../../../src/transport/grpc/from-wire.ts';

const audio = (change: MediaRequest['audio_input']) => inputFromWire({ audio_input: change ?? {} });

describe('from-wire', () => {
  it('G-34 drops audio of less than 15 bytes and keeps 15 (U-15), without a copy', () => {
    const bytes = (length: number) => new Uint8Array(length).fill(7);
    expect(audio({ caller_audio: bytes(3) })).toMatchObject({ kind: 'audio', audio: new Uint8Array(0) });
    expect(audio({ caller_audio: bytes(14) })).toMatchObject({ audio: new Uint8Array(0) });
    const kept = bytes(15);
    expect((audio({ caller_audio: kept }) as { audio: Uint8Array }).audio).toBe(kept);
  });

  it('G-32 names encoding and rate only when the message does', () => {
    expect(audio({ caller_audio: new Uint8Array(160) })).not.toHaveProperty('encoding');
    expect(
      audio({ caller_audio: new Uint8Array(160), sample_rate_hertz: 0, encoding: VOICE_ENCODING.UNSPECIFIED_FORMAT }),
    ).not.toHaveProperty('sampleRateHz');
    expect(audio({ encoding: VOICE_ENCODING.ALAW_FORMAT, sample_rate_hertz: 16_000 })).toMatchObject({
      encoding: 'alaw',
      sampleRateHz: 16_000,
    });
  });

  it('refuses an encoding it does not know', () => {
    expect(() => audio({ encoding: 9 })).toThrow(expect.objectContaining({ code: 'unsupported_audio' }) as Error);
  });

  it('G-66 maps keys by name', () => {
    expect(
      inputFromWire({ dtmf_input: { dtmf_events: [DTMF_KEY['0'], DTMF_KEY['1'], DTMF_KEY['*'], DTMF_KEY['#'], DTMF_KEY.D, 0, 99] } }),
    ).toEqual({
      kind: 'dtmf',
      digits: '01*#D',
    });
    expect(inputFromWire({ dtmf_input: {} })).toEqual({ kind: 'dtmf', digits: '' });
  });

  it('maps every event by its own number, with name and parameters', () => {
    const event = (event_type: number) =>
      inputFromWire({ event_input: { event_type, name: 'n', parameters: structFromJson({ a: [1, { b: null }] }) } });
    expect(event(EVENT_INPUT.SESSION_START)).toEqual({ kind: 'session_start', name: 'n', parameters: { a: [1, { b: null }] } });
    expect(event(EVENT_INPUT.CUSTOM_EVENT)).toEqual({ kind: 'custom_event', name: 'n', parameters: { a: [1, { b: null }] } });
    expect(event(EVENT_INPUT.SESSION_END)).toEqual({ kind: 'session_end' });
    expect(event(EVENT_INPUT.NO_INPUT)).toEqual({ kind: 'no_input' });
    expect(event(EVENT_INPUT.START_OF_DTMF)).toEqual({ kind: 'dtmf_start' });
  });

  it('G-90 takes an event of a later contract as nothing, and G-18 refuses a message without input', () => {
    expect(inputFromWire({ event_input: { event_type: 77 } })).toBeUndefined();
    for (const message of [{}, { event_input: {} }, { event_input: { event_type: 0 } }]) {
      expect(() => inputFromWire(message)).toThrow(expect.objectContaining({ code: 'bad_message' }) as Error);
    }
  });

  it('demands a conversation id and sane lengths', () => {
    expect(callFromWire({ conversation_id: 'c', customer_org_id: 'o' })).toEqual({
      conversationId: 'c',
      organizationId: 'o',
      agentId: '',
      vendorConfig: '',
    });
    for (const request of [
      {},
      { conversation_id: '' },
      { conversation_id: 'x'.repeat(257) },
      { conversation_id: 'c', vendor_specific_config: 'x'.repeat(16_385) },
    ]) {
      expect(() => callFromWire(request)).toThrow(expect.objectContaining({ code: 'bad_message' }) as Error);
    }
  });

  it('throws nothing but its own errors, whatever the numbers are', () => {
    const int = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
    fc.assert(
      fc.property(int, int, int, fc.array(int), (encoding, rate, event, keys) => {
        for (const message of [
          { audio_input: { encoding, sample_rate_hertz: rate } },
          { event_input: { event_type: event } },
          { dtmf_input: { dtmf_events: keys } },
        ]) {
          try {
            inputFromWire(message);
          } catch (error) {
            expect(error).toBeInstanceOf(AppError);
          }
        }
      }),
    );
  });
});
