// Where a call goes on that this process does not hold any more: its record, with the bot as it is here.
import type { Bot } from '../bot/bot.ts';
import type { SessionRecord } from './record.ts';
import type { SessionStartingPoint } from './session-parts.ts';

/** The starting point of a recorded call. What its record needs for another version of the bot is seen to when it is claimed. */
export function startingPoint({ call, mode, turns, listen }: SessionRecord, bot: Bot): SessionStartingPoint {
  // As at the start of a call: bots see it.
  return { call: Object.freeze({ ...call }), bot, mode, turns, listen, isContinued: true };
}
