// The numbers of the wire as a separate table. Every other test uses proto/ on both sides and would not notice a
// wrong number there.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  DTMF_KEY,
  dtmfCharacter,
  EVENT_INPUT,
  EVENT_OUTPUT,
  INPUT_MODE,
  loadContract,
  RESPONSE_TYPE,
  SERVING_STATUS,
  VOICE_ENCODING,
} from '../../../src/contract/grpc.ts';
import { loadProfile } from '../../../src/contract/profile.ts';

const MEDIA_FIELDS = {
  VoiceVARequest: [
    '1 conversation_id string',
    '2 customer_org_id string',
    '3 virtual_agent_id string',
    '4 allow_partial_responses bool',
    '5 vendor_specific_config string',
    '6 audio_input VoiceInput',
    '7 dtmf_input DTMFInputs',
    '8 event_input EventInput',
    '9 additional_info map<string, string>',
  ],
  VoiceInput: [
    '1 caller_audio bytes',
    '2 encoding VoiceEncoding',
    '3 sample_rate_hertz int32',
    '4 audio_timestamp google.protobuf.Timestamp',
    '5 language_code string',
    '6 is_single_utterance bool',
  ],
  VoiceVAResponse: [
    '1 prompts repeated Prompt',
    '2 output_events repeated OutputEvent',
    '3 input_sensitive bool',
    '4 input_mode VoiceVAInputMode',
    '5 input_handling_config InputHandlingConfig',
    '6 session_transcript TextContent',
    '7 session_summary TextContent',
    '8 response_type ResponseType',
    '9 disable_prompt_cancellation bool',
  ],
  Prompt: ['1 text string', '2 audio_uri string', '3 audio_content bytes', '4 is_barge_in_enabled bool'],
  TextContent: ['1 text string', '2 ssml string', '3 language_code string'],
  InputSpeechTimers: [
    '1 max_speech_timeout_msec int32',
    '2 complete_timeout_msec int32',
    '3 incomplete_timeout_msec int32',
    '4 no_input_timeout_msec int32',
  ],
  InputHandlingConfig: ['1 dtmf_config DTMFInputConfig', '2 speech_timers InputSpeechTimers'],
  DTMFInputConfig: ['1 inter_digit_timeout_msec int32', '2 termchar DTMFDigits', '3 dtmf_input_length int32'],
  DTMFInputs: ['1 dtmf_events repeated DTMFDigits'],
  ListVARequest: ['1 customer_org_id string', '2 is_default_virtual_agent_enabled bool'],
  VirtualAgentInfo: ['1 virtual_agent_id string', '2 virtual_agent_name string', '3 is_default bool', '4 attributes map<string, string>'],
  ListVAResponse: ['1 virtual_agents repeated VirtualAgentInfo'],
  OutputEvent: ['1 event_type EventType', '2 name string', '3 metadata google.protobuf.Struct'],
  EventInput: ['1 event_type EventType', '2 name string', '3 parameters google.protobuf.Struct'],
};

const HEALTH_FIELDS = {
  HealthCheckRequest: ['1 service string'],
  HealthCheckResponse: ['1 status ServingStatus'],
};

