// A line that delays the platform's messages and keeps their order over all turns, as one connection does. Answers are not delayed. The
// creator of the line chooses the delays.
import type { CancelTimer } from '../../../base/clock.ts';
import type { CallClock } from '../../caller/call-clock.ts';
import type { Line, LineTurn, TurnListener } from '../line.ts';
import { wrappedLine, wrappedListener } from '../wrapped-line.ts';

/** A sent message that has not arrived. */
interface Underway {
  readonly dueMs: number;
  readonly arrive: () => void;
}

/** Delays a line. Its timer ends when all turns are cancelled or every message has arrived. */
export class DelayedLine {
  readonly line: Line;
  readonly #line: Line;
  readonly #clock: CallClock;
  readonly #dueMs: (nowMs: number) => number;
  #underway: Underway[] = [];
  #lastDueMs = 0;
  #open = 0;
  #cancelTimer: CancelTimer = () => undefined;

  /** @param dueMs - when a message sent now arrives, ms; never earlier than the message before it. */
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
      // Cancels at once: messages of the turn that have not arrived never will.
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
    // Messages that are sent because of an arrival go behind all those before them.
    this.#underway = batch.slice(arrived);
    for (const { arrive } of batch.slice(0, arrived)) arrive();
    this.#cancelTimer();
    const next = this.#underway[0];
    if (next !== undefined) this.#arm(next.dueMs - nowMs);
  }
}
