// Which inputs of a caller are sensitive (G-83): those that were asked for as such, and what is still said or pressed of one when
// the next question is decided on and nobody has heard it. Knows no store and no transcript.
import type { ReplyingEvent } from '../../bot/bot.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/** @param event - undefined when not even that was known in time. */
export function isSensitiveInput(
  { listen, lastWasSensitive }: Pick<Snapshot, 'listen' | 'lastWasSensitive'>,
  event: ReplyingEvent | undefined,
): boolean {
  return listen.sensitive === true || (lastWasSensitive === true && mayBeItsRest(event));
}

/** A caller who has not heard a word of the last reply still answers the question before it. */
function mayBeItsRest(event: ReplyingEvent | undefined): boolean {
  if (event === undefined) return true;
  return event.type !== 'session_start' && event.heard.ms === 0 && !event.heard.complete;
}