const NESTED_ENUMS = {
  'VoiceInput.VoiceEncoding': { UNSPECIFIED_FORMAT: 0, LINEAR16_FORMAT: 1, MULAW_FORMAT: 2, ALAW_FORMAT: 3 },
  'VoiceVAResponse.ResponseType': { FINAL: 0, PARTIAL: 1, CHUNK: 2 },
  'OutputEvent.EventType': {
    UNSPECIFIED_EVENT: 0,
    SESSION_END: 1,
    TRANSFER_TO_AGENT: 2,
    CUSTOM_EVENT: 3,
    START_OF_INPUT: 4,
    END_OF_INPUT: 5,
    NO_MATCH: 6,
    NO_INPUT: 7,
  },
  'EventInput.EventType': {
    UNSPECIFIED_INPUT: 0,
    SESSION_START: 1,
    SESSION_END: 2,
    NO_INPUT: 3,
    START_OF_DTMF: 4,
    CUSTOM_EVENT: 5,
  },
};
const INPUT_MODES = { INPUT_VOICE_MODE_UNSPECIFIED: 0, INPUT_VOICE: 1, INPUT_EVENT_DTMF: 2, INPUT_VOICE_DTMF: 3 };
const SERVING = { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2 };
const DIGITS = {
  DTMF_EVENT_UNSPECIFIED: 0,
  DTMF_DIGIT_ONE: 1,
  DTMF_DIGIT_TWO: 2,
  DTMF_DIGIT_THREE: 3,
  DTMF_DIGIT_FOUR: 4,
  DTMF_DIGIT_FIVE: 5,
  DTMF_DIGIT_SIX: 6,
  DTMF_DIGIT_SEVEN: 7,
  DTMF_DIGIT_EIGHT: 8,
  DTMF_DIGIT_NINE: 9,
  DTMF_DIGIT_ZERO: 10,
  DTMF_DIGIT_A: 11,
  DTMF_DIGIT_B: 12,
  DTMF_DIGIT_C: 13,
  DTMF_DIGIT_D: 14,
  DTMF_DIGIT_STAR: 15,
  DTMF_DIGIT_POUND: 16,
};

// The part of protobuf's DescriptorProto that is compared.
const enumDescriptor = z.object({ name: z.string(), value: z.array(z.object({ name: z.string(), number: z.number() })) });
const messageDescriptor = z.object({
  field: z.array(z.object({ name: z.string(), number: z.number(), label: z.string(), type: z.string(), typeName: z.string() })),
  nestedType: z.array(z.object({ name: z.string(), options: z.object({ mapEntry: z.boolean() }).nullish() })),
  enumType: z.array(enumDescriptor),
});

const profile = loadProfile('fake');
const contract = loadContract(profile);

function descriptorOf(name: string): unknown {
  const definition = contract.packageDefinition[name];
  return definition?.type;
}

function fieldsOf(name: string): string[] {
  const message = messageDescriptor.parse(descriptorOf(name));
  const entries = new Set(message.nestedType.filter(({ options }) => options?.mapEntry).map((entry) => entry.name));
  return message.field.map((field) => {
    const type = field.typeName === '' ? field.type.replace('TYPE_', '').toLowerCase() : field.typeName;
    // The only maps of the contract are from string to string; the foreign codec test compares their entries.
    if (entries.has(type)) return `${String(field.number)} ${field.name} map<string, string>`;
    return `${String(field.number)} ${field.name} ${field.label === 'LABEL_REPEATED' ? 'repeated ' : ''}${type}`;
  });
}

function numbersOf(descriptor: z.infer<typeof enumDescriptor> | undefined): Record<string, number> {
  return Object.fromEntries((descriptor?.value ?? []).map(({ name, number }) => [name, number]));
}

