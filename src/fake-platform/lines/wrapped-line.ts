// Lines, turns and listeners that do what others do except for a few members. The one place that lists all members: one that
// is new is passed on by every wrapper, and does not compile before it stands here. Changes nothing itself.
import type { Line, LineTurn, TurnListener } from './line.ts';
import { GRPC_RULES } from './wire-rules.ts';

/** The same line, but for `changes`. What it does not have does nothing. */
export function wrappedLine(line: Line, changes: Partial<Line>): Line {
  const same: Required<Line> = {
    rules: line.rules ?? GRPC_RULES,
    open: (listener) => line.open(listener),
    close: () => {
      line.close();
    },
    break: () => line.break?.(),
    watch: (found) => line.watch?.(found),
    watchEnd: (onEnd) => line.watchEnd?.(onEnd),
  };
  return { ...same, ...changes };
}

/** The same turn, but for `changes`. What it cannot does nothing. */
export function wrappedTurn(turn: LineTurn, changes: Partial<LineTurn>): LineTurn {
  const same: Required<LineTurn> = {
    send: (input) => {
      turn.send(input);
    },
    halfClose: () => {
      turn.halfClose();
    },
    cancel: () => {
      turn.cancel();
    },
    pauseReading: () => turn.pauseReading?.(),
    resumeReading: () => turn.resumeReading?.(),
  };
  return { ...same, ...changes };
}

/** The same listener, but for `changes`. */
export function wrappedListener(listener: TurnListener, changes: Partial<TurnListener>): TurnListener {
  const same: Required<TurnListener> = {
    answered: (answer) => {
      listener.answered(answer);
    },
    ended: (end) => {
      listener.ended(end);
    },
    cut: (cut) => listener.cut?.(cut) ?? false,
  };
  return { ...same, ...changes };
}
