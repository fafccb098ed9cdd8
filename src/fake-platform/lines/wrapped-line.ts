// Wraps lines, turns and listeners and replaces a few of their members. Only this file lists all members: it does not compile before a new
// member is listed, and then every wrapper passes that member on.
import type { Line, LineTurn, TurnListener } from './line.ts';
import { GRPC_RULES } from './wire-rules.ts';

/** The same line with `changes`. Members that `line` lacks do nothing. */
export function wrappedLine(line: Line, changes: Partial<Line>): Line {
  const same: Required<Line> = {
    rules: line.rules ?? GRPC_RULES,
    open: (listener) => line.open(listener),
    close: () => line.close(),
    break: () => line.break?.(),
    watch: (found) => line.watch?.(found),
    watchEnd: (onEnd) => line.watchEnd?.(onEnd),
  };
  return { ...same, ...changes };
}

/** The same turn with `changes`. Members that `turn` lacks do nothing. */
export function wrappedTurn(turn: LineTurn, changes: Partial<LineTurn>): LineTurn {
  const same: Required<LineTurn> = {
    send: (input) => turn.send(input),
    halfClose: () => turn.halfClose(),
    cancel: () => turn.cancel(),
    pauseReading: () => turn.pauseReading?.(),
    resumeReading: () => turn.resumeReading?.(),
  };
  return { ...same, ...changes };
}

export function wrappedListener(listener: TurnListener, changes: Partial<TurnListener>): TurnListener {
  const same: Required<TurnListener> = {
    answered: (answer) => listener.answered(answer),
    ended: (end) => listener.ended(end),
    cut: (cut) => listener.cut?.(cut) ?? false,
  };
  return { ...same, ...changes };
}
