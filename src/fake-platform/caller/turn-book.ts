// The RPCs of one call: opens, feeds and closes them, checks every answer against the contract, and notices when the
// server falls silent. The turn grammar decides which RPC is needed when.
import type { Answer } from './answer.ts';
import type { CallClock } from './call-clock.ts';
import type { FindingCode, Findings } from './finding.ts';
import type { Line, LineEnd, PlatformInput, TurnCut } from '../lines/line.ts';
import { NO_RECOGNIZER, NO_RECOGNIZER_REMEDY, type Timeline } from './timeline.ts';
import { Turn, type Reply, type TurnPhase } from './turn.ts';
import { TurnCheck, type CallMemory, type TurnKind } from './turn-check.ts';
import { GRPC_RULES } from '../lines/wire-rules.ts';

/** Receives what happens on the RPCs of a call. */
export interface TurnListener {
  answered(turn: Turn, answer: Answer): void;
  /** The RPC is over; `phase` is its last phase before that. Not called for cancelled RPCs. */
  ended(turn: Turn, phase: TurnPhase, end: LineEnd): void;
  /** Nothing came within the answer limit, although an answer is due. */
  late(turn: Turn): void;
  /** The RPC was lost and its turn starts again; answers on the lost RPC no longer count. */
  cut(turn: Turn, cut: TurnCut): void;
}

/** Number of turns that lost their RPCs, by outcome. */
export interface LostTurns {
  /** Sent again on another RPC. */
  readonly turnsRepeated: number;
  /** Opened again, because nothing had been sent on them or the server had processed nothing. */
  readonly turnsReopened: number;
  /** Lost for good. */
  readonly turnsLost: number;
}

export interface DueReply {
  readonly kind: TurnKind;
  /** Since the caller's input was complete, ms. */
  readonly waitedMs: number;
}

export interface TurnBookOptions {
  readonly line: Line;
  readonly clock: CallClock;
  readonly timeline: Timeline;
  readonly findings: Findings;
  readonly allowPartial: boolean;
  /** Longest wait for a sign of a reply or for the completion of an RPC, ms. */
  readonly answerLimitMs: number;
  readonly onReply?: ((reply: Reply) => void) | undefined;
}

/** All RPCs of one call in order. Their ids count from 1. */
export class TurnBook {
  readonly #options: TurnBookOptions;
  readonly #listener: TurnListener;
  readonly #memory: CallMemory;
  readonly #turns: Turn[] = [];
  #lost = 0;

  constructor(options: TurnBookOptions, listener: TurnListener) {
    this.#options = options;
    this.#listener = listener;
    this.#memory = { mode: undefined, hasEnded: false, allowPartial: options.allowPartial };
  }

  get all(): readonly Turn[] {
    return this.#turns;
  }

  get nextId(): number {
    return this.#turns.length + 1;
  }

  /** Whether a reply is due on any RPC. */
  get isAwaiting(): boolean {
    return this.#turns.some((turn) => turn.phase === 'awaiting');
  }

