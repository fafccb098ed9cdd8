// A line that opens a lost turn again and sends its input from the beginning, unless the whole reply has come. A load balancer may route
// the new RPC to another server. What the platform does in that case is not known (contract 1.10). Knows no turn grammar: the listener of a
// turn decides whether the turn is still wanted.
import type { CancelTimer } from '../../base/clock.ts';
import { FRAME_MS, FRAME_SAMPLES } from '../../speech/audio-format.ts';
import { isClosing, type Answer } from '../caller/answer.ts';
import type { CallClock } from '../caller/call-clock.ts';
import type { Failure } from './failure.ts';
import type { Line, LineEnd, LineTurn, PlatformInput, TurnListener } from './line.ts';
import { SILENT_FRAME } from '../caller/microphone.ts';
import { GRPC_RULES } from './wire-rules.ts';
import { wrappedLine, wrappedListener } from './wrapped-line.ts';

export interface Repetition {
  readonly clock: CallClock;
  /** True: repeats every lost turn. False: only turns that the server refused before it processed anything, as HTTP/2 clients do. */
  readonly repeatsLostTurns: boolean;
  /** How many times faster than real time the call goes. Pauses stay in real time, because a server needs that to come back. */
  readonly pace: number;
}

/** Pauses before a lost turn is opened again, ms. A turn that is lost after the last pause stays lost. */
const PAUSES_MS: readonly number[] = [100, 400, 1600];
/** Silence that is sent again before the caller's first word, frames: half a second, so that a server can detect the start. */
const LEAD_FRAMES = 25;
/** Most messages that are kept of a turn: a minute of speech. A longer turn is not repeated. */
const MOST_HELD = 3000;
/** Most messages that are kept when only refused turns are repeated: a refusal comes at once. */
const MOST_HELD_REFUSED = 100;

/** Wraps a line so that it repeats lost turns. A line without an RPC per turn stays as it is. Timers end with their turns. */
export function repeatingLine(line: Line, repetition: Repetition): Line {
  if (!(line.rules ?? GRPC_RULES).hasOwnRpcs) return line;
  return wrappedLine(line, { open: (listener) => new RepeatedTurn(line, repetition, listener) });
}

/** One turn, on as many RPCs as necessary. */
class RepeatedTurn implements Required<LineTurn> {
  readonly #line: Line;
  readonly #repetition: Repetition;
  readonly #listener: TurnListener;
  /** All inputs of the turn so far, but only the last frames of leading silence. */
  #held: PlatformInput[] = [];
  /** Number of inputs in `#held` that were sent on the current RPC. */
  #sent = 0;
  #hasInput = false;
  #isForgotten = false;
  /** Undefined between a loss and the next RPC. */
  #rpc: LineTurn | undefined;
  #losses = 0;
  /** Set when the FINAL that closes the reply has come. */
  #isAnswered = false;
  #isGivenUp = false;
  #isHalfClosed = false;
  #isOver = false;
  /** When to send the next frame again, ms since the call began; undefined when all frames were sent again. */
  #nextMs: number | undefined;
  #cancelTimer: CancelTimer = () => undefined;

  constructor(line: Line, repetition: Repetition, listener: TurnListener) {
    this.#line = line;
    this.#repetition = repetition;
    this.#listener = listener;
    this.#open();
  }

