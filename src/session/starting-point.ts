// Where a call goes on that this process does not hold any more: its record, with the bot as it is here.
import type { Bot } from '../bot/bot.ts';
import type { SessionRecord } from './record.ts';
import type { SessionStartingPoint } from './session-parts.ts';

/** The starting point of a recorded call. What its record needs for another version of the bot is seen to when it is claimed. */
export function startingPoint(record: SessionRecord, bot: Bot): SessionStartingPoint {
  const { call, mode, turns, listen, started, restarts = 0 } = record;
  // As at the start of a call: bots see it.
  const point = { call: Object.freeze({ ...call }), bot, mode, turns, listen, restarts };
  return { ...point, hasBegun: started, isContinued: true };
}

/** Whether the conversation has begun anew and nobody has answered its start: its start makes a new session (G-28). */
export function isFresh({ started, restarts = 0 }: SessionRecord): boolean {
  return restarts > 0 && !started;
}
