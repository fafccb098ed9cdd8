// How long the ear waits for the caller to go on: what the operator set, what the bot and its reply want, and what somebody
// needs who reads out digits.
import type { Bot } from '../../bot/bot.ts';
import type { Listen } from '../../dialog/reply.ts';
import { digitPatience, type SpeechPatience } from '../../speech/patience.ts';
import { wantsDigits } from '../answer/caller-event.ts';
import type { EngineSettings } from '../settings.ts';

/** What the next input is listened for with; what is left out is the operator's setting. Times are ms. */
export function listeningPatience(listen: Listen, bot: Bot, { digitSilenceMs, patience }: EngineSettings): Partial<SpeechPatience> {
  const usual = { ...patience, ...bot.speech };
  // Somebody who reads out digits looks at the next group in between.
  const isReading = wantsDigits({ listen }) && (listen.digits ?? 0) > 1;
  return { ...bot.speech, ...(isReading ? digitPatience(digitSilenceMs, usual) : {}), ...listen.speech };
}
