import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/base/json.ts';
import { loadContract } from '../../../src/contract/grpc.ts';
import { MAX_STRUCT_DEPTH } from '../../../src/contract/limits.ts';
import { loadProfile } from '../../../src/contract/profile.ts';
import { jsonFromStruct, structFromJson } from '../../../src/contract/struct.ts';

const { ProcessCallerInput: callerInput } = loadContract(loadProfile('fake')).media.definition;

/** Over the wire as parameters of an event. */
function sent(json: JsonObject): JsonObject {
  const bytes = callerInput.requestSerialize({ event_input: { parameters: structFromJson(json) } });
  return jsonFromStruct(callerInput.requestDeserialize(bytes).event_input?.parameters);
}

function nested(levels: number, wrap: (inner: JsonValue) => JsonValue): JsonObject {
  let value: JsonValue = 'end';
  for (let level = 2; level <= levels; level++) value = wrap(value);
  return { value };
}

describe('free data', () => {
  it('G-24 comes through the wire as the JSON it was', () => {
    const json = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' }) as fc.Arbitrary<JsonValue>);
    fc.assert(
      fc.property(json, (value) => {
        expect(sent(value)).toEqual({ ...value });
      }),
      { numRuns: 300 },
    );
  });

  it('keeps every kind of value apart', () => {
    const json = { zero: 0, empty: '', no: false, nothing: null, list: [], object: {}, mixed: [null, 0, '', false, [], {}] };
    expect(sent(json)).toEqual(json);
  });

  it('keeps a key named __proto__ a key', () => {
    const json = JSON.parse('{"__proto__": {"polluted": true}}') as JsonObject;
    expect(Object.entries(sent(json))).toEqual([['__proto__', { polluted: true }]]);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('reads an absent Struct and a Struct without fields as empty', () => {
    expect(jsonFromStruct(undefined)).toEqual({});
    expect(jsonFromStruct({})).toEqual({});
    expect(jsonFromStruct({ fields: { list: { listValue: {} }, object: { structValue: {} } } })).toEqual({ list: [], object: {} });
  });

  it('reads as null what JSON cannot say', () => {
    const fields = { none: {}, infinite: { numberValue: -Infinity }, strange: { numberValue: Number.NaN } };
    expect(jsonFromStruct({ fields })).toEqual({ none: null, infinite: null, strange: null });
  });

  it.each([
    ['objects', (inner: JsonValue): JsonValue => ({ inner })],
    ['lists', (inner: JsonValue): JsonValue => [inner]],
  ])('takes %s down to the depth limit and refuses the next level in both directions', (_name, wrap) => {
    const deepest = nested(MAX_STRUCT_DEPTH, wrap);
    expect(sent(deepest)).toEqual(deepest);
    const deeper = nested(MAX_STRUCT_DEPTH + 1, wrap);
    const refusal = expect.objectContaining({ code: 'bad_message' }) as Error;
    expect(() => structFromJson(deeper)).toThrow(refusal);
    let struct = structFromJson({ value: 'end' });
    for (let level = 1; level <= MAX_STRUCT_DEPTH; level++) struct = { fields: { inner: { structValue: struct } } };
    expect(() => jsonFromStruct(struct)).toThrow(refusal);
  });
});