describe('the numbers of the wire', () => {
  it.each(Object.entries(MEDIA_FIELDS))('%s has exactly the fields of the contract', (message, fields) => {
    expect(fieldsOf(`${profile.proto.mediaPackage}.${message}`)).toEqual(fields);
  });

  it.each(Object.entries(HEALTH_FIELDS))('%s has exactly the fields of the contract', (message, fields) => {
    expect(fieldsOf(`${profile.proto.healthPackage}.${message}`)).toEqual(fields);
  });

  it('has no message beside those of the contract', () => {
    const names = Object.entries(contract.packageDefinition)
      .filter(([name, definition]) => !name.startsWith('google.') && definition.format === 'Protocol Buffer 3 DescriptorProto')
      .map(([name]) => name.slice(name.lastIndexOf('.') + 1));
    expect(names.sort()).toEqual([...Object.keys(MEDIA_FIELDS), ...Object.keys(HEALTH_FIELDS)].sort());
  });

  it.each(Object.entries(NESTED_ENUMS))('%s has exactly the numbers of the contract', (name, numbers) => {
    const [message = '', nested] = name.split('.');
    const { enumType } = messageDescriptor.parse(descriptorOf(`${profile.proto.mediaPackage}.${message}`));
    expect(enumType.map((descriptor) => descriptor.name)).toEqual([nested]);
    expect(numbersOf(enumType[0])).toEqual(numbers);
  });

  it('VoiceVAInputMode, DTMFDigits and ServingStatus have exactly the numbers of the contract', () => {
    const top = (name: string): Record<string, number> =>
      numbersOf(enumDescriptor.parse(descriptorOf(`${profile.proto.mediaPackage}.${name}`)));
    expect(top('VoiceVAInputMode')).toEqual(INPUT_MODES);
    expect(top('DTMFDigits')).toEqual(DIGITS);
    const response = messageDescriptor.parse(descriptorOf(`${profile.proto.healthPackage}.HealthCheckResponse`));
    expect(numbersOf(response.enumType[0])).toEqual(SERVING);
  });

  it('exports the same numbers under neutral names', () => {
    expect(EVENT_INPUT).toEqual(NESTED_ENUMS['EventInput.EventType']);
    expect(EVENT_OUTPUT).toEqual(NESTED_ENUMS['OutputEvent.EventType']);
    expect(RESPONSE_TYPE).toEqual(NESTED_ENUMS['VoiceVAResponse.ResponseType']);
    expect(VOICE_ENCODING).toEqual(NESTED_ENUMS['VoiceInput.VoiceEncoding']);
    expect(INPUT_MODE).toEqual(INPUT_MODES);
    expect(SERVING_STATUS).toEqual(SERVING);
  });

  it('has the traps of the contract: the same word with another number', () => {
    expect([EVENT_OUTPUT.SESSION_END, EVENT_INPUT.SESSION_END]).toEqual([1, 2]);
    expect([EVENT_OUTPUT.CUSTOM_EVENT, EVENT_INPUT.CUSTOM_EVENT]).toEqual([3, 5]);
    expect([EVENT_OUTPUT.NO_INPUT, EVENT_INPUT.NO_INPUT]).toEqual([7, 3]);
    expect(RESPONSE_TYPE.FINAL).toBe(0);
  });

  it('has the two media methods, one of them streaming both ways (G-01)', () => {
    const { definition, serviceName, processCallerInputPath, listVirtualAgentsPath } = contract.media;
    expect(serviceName).toBe(`${profile.proto.mediaPackage}.VoiceVirtualAgent`);
    expect(processCallerInputPath).toBe(`/${serviceName}/ProcessCallerInput`);
    expect(listVirtualAgentsPath).toBe(`/${serviceName}/ListVirtualAgents`);
    expect(Object.keys(definition)).toEqual(['ProcessCallerInput', 'ListVirtualAgents']);
    expect(definition.ProcessCallerInput).toMatchObject({ requestStream: true, responseStream: true });
    expect(definition.ListVirtualAgents).toMatchObject({ requestStream: false, responseStream: false });
  });

  it("has the platform's health service with Check and a streaming Watch", () => {
    const { definition, serviceName } = contract.health;
    expect(serviceName).toBe(`${profile.proto.healthPackage}.Health`);
    expect(definition.Check).toMatchObject({ path: `/${serviceName}/Check`, requestStream: false, responseStream: false });
    expect(definition.Watch).toMatchObject({ path: `/${serviceName}/Watch`, requestStream: false, responseStream: true });
  });
});

describe('keys of a phone', () => {
  const table: readonly (readonly [keyof typeof DTMF_KEY, number])[] = [
    ['0', 10],
    ['1', 1],
    ['2', 2],
    ['3', 3],
    ['4', 4],
    ['5', 5],
    ['6', 6],
    ['7', 7],
    ['8', 8],
    ['9', 9],
    ['A', 11],
    ['B', 12],
    ['C', 13],
    ['D', 14],
    ['*', 15],
    ['#', 16],
  ];

  it.each(table)('G-66 key %s is number %i in both directions', (key, number) => {
    expect(DTMF_KEY[key]).toBe(number);
    expect(dtmfCharacter(number)).toBe(key);
  });

  it('G-66 knows these sixteen keys and no others', () => {
    expect(Object.keys(DTMF_KEY)).toHaveLength(table.length);
    for (const number of [0, -1, 17, 48, 1.5, Number.NaN]) expect(dtmfCharacter(number)).toBeUndefined();
  });
});
