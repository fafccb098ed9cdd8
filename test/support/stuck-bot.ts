// A bot that never answers, so that a turn stays open for as long as the engine lets it.
import { bot, go, say } from '../../src/bot/index.ts';

/** Welcomes its caller, and then thinks for ever. */
export const stuckBot = bot<null>({
  id: 'stuck',
  name: 'Stuck',
  version: 1,
  session_start: () => go(null, say('Welcome.').listen()),
  otherwise: () => new Promise(() => undefined),
});
