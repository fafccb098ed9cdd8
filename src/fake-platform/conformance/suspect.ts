// Whom a conformance run looks at: where the server is, who calls it, and what is known of its bot. Data only.
import type { Clock } from '../../base/clock.ts';
import type { PlatformProfile } from '../../contract/profile.ts';
import type { ChannelOptions } from '../grpc-client.ts';
import type { Key } from '../key.ts';
import type { Timing } from './probe-call.ts';
import type { TokenSigner } from './tokens.ts';

/** The server that is looked at, and what is known of its bot. */
export interface Suspect extends ChannelOptions {
  readonly profile: PlatformProfile;
  readonly clock: Clock;
  readonly organizationId: string;
  /** Empty: the server's default agent. */
  readonly agentId: string;
  /** A good token; undefined when none was given. */
  readonly token: string | undefined;
  /** Whether a call without a token was refused; found out before the checks run. */
  readonly wantsToken: boolean;
  readonly signer: TokenSigner | undefined;
  /** What the caller says, µ-law at 8 kHz; undefined when the caller has no voice. */
  readonly speech: Uint8Array | undefined;
  /** Keys that get an ordinary answer. */
  readonly press: readonly Key[];
  /** Keys upon which the bot ends the call, and upon which it hands the caller over; empty when not known. */
  readonly endPress: readonly Key[];
  readonly transferPress: readonly Key[];
  readonly timing: Timing;
}
