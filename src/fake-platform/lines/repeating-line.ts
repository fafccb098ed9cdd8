// A line that opens a lost turn again and sends it from its beginning, on an RPC that a load balancer may route to
// another server, unless its whole reply has come. What the platform itself does in that case is not known (contract
// 1.10). Knows no turn grammar: the listener of a turn decides whether it is still wanted.
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
  /** True: any turn that was lost. False: only those that the server refused before it processed anything, as HTTP/2 clients do. */
  readonly repeatsLostTurns: boolean;
  /** How many times faster than real time the call goes: a server comes back in its own time. */
  readonly pace: number;
}

/** Pauses before a turn is opened again, ms: a turn lost after the last one is lost for good. */
const PAUSES_MS: readonly number[] = [100, 400, 1600];
/** Silence before the caller's first word that is sent again, frames: half a second, so that a server detects where speech begins. */
const LEAD_FRAMES = 25;
/** Most messages kept of a turn: a minute of speech. A longer turn is lost for good. */
const MOST_HELD = 3000;
/** Most messages kept where only refused turns are repeated: a refusal comes at once. */
const MOST_HELD_REFUSED = 100;

/** The line, with lost turns repeated. A line whose turns have no RPCs of their own stays as it is. Timers end with their turns. */
export function repeatingLine(line: Line, repetition: Repetition): Line {
  if (!(line.rules ?? GRPC_RULES).hasOwnRpcs) return line;
  return wrappedLine(line, { open: (listener) => new RepeatedTurn(line, repetition, listener) });
}

/** One turn on as many RPCs as it takes. */
class RepeatedTurn implements Required<LineTurn> {
  readonly #line: Line;
  readonly #repetition: Repetition;
  readonly #listener: TurnListener;
  /** Everything sent on the turn so far; of leading silence only the last frames. */
  #held: PlatformInput[] = [];
  /** How much of it was sent on the present RPC. */
  #sent = 0;
  #hasInput = false;
  #isForgotten = false;
  /** Undefined between two RPCs. */
  #rpc: LineTurn | undefined;
  #losses = 0;
  /** The FINAL that closes its reply has come. */
  #isAnswered = false;
  #isGivenUp = false;
  #isHalfClosed = false;
  #isOver = false;
  /** When the next frame may be sent again, ms since the call began; undefined when all were. */
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
          // As always, the platform stops the caller's audio at once (G-38).
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
      // Only the status is missing, and the texts that would have come with it.
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
    // The listener may have cancelled the turn.
    if (this.#isOver) return;
    if (!isWanted) this.#end({ kind: 'broken', failure });
    else {
      this.#cancelTimer = this.#repetition.clock.after(pauseMs, () => this.#again(failure));
    }
  }

  /** Whether such a failure is repeated at all, as long as it can be. */
  #mayRepeat({ loss }: Failure): boolean {
    return loss === 'refused' || (loss !== undefined && this.#repetition.repeatsLostTurns);
  }

  #again(failure: Failure): void {
    // Its caller has turned to something else meanwhile.
    if (this.#isHalfClosed && this.#held.every(({ kind }) => kind === 'audio_format')) {
      this.#end({ kind: 'broken', failure });
      return;
    }
    // Long silence need not be sent again.
    if (!this.#hasInput && !this.#isHalfClosed) this.#held = this.#held.filter((input) => !isFrame(input));
    this.#nextMs = this.#repetition.clock.nowMs();
    this.#open();
    this.#pump();
  }

  /** Sends what has not been sent on this RPC: repeated audio at the pace of the original. */
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

  /** The caller's audio is no longer wanted: the rest is never sent. */
  #fallSilent(): void {
    this.#held = this.#held.filter(({ kind }, index) => index < this.#sent || kind !== 'audio');
    this.#pump();
  }

  /** Keeps no more than is sent again. */
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

/** Whether an input is only the sound of a silent caller (G-33, G-35). */
function isSilence(input: PlatformInput): boolean {
  return input.kind === 'audio_format' || (input.kind === 'audio' && (input.audio === SILENT_FRAME || !isFrame(input)));
}

function isFrame(input: PlatformInput): boolean {
  return input.kind === 'audio' && input.audio.length >= FRAME_SAMPLES;
}

/** Whether the server has heard the end of the caller's speech, or needs no more of it. */
function endsInput(answer: Answer): boolean {
  return answer.event?.kind === 'end_of_input' || answer.prompts.length > 0 || isClosing(answer);
}
