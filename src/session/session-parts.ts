// What a session is made of, and what it starts from.
import type { Bot } from '../bot/bot.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { DeliveryMode } from '../dialog/output.ts';
import type { Listen } from '../dialog/reply.ts';
import type { BotRunner } from './bot-runner.ts';
import type { CreateListener } from './ear.ts';
import type { EngineParts } from './parts.ts';

/** What a session is made of. */
export interface SessionParts extends EngineParts {
  readonly createListener: CreateListener;
  readonly runner: BotRunner;
  /** Called once when a session is over, before the bot has been told. */
  readonly onEnded: (call: CallFacts) => void;
}

/** What a session starts from. */
export interface SessionStartingPoint {
  readonly call: CallFacts;
  readonly bot: Bot;
  readonly mode: DeliveryMode;
  /** Turns of this call that were answered before, here or elsewhere; turn numbers go on from there. */
  readonly turns: number;
  /** What the caller was last asked for. */
  readonly listen: Listen;
  /** The call lives and dies with its wire: no other process can go on with it. */
  readonly isTied?: boolean;
  /** The call was begun in another process, or in another life of this one. */
  readonly isContinued?: boolean;
  /** Its bot has answered the start of the conversation. */
  readonly hasBegun?: boolean;
  /** How often the conversation has begun anew, where several processes share a store; default: 0. */
  readonly restarts?: number;
}