  /** Whether a required reply is due. Without completion of its turn, a custom event may get none until a reply has begun (G-72). */
  get isReplyDue(): boolean {
    const { incomplete } = this.#options.line.rules ?? GRPC_RULES;
    return this.#turns.some(({ kind, phase, check }) => {
      const mayStaySilent = kind === 'custom_event' && !check.hasAnswer && incomplete(kind) === undefined;
      return phase === 'awaiting' && !mayStaySilent;
    });
  }

  /** Replies that have not begun although the caller's input is complete. */
  get due(): readonly DueReply[] {
    const nowMs = this.#options.clock.nowMs();
    return this.#turns.flatMap(({ kind, phase, reply, inputEndMs }) =>
      phase === 'awaiting' && reply === undefined && inputEndMs !== undefined ? [{ kind, waitedMs: nowMs - inputEndMs }] : [],
    );
  }

  /** All replies, in the order of their RPCs. */
  get replies(): readonly Reply[] {
    return this.#turns.flatMap((turn) => turn.reply ?? []);
  }

  get lostTurns(): LostTurns {
    const count = (kind: TurnCut['kind']): number => this.#turns.filter(({ cuts }) => cuts.has(kind)).length;
    return { turnsRepeated: count('repeated'), turnsReopened: count('reopened'), turnsLost: this.#lost };
  }

  /** Opens an RPC without sending anything. */
  open(kind: TurnKind, phase: TurnPhase): Turn {
    const { clock, line } = this.#options;
    const id = this.nextId;
    const turn = new Turn(clock, id, kind, phase, this.#checkOf(id), this.#options.onReply);
    this.#turns.push(turn);
    turn.attach(
      line.open({
        answered: (answer) => this.#answered(turn, answer),
        ended: (end) => this.#ended(turn, end),
        cut: (cut) => this.#cut(turn, cut),
      }),
    );
    return turn;
  }

  /**
   * One event or entry on its own RPC, half-closed at once (G-10, G-11).
   *
   * @param inputEndMs - when the caller's input was complete, ms since the call began; default now.
   */
  ask(kind: TurnKind, input: PlatformInput, inputEndMs = this.#options.clock.nowMs()): Turn {
    const turn = this.open(kind, 'awaiting');
    turn.line.send(input);
    this.await(turn, inputEndMs);
    this.#options.timeline.add('platform', kind, { turn: turn.id, detail: detailOf(input) });
    return turn;
  }

  /**
   * The caller's input is complete: half-close and wait for the reply.
   *
   * @param inputEndMs - when the caller was done, ms since the call began; undefined when nothing was said.
   */
  await(turn: Turn, inputEndMs: number | undefined): void {
    turn.inputEndMs = inputEndMs;
    turn.phase = 'awaiting';
    turn.line.halfClose();
    this.#watch(turn);
  }

  /** Half-closes an RPC whose reply is no longer wanted; the server still has to complete it (G-13). */
  setAside(turn: Turn): void {
    turn.phase = 'set_aside';
    turn.line.halfClose();
    this.#watch(turn);
  }

  /** Cancels an RPC and ignores what still comes. */
  giveUp(turn: Turn): void {
    if (turn.phase === 'over') return;
    turn.finish();
    turn.line.cancel();
  }

  /** Adds a finding; `isFatal` when the finding ends the call. */
  find(code: FindingCode, message: string, turn?: number, rule?: string, isFatal = false): void {
    const atMs = Math.round(this.#options.clock.nowMs());
    const place = { ...(turn === undefined ? {} : { turn }), ...(rule === undefined ? {} : { rule }) };
    this.#options.findings.add({ code, message, atMs, fatal: isFatal, ...place });
  }

  #answered(turn: Turn, answer: Answer): void {
    if (turn.phase === 'over') return;
    turn.check.checkAnswer(turn.kind, answer);
    if (turn.phase !== 'listening') this.#watch(turn);
    this.#listener.answered(turn, answer);
  }

  #ended(turn: Turn, end: LineEnd): void {
    const before = turn.phase;
    if (before === 'over') return;
    const isLost = end.kind === 'broken' && end.failure.loss !== undefined;
    // The turn was set aside while it waited for its new RPC.
    if (isLost && before === 'set_aside' && turn.cuts.size > 0) {
      this.#dismiss(turn);
      return;
    }
    turn.finish();
    if (end.kind === 'completed') {
      // Of several texts in an interrupted reply, at most the first can have begun.
      turn.noteTexts(turn.isInterrupted ? end.promptTexts.slice(0, 1) : end.promptTexts);
      turn.isApology = end.isApology === true;
      if (turn.isApology) this.#options.timeline.add('server', 'apologizes', { turn: turn.id, detail: 'its bot failed' });
      if (end.isWithoutWords === true) this.#options.timeline.add('server', NO_RECOGNIZER, { turn: turn.id, detail: NO_RECOGNIZER_REMEDY });
      turn.check.checkEnd(turn.kind, before === 'awaiting');
    } else if (isLost && before !== 'set_aside') {
      this.#lost += 1;
    }
    this.#listener.ended(turn, before, end);
  }

  #cut(turn: Turn, cut: TurnCut): boolean {
    if (turn.phase === 'over') return false;
    // Nobody waits for the turn.
    if (turn.phase === 'set_aside' || this.#memory.hasEnded) {
      this.#dismiss(turn);
      return false;
    }
    turn.beginAnew(cut, this.#checkOf(turn.id));
    this.#listener.cut(turn, cut);
    return true;
  }

  /** Nobody waits for the turn any more, so it does not matter how it ended. */
  #dismiss(turn: Turn): void {
    const before = turn.phase;
    turn.finish();
    this.#listener.ended(turn, before, { kind: 'completed', promptTexts: [] });
  }

  #checkOf(id: number): TurnCheck {
    const report = (code: FindingCode, rule: string, message: string): void => this.find(code, message, id, rule);
    return new TurnCheck(this.#memory, report, this.#options.line.rules);
  }

  #watch(turn: Turn): void {
    turn.watch(this.#options.answerLimitMs, () => {
      if (!turn.hasGrace(this.#options.answerLimitMs)) this.#listener.late(turn);
      if (turn.phase !== 'over') this.#watch(turn);
    });
  }
}

/** Details of an input for the timeline, beside its kind. */
function detailOf(input: PlatformInput): string | undefined {
  if (input.kind === 'dtmf') return input.keys.join('');
  return input.kind === 'custom_event' ? input.name : undefined;
}
