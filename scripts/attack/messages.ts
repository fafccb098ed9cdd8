// The messages of a call as they should be, for those who change them: as bytes over gRPC and as texts over WebSocket.
import { systemClock } from '../../src/base/clock.ts';
import { loadContract } from '../../src/contract/grpc.ts';
import type { PlatformProfile } from '../../src/contract/profile.ts';
import { EnvelopeWriter, type SocketInput } from '../../src/fake-platform/lines/socket/to-envelope.ts';
import { requestMaker, type CallIdentity } from '../../src/fake-platform/lines/to-wire.ts';

const START: SocketInput = { kind: 'session_start', name: 'n', parameters: {} };
const AUDIO: SocketInput = { kind: 'audio', audio: new Uint8Array(160).fill(0x7f) };
const REST: readonly SocketInput[] = [
  ...Array.from({ length: 10 }, () => AUDIO),
  { kind: 'dtmf', keys: ['1', '2', '#'] },
  { kind: 'no_input' },
  { kind: 'session_end' },
];

function identity(conversationId: string, organizationId: string): CallIdentity {
  return { conversationId, organizationId, agentId: 'tester', vendorConfig: 'v', allowPartial: false };
}

/** Messages of one RPC, Base64. */
export function messagesOf(profile: PlatformProfile, organizationId: string): readonly string[] {
  const { requestSerialize } = loadContract(profile).media.definition.ProcessCallerInput;
  const request = requestMaker(identity('attack', organizationId));
  const inputs = [START, { kind: 'audio_format' } as const, ...REST];
  return inputs.map((input) => requestSerialize(request(input)).toString('base64'));
}

/** Envelopes of one socket; CONVERSATION stands for the id of the call. */
export function envelopesOf(organizationId: string): readonly string[] {
  const writer = new EnvelopeWriter(identity('CONVERSATION', organizationId), systemClock);
  return [START, ...REST].map((input) => writer.request(input));
}
