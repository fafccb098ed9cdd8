// Converts the platform's inputs to request messages of the wire. Of the caller's files, only this one writes wire names.
import type { JsonObject } from '../../base/json.ts';
import { DTMF_KEY, EVENT_INPUT, VOICE_ENCODING, type MediaRequest } from '../../contract/grpc.ts';
import { structFromJson } from '../../contract/struct.ts';
import { LINE_RATE_HZ } from '../../speech/audio-format.ts';
import type { PlatformInput } from './line.ts';

/** Carried by every message of a call. */
export interface CallIdentity {
  readonly conversationId: string;
  readonly organizationId: string;
  /** Empty: the server uses its default agent (G-07). */
  readonly agentId: string;
  /** Opaque text of the administrator's configuration of the agent; empty: none. */
  readonly vendorConfig: string;
  /** Whether the platform accepts PARTIAL answers (G-45). */
  readonly allowPartial: boolean;
}

/** The fields that every message of a call carries, on both wires. Empty fields are omitted, as in proto3. */
export function identityFields({ conversationId, organizationId, agentId, vendorConfig, allowPartial }: CallIdentity) {
  return {
    ...{ conversation_id: conversationId, customer_org_id: organizationId },
    ...(agentId !== '' && { virtual_agent_id: agentId }),
    ...(allowPartial && { allow_partial_responses: true }),
    ...(vendorConfig !== '' && { vendor_specific_config: vendorConfig }),
  };
}

export function requestMaker(identity: CallIdentity): (input: PlatformInput) => MediaRequest {
  const common: MediaRequest = identityFields(identity);
  return (input) => ({ ...common, ...inputToWire(input) });
}

function inputToWire(input: PlatformInput): Pick<MediaRequest, 'audio_input' | 'dtmf_input' | 'event_input'> {
  switch (input.kind) {
    case 'session_start':
      return { event_input: flowEvent(EVENT_INPUT.SESSION_START, input) };
    case 'custom_event':
      return { event_input: flowEvent(EVENT_INPUT.CUSTOM_EVENT, input) };
    case 'audio_format':
      return { audio_input: { encoding: VOICE_ENCODING.MULAW_FORMAT, sample_rate_hertz: LINE_RATE_HZ } };
    case 'audio':
      return { audio_input: { caller_audio: input.audio } };
    case 'dtmf_start':
      return { event_input: { event_type: EVENT_INPUT.START_OF_DTMF } };
    case 'dtmf':
      // Each key is mapped by name: the wire's 0 is not the key 0, which has the number 10 (G-66).
      return { dtmf_input: { dtmf_events: input.keys.map((key) => DTMF_KEY[key]) } };
    case 'no_input':
      return { event_input: { event_type: EVENT_INPUT.NO_INPUT } };
    case 'session_end':
      return { event_input: { event_type: EVENT_INPUT.SESSION_END } };
  }
}

/** An event with the data of the flow (G-24, G-72). */
function flowEvent(
  type: number,
  { name, parameters }: { readonly name: string; readonly parameters: JsonObject },
): NonNullable<MediaRequest['event_input']> {
  const hasParameters = Object.keys(parameters).length > 0;
  return {
    event_type: type,
    ...(name === '' ? {} : { name }),
    ...(hasParameters ? { parameters: structFromJson(parameters) } : {}),
  };
}
