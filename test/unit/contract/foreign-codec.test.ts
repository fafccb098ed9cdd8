// Every message of the wire, at random, through a second implementation and back: Debian's Python protobuf, fed with
// protoc's reading of proto/.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FILE_DESCRIPTORS } from '../../../src/contract/gen/descriptors.ts';
import { loadContract } from '../../../src/contract/grpc.ts';
import { loadProfile } from '../../../src/contract/profile.ts';
import { requireDebian } from '../../support/debian.ts';
import { messagesOf, said, type AnyMessage } from '../../support/foreign-messages.ts';
import { PYTHON_CODEC_NEEDS, PythonCodec, type ForeignSchema } from '../../support/python-codec.ts';

const profile = loadProfile('fake');
const contract = loadContract(profile);
const media = (name: string): string => `${profile.proto.mediaPackage}.${name}`;
const health = (name: string): string => `${profile.proto.healthPackage}.${name}`;

const MESSAGES = [
  ...['VoiceVARequest', 'VoiceInput', 'VoiceVAResponse', 'Prompt', 'TextContent', 'InputSpeechTimers', 'InputHandlingConfig'].map(media),
  ...['DTMFInputConfig', 'DTMFInputs', 'ListVARequest', 'VirtualAgentInfo', 'ListVAResponse', 'OutputEvent', 'EventInput'].map(media),
  ...['HealthCheckRequest', 'HealthCheckResponse'].map(health),
  ...['Struct', 'Value', 'ListValue', 'Timestamp'].map((name) => `google.protobuf.${name}`),
];

interface Codec {
  readonly encode: (message: AnyMessage) => Buffer;
  readonly decode: (bytes: Buffer) => object;
}

/** The functions that server and client really use where there are any, else those of the loader for the message. */
function codecOf(type: string): Codec {
  const { ProcessCallerInput, ListVirtualAgents } = contract.media.definition;
  const { Check } = contract.health.definition;
  switch (type) {
    case media('VoiceVARequest'):
      return { encode: ProcessCallerInput.requestSerialize, decode: ProcessCallerInput.requestDeserialize };
    case media('VoiceVAResponse'):
      return { encode: ProcessCallerInput.responseSerialize, decode: ProcessCallerInput.responseDeserialize };
    case media('ListVARequest'):
      return { encode: ListVirtualAgents.requestSerialize, decode: ListVirtualAgents.requestDeserialize };
    case media('ListVAResponse'):
      return { encode: ListVirtualAgents.responseSerialize, decode: ListVirtualAgents.responseDeserialize };
    case health('HealthCheckRequest'):
      return { encode: Check.requestSerialize, decode: Check.requestDeserialize };
    case health('HealthCheckResponse'):
      return { encode: Check.responseSerialize, decode: Check.responseDeserialize };
    default: {
      const definition = contract.packageDefinition[type];
      if (definition?.format !== 'Protocol Buffer 3 DescriptorProto') throw new Error(`${type} is no message`);
      return { encode: definition.serialize, decode: definition.deserialize };
    }
  }
}

describe('the wire against a foreign protobuf implementation', () => {
  const available = requireDebian(PYTHON_CODEC_NEEDS);
  let python: PythonCodec;
  let schema: ForeignSchema;

  beforeAll(async () => {
    if (!available) return;
    python = new PythonCodec();
    schema = await python.schema();
  });
  afterAll(async () => {
    if (available) await python.close();
  });

  /** Batches, because one question to the child costs as much as a hundred messages. */
  const forBatches = (type: string, check: (batch: readonly AnyMessage[], encoded: readonly Buffer[]) => Promise<void>): Promise<void> =>
    fc.assert(
      fc.asyncProperty(fc.array(messagesOf(schema, type), { minLength: 1, maxLength: 40, size: 'max' }), (batch) =>
        check(batch, batch.map(codecOf(type).encode)),
      ),
      { numRuns: 8 },
    );

  it('has every message of proto/ in this test', () => {
    expect([...MESSAGES].sort()).toEqual(Object.keys(schema.messages).sort());
  });

  it.each(MESSAGES)('carries any %s to Python and back unchanged', async (type) => {
    await forBatches(type, async (batch, encoded) => {
      const replies = await python.roundTrip(type, encoded);
      expect(replies).toHaveLength(batch.length);
      batch.forEach((message, index) => {
        const expected = said(schema, type, message);
        expect(replies[index]?.plain).toEqual(expected);
        expect(said(schema, type, codecOf(type).decode(replies[index]?.bytes ?? Buffer.alloc(0)))).toEqual(expected);
      });
    });
  });

  it.each(MESSAGES.filter((type) => !type.startsWith('google.')))(
    'G-90 reads any %s of a later platform as if its new fields were not there',
    async (type) => {
      await forBatches(type, async (batch, encoded) => {
        const later = await python.later(type, encoded);
        batch.forEach((message, index) => {
          const bytes = later[index] ?? Buffer.alloc(0);
          expect(bytes.length).toBeGreaterThan(encoded[index]?.length ?? 0);
          expect(said(schema, type, codecOf(type).decode(bytes))).toEqual(said(schema, type, message));
        });
      });
    },
  );

  it('publishes descriptors over reflection that say the same as proto/', async () => {
    expect(await python.reflected(FILE_DESCRIPTORS)).toEqual(schema);
  });
});
