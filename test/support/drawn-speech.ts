// Pictures of frames for tests of the endpointer, and what it says to them.
import type { Endpointer } from '../../src/speech/endpointer.ts';

/**
 * Pushes frames drawn as `#` (speech) and `.` (none), or `P` and `o` while a prompt plays, and returns the events without
 * their `speech_`, each with the number of the frame that caused it.
 */
export function run(endpointer: Endpointer, picture: string): string[] {
  return [...picture].flatMap((frame, index) => {
    const event = endpointer.push(frame === '#' || frame === 'P', frame === 'P' || frame === 'o');
    return event === undefined ? [] : [`${event.slice('speech_'.length)} ${String(index)}`];
  });
}
