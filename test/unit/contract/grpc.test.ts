import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENT_OUTPUT, INPUT_MODE, loadContract, RESPONSE_TYPE, type MediaResponse, type WirePrompt } from '../../../src/contract/grpc.ts';
import { loadProfile } from '../../../src/contract/profile.ts';
import { structFromJson } from '../../../src/contract/struct.ts';

const profile = loadProfile('fake');
const contract = loadContract(profile);
const { ProcessCallerInput: callerInput } = contract.media.definition;

const text = fc.string({ unit: 'binary', maxLength: 300 });
const prompts: fc.Arbitrary<WirePrompt> = fc.record(
  {
    text,
    audio_uri: text,
    audio_content: fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.constantFrom(100, 127, 128, 16_384, 65_536).map((length) => new Uint8Array(length).fill(0x7f)),
    ),
    is_barge_in_enabled: fc.boolean(),
  },
  { requiredKeys: [] },
);
const rests: fc.Arbitrary<Omit<MediaResponse, 'prompts'>> = fc.record(
  {
    output_events: fc.array(
      fc.record(
        {
          event_type: fc.constantFrom(...Object.values(EVENT_OUTPUT)),
          name: text,
          metadata: fc
            .dictionary(text, fc.jsonValue({ maxDepth: 2 }))
            .map((json) => structFromJson(JSON.parse(JSON.stringify(json)) as Record<string, string>)),
        },
        { requiredKeys: [] },
      ),
      { maxLength: 3 },
    ),
    input_sensitive: fc.boolean(),
    input_mode: fc.constantFrom(...Object.values(INPUT_MODE)),
    input_handling_config: fc.record(
      {
        dtmf_config: fc.record({
          inter_digit_timeout_msec: fc.nat(),
          termchar: fc.nat({ max: 20 }),
          dtmf_input_length: fc.nat({ max: 64 }),
        }),
        speech_timers: fc.record({ no_input_timeout_msec: fc.integer() }),
      },
      { requiredKeys: [] },
    ),
    session_transcript: fc.record({ text, language_code: text }),
    session_summary: fc.record({ ssml: text }),
    response_type: fc.constantFrom(...Object.values(RESPONSE_TYPE)),
  },
  { requiredKeys: [] },
);

describe('ready bytes', () => {
  it('G-22 assembles from encoded prompts the very bytes that encoding the whole response gives', () => {
    fc.assert(
      fc.property(fc.array(prompts, { maxLength: 4 }), rests, (list, rest) => {
        const whole = contract.encodeResponse({ ...rest, prompts: list });
        const assembled = contract.assembleResponse(list.map(contract.encodePrompt), rest);
        expect(assembled.equals(whole)).toBe(true);
        const read = callerInput.responseDeserialize(assembled).prompts ?? [];
        expect(read).toHaveLength(list.length);
        list.forEach((prompt, index) => {
          expect(Buffer.from(prompt.audio_content ?? '').equals(read[index]?.audio_content ?? Buffer.alloc(0))).toBe(true);
        });
      }),
      { numRuns: 500 },
    );
  });

  it('assembles any number of responses from the bytes of one prompt', () => {
    const prompt = contract.encodePrompt({ audio_content: Buffer.alloc(160, 0xff), is_barge_in_enabled: true });
    const before = Buffer.from(prompt);
    const once = contract.assembleResponse([prompt], { response_type: RESPONSE_TYPE.CHUNK });
    const twice = contract.assembleResponse([prompt, prompt], { response_type: RESPONSE_TYPE.FINAL });
    once.fill(0);
    expect(callerInput.responseDeserialize(twice).prompts?.map(({ audio_content }) => audio_content?.length)).toEqual([160, 160]);
    expect(prompt.equals(before)).toBe(true);
  });

  it('passes ready bytes through the serializer untouched, and encodes messages', () => {
    const ready = contract.encodeResponse({ prompts: [{ text: 'hello' }] });
    expect(callerInput.responseSerialize(ready)).toBe(ready);
    expect(callerInput.responseSerialize({ prompts: [{ text: 'hello' }] }).equals(ready)).toBe(true);
  });

  it('encodes an empty response as no bytes, which reads as a FINAL without content (G-75)', () => {
    expect(contract.encodeResponse({})).toHaveLength(0);
    expect(contract.assembleResponse([], {})).toHaveLength(0);
    expect(callerInput.responseDeserialize(Buffer.alloc(0))).toEqual({});
  });

  it('mends text that is no Unicode in every place where a response has text', () => {
    const broken = 'cut \uD83D';
    const mended = 'cut \uFFFD';
    const bytes = contract.encodeResponse({
      prompts: [{ text: broken, is_barge_in_enabled: false }, {}],
      output_events: [{ name: broken, metadata: structFromJson({ [broken]: broken }) }],
      session_transcript: { text: broken },
      session_summary: { ssml: broken },
    });
    expect(callerInput.responseDeserialize(bytes)).toEqual({
      prompts: [{ text: mended, is_barge_in_enabled: false }, {}],
      output_events: [{ name: mended, metadata: { fields: { [mended]: { stringValue: mended } } } }],
      session_transcript: { text: mended },
      session_summary: { ssml: mended },
    });
  });
});

