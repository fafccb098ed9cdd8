// Caller audio that is read past the decoder: the same audio as the decoder's, or nothing.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AudioFrames, type WireAudio } from '../../../src/contract/audio-frames.ts';
import { EVENT_INPUT, loadContract, VOICE_ENCODING, type MediaRequest } from '../../../src/contract/grpc.ts';
import { loadProfile } from '../../../src/contract/profile.ts';

const { requestSerialize, requestDeserialize } = loadContract(loadProfile('fake')).media.definition.ProcessCallerInput;

const IDS: MediaRequest = { conversation_id: 'call-1', customer_org_id: 'org-1', virtual_agent_id: 'echo' };
const FRAME = Uint8Array.from({ length: 160 }, (_, index) => index);

/** What is read of a message after another one was learned. */
function readAfter(learned: MediaRequest, message: MediaRequest | Buffer): WireAudio | undefined {
  const frames = new AudioFrames();
  frames.learn(requestSerialize(learned));
  return frames.read(Buffer.isBuffer(message) ? message : requestSerialize(message));
}

const audio = (caller_audio: Uint8Array, more: Omit<WireAudio, 'caller_audio'> = {}): MediaRequest => ({
  ...IDS,
  audio_input: { caller_audio, ...more },
});

describe('audio frames', () => {
  it('G-30 are read as views when everything in front of them is as learned', () => {
    const bytes = requestSerialize(audio(FRAME));
    const read = readAfter(audio(new Uint8Array(3)), bytes);
    expect(read).toEqual({ caller_audio: Buffer.from(FRAME) });
    expect(read?.caller_audio?.buffer).toBe(bytes.buffer);
  });

  it('G-32 bring the format that they name', () => {
    const format = { encoding: VOICE_ENCODING.LINEAR16_FORMAT, sample_rate_hertz: 16_000 };
    expect(readAfter(audio(FRAME), audio(FRAME, format))).toEqual({ caller_audio: Buffer.from(FRAME), ...format });
  });

  it('are left to the decoder before a message was learned', () => {
    expect(new AudioFrames().read(requestSerialize(audio(FRAME)))).toBeUndefined();
  });

  it.each<[string, MediaRequest]>([
    ['G-15 of another conversation', { ...audio(FRAME), conversation_id: 'call-2' }],
    ['G-08 of another organization', { ...audio(FRAME), customer_org_id: 'org-2' }],
    ['G-17 to another agent', { ...audio(FRAME), virtual_agent_id: 'menu' }],
    ['that names no agent where one was learned', { ...audio(FRAME), virtual_agent_id: '' }],
    ['with a setting that was not learned', { ...audio(FRAME), allow_partial_responses: true }],
    ['with something behind the audio', { ...audio(FRAME), additional_info: { a: 'b' } }],
    ['with a language', audio(FRAME, { language_code: 'en-US' })],
    ['that names a format alone', { ...IDS, audio_input: { encoding: VOICE_ENCODING.MULAW_FORMAT, sample_rate_hertz: 8000 } }],
    ['that is an event', { ...IDS, event_input: { event_type: EVENT_INPUT.NO_INPUT } }],
  ])('leave to the decoder a message %s', (_, message) => {
    expect(readAfter(audio(FRAME), message)).toBeUndefined();
  });

  it('leave to the decoder what is cut off or has too much', () => {
    const whole = requestSerialize(audio(FRAME));
    for (let length = 0; length < whole.length; length += 1) expect(readAfter(audio(FRAME), whole.subarray(0, length))).toBeUndefined();
    expect(readAfter(audio(FRAME), Buffer.concat([whole, Buffer.of(0)]))).toBeUndefined();
  });

  it('do not keep the message that was learned', () => {
    const frames = new AudioFrames();
    const learned = requestSerialize(audio(FRAME));
    frames.learn(learned);
    learned.fill(0);
    expect(frames.read(requestSerialize(audio(FRAME)))).toEqual({ caller_audio: Buffer.from(FRAME) });
  });

  it('are what the decoder reads, or nothing, whatever the bytes', () => {
    const text = fc.string({ unit: 'binary', maxLength: 200 });
    const ids = fc.record(
      {
        conversation_id: text,
        customer_org_id: text,
        virtual_agent_id: text,
        allow_partial_responses: fc.boolean(),
        vendor_specific_config: text,
      },
      { requiredKeys: [] },
    );
    const input = fc.record(
      {
        caller_audio: fc.uint8Array({ maxLength: 400 }),
        encoding: fc.integer({ min: -1, max: 20_000 }),
        sample_rate_hertz: fc.integer({ min: -1, max: 20_000 }),
      },
      { requiredKeys: [] },
    );
    const foreign = fc.record({ language_code: text, is_single_utterance: fc.boolean() }, { requiredKeys: [] });
    const audioInput = fc.oneof(
      { weight: 4, arbitrary: input },
      { weight: 1, arbitrary: fc.tuple(input, foreign).map(([one, two]) => ({ ...one, ...two })) },
    );
    const change = fc.option(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { nil: undefined, freq: 2 });
    let read = 0;
    fc.assert(
      fc.property(ids, fc.option(ids, { nil: undefined, freq: 2 }), audioInput, change, (first, other, audio_input, changed) => {
        const frames = new AudioFrames();
        frames.learn(requestSerialize({ ...first, audio_input: { caller_audio: FRAME } }));
        const bytes = requestSerialize({ ...(other ?? first), audio_input });
        if (changed !== undefined) bytes[changed[0] % bytes.length] = changed[1];
        const found = frames.read(bytes);
        if (found === undefined) return;
        read += 1;
        expect(requestDeserialize(bytes)).toEqual({ ...requestDeserialize(requestSerialize(first)), audio_input: found });
      }),
      { numRuns: 2000 },
    );
    expect(read).toBeGreaterThan(100);
  });
});
