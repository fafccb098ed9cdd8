// The messages of a call as they should be, for those who change them: as bytes over gRPC and as texts over WebSocket.
import { loadContract } from '../../src/contract/grpc.ts';
import type { PlatformProfile } from '../../src/contract/profile.ts';

const SOUND = Buffer.alloc(160, 0x7f);
const AUDIO_FRAMES = 10;

/** Messages of one RPC, Base64. */
export function messagesOf(profile: PlatformProfile, organizationId: string): readonly string[] {
  const { ProcessCallerInput } = loadContract(profile).media.definition;
  const ids = { conversation_id: 'attack', customer_org_id: organizationId, virtual_agent_id: '' };
  const event = (event_type: number): object => ({ event_input: { event_type, name: 'n', parameters: {} } });
  const audio = { audio_input: { caller_audio: SOUND, encoding: 2, sample_rate_hertz: 8000 } };
  const inputs = [
    event(1),
    ...Array.from({ length: AUDIO_FRAMES }, () => audio),
    { dtmf_input: { dtmf_events: [2, 3, 12] } },
    event(3),
    event(2),
  ];
  return inputs.map((input) => ProcessCallerInput.requestSerialize({ ...ids, ...input }).toString('base64'));
}

/** Envelopes of one socket; CONVERSATION stands for the id of the call. */
export function envelopesOf(organizationId: string): readonly string[] {
  const event = (event_type: string): object => ({ event_input: { event_type, name: 'n', parameters: {} } });
  const audio = { audio_input: { encoding: 'MULAW_FORMAT', sample_rate_hertz: 8000, caller_audio_b64: SOUND.toString('base64') } };
  const inputs = [
    event('SESSION_START'),
    ...Array.from({ length: AUDIO_FRAMES }, () => audio),
    { dtmf_input: { dtmf_events: ['DTMF_DIGIT_ONE'] } },
    event('NO_INPUT'),
    event('SESSION_END'),
  ];
  return inputs.map((voice_va_input_type, index) =>
    JSON.stringify({
      type: 'VOICE_VA_REQUEST',
      ...{ seq: index + 1, ts: '2026-01-01T00:00:00Z', conversation_id: 'CONVERSATION' },
      payload: {
        conversation_id: 'CONVERSATION',
        customer_org_id: organizationId,
        virtual_agent_id: '',
        vendor_specific_config: '',
        voice_va_input_type,
      },
    }),
  );
}
