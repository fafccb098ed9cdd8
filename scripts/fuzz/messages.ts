// The messages of a call as they should be, for those who change them: as bytes over gRPC and as texts over WebSocket.
import { systemClock } from '../../src/base/clock.ts';
import { loadContract } from '../../src/contract/grpc.ts';
import type { PlatformProfile } from '../../src/contract/profile.ts';
import { EnvelopeWriter, type SocketInput } from '../../src/fake-platform/lines/socket/to-envelope.ts';
import { requestMaker, type CallIdentity } from '../../src/fake-platform/lines/to-wire.ts';

/** Stands where secrets of callers and operators do: no log may have it. */
export const CANARY = 'CANARY-8c1f';

const START: SocketInput = { kind: 'session_start', name: 'n', parameters: { account: CANARY } };
const AUDIO: SocketInput = { kind: 'audio', audio: new Uint8Array(160).fill(0x7f) };
const REST: readonly SocketInput[] = [
  ...Array.from({ length: 10 }, () => AUDIO),
  { kind: 'dtmf', keys: ['1', '2', '#'] },
  { kind: 'no_input' },
  { kind: 'session_end' },
];

/** Stands for the id of the call; each trial writes one of the same length over it. */
export const CONVERSATION = 'CONVERSATION-ID-OF-THE-CALL';

/** The same in every run, so that what one has kept is good in the next one. */
export const ORGANIZATION = '5e1f7a52-4a0e-4c1b-9a3e-6f0d2c7b8a11';

const IDENTITY: CallIdentity = {
  conversationId: CONVERSATION,
  organizationId: ORGANIZATION,
  agentId: 'tester',
  vendorConfig: CANARY,
  allowPartial: false,
};

/** Messages of one RPC. */
export function messagesOf(profile: PlatformProfile): readonly Buffer[] {
  const { requestSerialize } = loadContract(profile).media.definition.ProcessCallerInput;
  const request = requestMaker(IDENTITY);
  const inputs = [START, { kind: 'audio_format' } as const, ...REST];
  return inputs.map((input) => requestSerialize(request(input)));
}

/** Envelopes of one socket. */
export function envelopesOf(): readonly string[] {
  const writer = new EnvelopeWriter(IDENTITY, systemClock);
  return [START, ...REST].map((input) => writer.request(input));
}