describe('decoding', () => {
  it('G-30 hands out caller audio as a view into the received bytes, not as a copy', () => {
    const received = Buffer.from(callerInput.requestSerialize({ audio_input: { caller_audio: Buffer.alloc(160, 0x11) } }));
    const audio = callerInput.requestDeserialize(received).audio_input?.caller_audio;
    expect(Buffer.isBuffer(audio)).toBe(true);
    received.fill(0x22);
    expect(audio).toEqual(Buffer.alloc(160, 0x22));
  });

  it('leaves out what the client did not send', () => {
    const bytes = callerInput.requestSerialize({ conversation_id: 'c', audio_input: { caller_audio: Buffer.from('abc') } });
    expect(callerInput.requestDeserialize(bytes)).toEqual({ conversation_id: 'c', audio_input: { caller_audio: Buffer.from('abc') } });
  });

  it('G-90 keeps enum numbers that it does not know', () => {
    const bytes = callerInput.requestSerialize({ event_input: { event_type: 99 }, dtmf_input: { dtmf_events: [10, 77, -1] } });
    expect(callerInput.requestDeserialize(bytes)).toEqual({ event_input: { event_type: 99 }, dtmf_input: { dtmf_events: [10, 77, -1] } });
  });

  it('G-90 skips unknown fields of every wire type', () => {
    const unknown = {
      varint: [0x80, 0x7d, 0x96, 0x01],
      'eight bytes': [0x81, 0x7d, 1, 2, 3, 4, 5, 6, 7, 8],
      'length and bytes': [0x82, 0x7d, 0x03, 0x61, 0x62, 0x63],
      group: [0x83, 0x7d, 0x08, 0x01, 0x84, 0x7d],
      'four bytes': [0x85, 0x7d, 1, 2, 3, 4],
    };
    const known = callerInput.requestSerialize({ conversation_id: 'c' });
    for (const [name, bytes] of Object.entries(unknown)) {
      expect(callerInput.requestDeserialize(Buffer.concat([Buffer.from(bytes), known, Buffer.from(bytes)])), name).toEqual({
        conversation_id: 'c',
      });
    }
  });

  it('reads keys that an old encoder wrote one by one', () => {
    // Tag 0x08 twice instead of one packed field.
    expect(callerInput.requestDeserialize(Buffer.from([0x3a, 0x04, 0x08, 0x0a, 0x08, 0x10]))).toEqual({
      dtmf_input: { dtmf_events: [10, 16] },
    });
  });

  it('refuses bytes that are no message', () => {
    const cut = callerInput.requestSerialize({ audio_input: { caller_audio: Buffer.alloc(160) } }).subarray(0, 100);
    for (const bytes of [
      cut,
      Buffer.from([0x0a]),
      Buffer.from([0x32, 0x06, 0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]),
      Buffer.from([0x07]),
      Buffer.from('GET / HTTP/1.1\r\n'),
    ]) {
      expect(() => callerInput.requestDeserialize(bytes), bytes.toString('hex')).toThrow(Error);
    }
  });

  it('never throws anything but an Error, and always ends, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        try {
          callerInput.requestDeserialize(Buffer.from(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('refuses free data that is nested to exhaust the stack', () => {
    // A list in a list, from the inside out: each level is a Value that holds a ListValue that holds the level below.
    let value: Buffer = Buffer.alloc(0);
    for (let level = 0; level < 20_000; level++) {
      const list = field(0x0a, value);
      value = field(0x32, list);
    }
    const entry = Buffer.concat([field(0x0a, Buffer.from('k')), field(0x12, value)]);
    const request = field(0x42, field(0x1a, field(0x0a, entry)));
    expect(() => callerInput.requestDeserialize(request)).toThrow(/nesting depth/);
  });
});

describe('loadContract', () => {
  it('refuses a profile whose services proto/ does not define, with the name it looked for', () => {
    const wrongMedia = { ...profile, proto: { ...profile.proto, mediaService: 'Nobody' } };
    expect(() => loadContract(wrongMedia)).toThrow(expect.objectContaining({ code: 'profile_invalid' }) as Error);
    expect(() => loadContract(wrongMedia)).toThrow(`${profile.proto.mediaPackage}.Nobody`);
    const message = { ...profile, proto: { ...profile.proto, mediaService: 'Prompt' } };
    expect(() => loadContract(message)).toThrow(expect.objectContaining({ code: 'profile_invalid' }) as Error);
    const wrongHealth = { ...profile, proto: { ...profile.proto, healthPackage: 'a.b.v1' } };
    expect(() => loadContract(wrongHealth)).toThrow('a.b.v1.Health');
  });
});

function field(tag: number, body: Buffer): Buffer {
  const length: number[] = [];
  for (let rest = body.length; ; rest >>>= 7) {
    length.push(rest > 127 ? (rest & 127) | 128 : rest);
    if (rest <= 127) break;
  }
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}
