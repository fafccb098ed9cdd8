// One RPC as the reference keeps it: how far the caller's input has come, and what the bot made of it.
import type { Event } from './program.ts';

/** An input that is whole and wants a reply. */
export type Complete = Exclude<Event, 'dtmf_start' | 'session_end'> | 'speech';

/** What the caller has heard of the last reply. */
export interface HeardPart {
  readonly complete: boolean;
  readonly ms: number;
  /** Its RPC has died, or its newest prompt is still being made: whether there is a rest that was not heard, only the engine knows. */
  readonly mayLackRest?: boolean;
}

/** Nothing of a reply that never came. */
export const UNHEARD: HeardPart = { complete: false, ms: 0 };

/** It owes nothing until its input is complete, then one FINAL (G-13, G-14); a hang-up gets one that says so (G-75). */
export interface Rpc {
  readonly id: number;
  /** Place in the call; 0 while the engine looks for the session. */
  number: number;
  state: 'opening' | 'listening' | 'hearing' | 'keys' | 'owing' | 'done';
  input: Complete | undefined;
  /** What had been heard when the input was complete. */
  heard: HeardPart;
  /** The last reply may have been one that never came, by then. */
  wasUnspoken: boolean;
  /** Voiced frames of the utterance. */
  voiced: number;
  /**
   * What the bot makes of the input; `resumed`: it was no input, the prompts it had cut go on.
   */
  fate: 'none' | 'asked' | 'answered' | 'failed' | 'farewell' | 'resumed';
  /** The bot has made a checkpoint that knows it. */
  hasKept: boolean;
  /** What the bot has said for it, and what of that the caller got. */
  readonly said: string[];
  /** What the bot said before it had decided how to go on. */
  readonly early: Set<string>;
  readonly spoken: string[];
  finals: number;
  /** Whether its speech has become an input before we ended the call, only the engine knows. */
  mayOweNothing: boolean;
  /** Its FINAL said that the farewell is another RPC's. */
  isSuperseded: boolean;
  isHangUp: boolean;
  /** Its session was over when it was taken, and the next one has begun (G-28): nothing is heard on it, and it completes. */
  isLate: boolean;
  /** It begins the conversation, for the first time or anew (G-28). */
  isStart: boolean;
  /** The caller acted over it: nothing more of it is spoken (G-52, G-53). */
  isCut: boolean;
  isUnheardWelcome: boolean;
  /** It has cut prompts that may go on when nothing was said. */
  mayResume: boolean;
  /** The platform does not always read it (G-91). */
  isUnread: boolean;
  /** It ended without a completion: cancelled by the platform, refused or failed. */
  isBroken: boolean;
}

/** An RPC that was just opened. */
export function newRpc(id: number): Rpc {
  return {
    id,
    number: 0,
    state: 'opening',
    input: undefined,
    heard: { complete: true, ms: 0 },
    wasUnspoken: false,
    voiced: 0,
    fate: 'none',
    hasKept: false,
    said: [],
    early: new Set(),
    spoken: [],
    finals: 0,
    mayOweNothing: false,
    isSuperseded: false,
    isHangUp: false,
    isLate: false,
    isStart: false,
    isCut: false,
    isUnheardWelcome: false,
    mayResume: false,
    isUnread: false,
    isBroken: false,
  };
}
