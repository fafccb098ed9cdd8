// The server under test: its address, its caller, and what is known about its bot. Data only.
import type { Clock } from '../../base/clock.ts';
import type { PlatformProfile } from '../../contract/profile.ts';
import { MULAW_BYTES_PER_MS } from '../../speech/audio-format.ts';
import type { DialOptions } from '../lines/dial.ts';
import type { Target } from '../lines/target.ts';
import type { Key } from '../caller/key.ts';
import type { Timing } from './call.ts';
import type { TokenSigner } from './tokens.ts';

/** An organization that does not exist. */
export const FOREIGN_ORGANIZATION = '00000000-0000-4000-8000-00000000c0de';

/** The server under test, and what the user knows about its bot. */
export interface GivenSuspect extends DialOptions {
  readonly target: Target;
  readonly profile: PlatformProfile;
  readonly clock: Clock;
  readonly organizationId: string;
  /** Empty: the server's default agent. */
  readonly agentId: string;
  /** A good token; undefined when none was given. */
  readonly token: string | undefined;
  /** Whether the good token is sent after `Bearer` (G-03). Default false. */
  readonly isBearer?: boolean;
  readonly signer: TokenSigner | undefined;
  /** What the caller says, µ-law at 8 kHz; undefined when the caller has no voice. */
  readonly speech: Uint8Array | undefined;
  /** Keys that get an ordinary answer. */
  readonly press: readonly Key[];
  /** Keys on which the bot ends the call, and keys on which it transfers the call; empty when not known. */
  readonly endPress: readonly Key[];
  readonly transferPress: readonly Key[];
  readonly timing: Timing;
}

/** Results of the reachability test that checks need. */
export interface Manners {
  /** A call without a token was refused. */
  readonly wantsToken: boolean;
  /** The list of agents was refused without a token. */
  readonly listWantsToken: boolean;
  /** A call can be placed, with the good token if one was given. */
  readonly canCall: boolean;
}

/** The result of the reachability test. */
export interface Reached extends Manners {
  /** Why no call can be placed: a sentence that begins with a small letter; empty when one can. */
  readonly whyNot: string;
}

/** The server under test, and all that is known about it. */
export interface Suspect extends GivenSuspect, Manners {}

/** How long the caller speaks in one turn, ms of real time; 0 when the caller has no voice. */
export function speakingMs({ speech, timing }: Pick<GivenSuspect, 'speech' | 'timing'>): number {
  return (speech?.length ?? 0) / MULAW_BYTES_PER_MS / timing.pace;
}
