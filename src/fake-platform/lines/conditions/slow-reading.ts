// A line whose platform reads slowly: after an answer it reads nothing for a while, so that the server's flow control takes effect. Knows
// no wire: the wrapped line stops the reading.
import type { CancelTimer } from '../../../base/clock.ts';
import type { Answer } from '../../caller/answer.ts';
import type { CallClock } from '../../caller/call-clock.ts';
import type { Line, LineTurn } from '../line.ts';
import { wrappedLine, wrappedListener, wrappedTurn } from '../wrapped-line.ts';

/** How slowly answers are read. Messages are read as a whole, so only a server that replies in several CHUNKs notices. */
export interface SlowReader {
  /** Reading stops for this long after the first audio of each reply, ms. */
  readonly pauseMs?: number | undefined;
  /** Audio is read at most this fast on each turn; 8000 is the speed at which µ-law is played. */
  readonly bytesPerSecond?: number | undefined;
}

/** Wraps a line so that its answers are read slowly. Timers end with their turns. A line that cannot stop reading stays as it is. */
export function slowlyRead(line: Line, clock: CallClock, { pauseMs = 0, bytesPerSecond = Infinity }: SlowReader): Line {
  return wrappedLine(line, {
    open: (listener) => {
      // Set when `line.open` has returned; an answer may come before that.
      const read: { turn?: LineTurn } = {};
      let hasPaused = false;
      let isOver = false;
      let resumeAtMs = 0;
      let cancelTimer: CancelTimer = () => undefined;
      const over = (): void => {
        isOver = true;
        cancelTimer();
      };
      // Pauses add up: an answer that was already read ahead extends the pause.
      const hold = (ms: number): void => {
        if (ms <= 0) return;
        resumeAtMs = Math.max(resumeAtMs, clock.nowMs()) + ms;
        read.turn?.pauseReading?.();
        cancelTimer();
        cancelTimer = clock.after(resumeAtMs - clock.nowMs(), () => read.turn?.resumeReading?.());
      };
      const opened = line.open(
        wrappedListener(listener, {
          answered: (answer) => {
            const bytes = audioBytes(answer);
            listener.answered(answer);
            if (bytes === 0 || isOver) return;
            hold((bytes / bytesPerSecond) * 1000 + (hasPaused ? 0 : pauseMs));
            hasPaused = true;
          },
          ended: (end) => {
            over();
            listener.ended(end);
          },
        }),
      );
      read.turn = opened;
      return wrappedTurn(opened, {
        cancel: () => {
          over();
          opened.cancel();
        },
      });
    },
  });
}

function audioBytes({ prompts }: Answer): number {
  return prompts.reduce((sum, { audio }) => sum + audio.length, 0);
}