  send(input: PlatformInput): void {
    if (this.#isOver || this.#isHalfClosed) return;
    this.#hasInput ||= !isSilence(input);
    this.#held.push(input);
    this.#pump();
    this.#forget();
  }

  halfClose(): void {
    if (this.#isOver || this.#isHalfClosed) return;
    this.#isHalfClosed = true;
    this.#fallSilent();
  }

  cancel(): void {
    if (this.#isOver) return;
    this.#isGivenUp = true;
    this.#cancelTimer();
    if (this.#rpc === undefined) this.#end({ kind: 'broken', failure: GIVEN_UP });
    else this.#rpc.cancel();
  }

  pauseReading(): void {
    this.#rpc?.pauseReading?.();
  }

  resumeReading(): void {
    this.#rpc?.resumeReading?.();
  }

  #open(): void {
    this.#sent = 0;
    this.#rpc = this.#line.open(
      wrappedListener(this.#listener, {
        answered: (answer) => {
          this.#isAnswered ||= isClosing(answer);
          // The platform stops the caller's audio at once, as in any turn (G-38).
          if (this.#isHalfClosed && this.#nextMs !== undefined && endsInput(answer)) this.#fallSilent();
          this.#listener.answered(answer);
        },
        ended: (end) => this.#ended(end),
      }),
    );
  }

  #ended(end: LineEnd): void {
    if (this.#isOver) return;
    if (end.kind === 'completed' || this.#isGivenUp || !this.#mayRepeat(end.failure)) {
      this.#end(end);
      return;
    }
    if (this.#isAnswered) {
      // Only the status is missing, and the texts that come with the status.
      this.#end({ kind: 'completed', promptTexts: [] });
      return;
    }
    const pauseMs = this.#isForgotten ? undefined : PAUSES_MS[this.#losses];
    if (pauseMs === undefined) this.#end(end);
    else this.#lose(end.failure, pauseMs * this.#repetition.pace);
  }

  #lose(failure: Failure, pauseMs: number): void {
    this.#cancelTimer();
    this.#losses += 1;
    this.#rpc = undefined;
    this.#sent = 0;
    const kind = failure.loss === 'cut' && this.#hasInput ? 'repeated' : 'reopened';
    const againMs = pauseMs + (this.#hasInput ? this.#held.filter(isFrame).length * FRAME_MS : 0);
    const isWanted = this.#listener.cut?.({ kind, failure, againMs }) ?? false;
    // The listener may have cancelled the turn in `cut`.
    if (this.#isOver) return;
    if (!isWanted) this.#end({ kind: 'broken', failure });
    else {
      this.#cancelTimer = this.#repetition.clock.after(pauseMs, () => this.#again(failure));
    }
  }

  /** Whether this kind of failure allows a repetition. Pauses and kept inputs are checked elsewhere. */
  #mayRepeat({ loss }: Failure): boolean {
    return loss === 'refused' || (loss !== undefined && this.#repetition.repeatsLostTurns);
  }

  #again(failure: Failure): void {
    // Without input, a half-closed turn has nothing to send: the caller has turned to something else.
    if (this.#isHalfClosed && this.#held.every(({ kind }) => kind === 'audio_format')) {
      this.#end({ kind: 'broken', failure });
      return;
    }
    // Without input, the turn had only silence, which need not be sent again.
    if (!this.#hasInput && !this.#isHalfClosed) this.#held = this.#held.filter((input) => !isFrame(input));
    this.#nextMs = this.#repetition.clock.nowMs();
    this.#open();
    this.#pump();
  }

  /** Sends the inputs that were not sent on this RPC; repeated audio keeps its original pace. */
  #pump(): void {
    const rpc = this.#rpc;
    if (rpc === undefined) return;
    this.#cancelTimer();
    for (let input = this.#held[this.#sent]; input !== undefined; input = this.#held[this.#sent]) {
      if (this.#nextMs !== undefined && isFrame(input)) {
        const waitMs = this.#nextMs - this.#repetition.clock.nowMs();
        if (waitMs > 0) {
          this.#cancelTimer = this.#repetition.clock.after(waitMs, () => this.#pump());
          return;
        }
        this.#nextMs += FRAME_MS;
      }
      this.#sent += 1;
      rpc.send(input);
    }
    this.#nextMs = undefined;
    if (this.#isHalfClosed) rpc.halfClose();
  }

  /** Drops the caller's audio that was not sent: nobody wants it any more. */
  #fallSilent(): void {
    this.#held = this.#held.filter(({ kind }, index) => index < this.#sent || kind !== 'audio');
    this.#pump();
  }

  /** Drops inputs that will not be sent again. */
  #forget(): void {
    const most = this.#repetition.repeatsLostTurns ? MOST_HELD : MOST_HELD_REFUSED;
    const lead = this.#hasInput ? -1 : this.#held.findIndex(isFrame);
    if (lead >= 0 && lead < this.#sent && this.#held.length - lead > LEAD_FRAMES) {
      this.#held.splice(lead, 1);
      this.#sent -= 1;
    }
    this.#isForgotten ||= this.#held.length > most;
    if (!this.#isForgotten) return;
    this.#held.splice(0, this.#sent);
    this.#sent = 0;
  }

  #end(end: LineEnd): void {
    this.#isOver = true;
    this.#cancelTimer();
    this.#held = [];
    this.#listener.ended(end);
  }
}

const GIVEN_UP: Failure = { code: 'closed_early', message: 'given up before it was opened again' };

/** Whether an input is only the audio of a silent caller (G-33, G-35). */
function isSilence(input: PlatformInput): boolean {
  return input.kind === 'audio_format' || (input.kind === 'audio' && (input.audio === SILENT_FRAME || !isFrame(input)));
}

function isFrame(input: PlatformInput): boolean {
  return input.kind === 'audio' && input.audio.length >= FRAME_SAMPLES;
}

/** Whether the server has detected the end of the caller's speech, or answers without waiting for the end. */
function endsInput(answer: Answer): boolean {
  return answer.event?.kind === 'end_of_input' || answer.prompts.length > 0 || isClosing(answer);
}
