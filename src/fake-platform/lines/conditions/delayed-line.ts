// A line that delivers everything late, in the same order over all turns, as on one connection. What comes back
// is not delayed. Others decide the delays.
import type { CancelTimer } from '../../../base/clock.ts';
import type { CallClock } from '../../caller/call-clock.ts';
import type { Line, LineTurn, TurnListener } from '../line.ts';
import { wrappedLine, wrappedListener } from '../wrapped-line.ts';

/** One message under way. */
interface Underway {
  readonly dueMs: number;
  readonly arrive: () => void;
}

/** Delays a line. Its timer ends when all turns are cancelled or nothing is under way any more. */
export class DelayedLine {
  readonly line: Line;
  readonly #line: Line;
  readonly #clock: CallClock;
  readonly #dueMs: (nowMs: number) => number;
  #underway: Underway[] = [];
  #lastDueMs = 0;
  #open = 0;
  #cancelTimer: CancelTimer = () => undefined;

  /** @param dueMs - when a message sent now arrives; a time before an earlier message's arrival is corrected to that. */
  constructor(line: Line, clock: CallClock, dueMs: (nowMs: number) => number) {
    this.#line = line;
    this.#clock = clock;
    this.#dueMs = dueMs;
    this.line = wrappedLine(line, {
      open: (listener) => this.#openTurn(listener),
      close: () => {
        this.#forget();
        line.close();
      },
      break: () => {
        this.#forget();
        line.break?.();
      },
    });
  }

  #openTurn(listener: TurnListener): LineTurn {
    let turn: LineTurn | undefined;
    let isOver = false;
    this.#open += 1;
    const over = (): void => {
      if (isOver) return;
      isOver = true;
      this.#open -= 1;
      if (this.#open === 0) this.#forget();
    };
    const onTurn = (act: (turn: LineTurn) => void): void => {
      this.#send(() => {
        if (turn !== undefined && !isOver) act(turn);
      });
    };
    this.#send(() => {
      if (isOver) return;
      turn = this.#line.open(
        wrappedListener(listener, {
          ended: (end) => {
            over();
            listener.ended(end);
          },
        }),
      );
    });
    const delayed: Required<LineTurn> = {
      send: (input) => {
        onTurn((opened) => opened.send(input));
      },
      halfClose: () => {
        onTurn((opened) => opened.halfClose());
      },
      // A cancelled turn is not waited for: what is under way of it never arrives.
      cancel: () => {
        if (isOver) return;
        over();
        if (turn === undefined)
          listener.ended({ kind: 'broken', failure: { code: 'closed_early', message: 'given up before it was sent' } });
        else turn.cancel();
      },
      pauseReading: () => turn?.pauseReading?.(),
      resumeReading: () => turn?.resumeReading?.(),
    };
    return delayed;
  }

  #forget(): void {
    this.#underway = [];
    this.#cancelTimer();
  }

  #send(arrive: () => void): void {
    const nowMs = this.#clock.nowMs();
    this.#lastDueMs = Math.max(this.#lastDueMs, this.#dueMs(nowMs));
    this.#underway.push({ dueMs: this.#lastDueMs, arrive });
    if (this.#underway.length === 1) this.#arm(this.#lastDueMs - nowMs);
  }

  #arm(waitMs: number): void {
    this.#cancelTimer = this.#clock.after(waitMs, () => this.#deliver());
  }

  #deliver(): void {
    const nowMs = this.#clock.nowMs();
    let arrived = 0;
    const batch = this.#underway;
    while (arrived < batch.length && (batch[arrived]?.dueMs ?? 0) <= nowMs) arrived += 1;
    // Messages that an arrival has caused are sent after everything under way.
    this.#underway = batch.slice(arrived);
    for (const { arrive } of batch.slice(0, arrived)) arrive();
    this.#cancelTimer();
    const next = this.#underway[0];
    if (next !== undefined) this.#arm(next.dueMs - nowMs);
  }
}
