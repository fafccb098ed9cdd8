// Bots that keep the engine waiting: one that never answers, and one that is long about the end of a call.
import type { Bot } from '../../src/bot/bot.ts';
import { bot, go, say } from '../../src/bot/index.ts';
import { gateOf } from './homes.ts';

/** Welcomes its caller, and then thinks for ever. */
export const stuckBot = bot<null>({
  id: 'stuck',
  name: 'Stuck',
  version: 1,
  session_start: () => go(null, say('Welcome.').listen()),
  otherwise: () => new Promise(() => undefined),
});

/** A bot that is told of the end of a call until the test lets it go: a start behind that end has to wait. */
export function slowToEnd(): { readonly slow: Bot; readonly open: () => void } {
  const { opened, open } = gateOf();
  const slow = bot<null>({
    id: 'slow',
    name: 'Slow',
    version: 1,
    session_start: () => go(null, say('Welcome.').listen()),
    otherwise: () => go(null, say('What?').listen()),
    session_end: () => opened.then(() => undefined),
  });
  return { slow, open };
}
