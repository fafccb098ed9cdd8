// Keeps the events of a replayed call, without sounds, and withholds what a recording would withhold.
import type { Clock } from '../../base/clock.ts';
import type { CallRecorder, RecordedCall, RecordedTurn } from '../../session/ports.ts';
import type { RecordedEvent } from '../recording.ts';
import { keptOutput, WITHHELD } from '../redaction.ts';

/** @param nameOf - the id in the recording of a turn of the replay. */
export function takenEvents(events: RecordedEvent[], call: RecordedCall, clock: Clock, nameOf: (id: string) => string): CallRecorder {
  const at = ({ id }: Pick<RecordedTurn, 'id'>) => ({ atMs: clock.monotonicMs(), turn: nameOf(id) });
  const ignore = (): void => undefined;
  return {
    turnOpened: (turn) => events.push({ kind: 'turn_opened', ...at(turn), opensWith: 'nothing' }),
    input: (turn, input) => {
      if (input.kind !== 'audio') events.push({ kind: 'input', ...at(turn), input });
    },
    halfClosed: ignore,
    aborted: ignore,
    heard: ignore,
    recognized: (turn, { text, tookMs }) => events.push({ kind: 'words', ...at(turn), tookMs, ...(text !== undefined && { text }) }),
    output: (turn, output) => events.push({ kind: 'output', ...at(turn), output: keptOutput(output, call.isSensitive, () => undefined) }),
    answered: (turn, state) => events.push({ kind: 'state', ...at(turn), state: call.isSensitive ? WITHHELD : state }),
    serviceAnswered: (turn, answer) => events.push({ kind: 'service', ...at(turn), ...answer }),
    turnClosed: (turn, end) => events.push({ kind: 'turn_closed', ...at(turn), end }),
    ended: (end) => events.push({ kind: 'ended', atMs: clock.monotonicMs(), end }),
  };
}
