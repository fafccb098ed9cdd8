// Where one turn of a call ends and the next begins, on a wire that says nothing of turns (W-23). Synchronous: caller audio
// passes here fifty times a second. Knows a session and its turns, no socket and no message.
import type { SessionEnd } from '../../dialog/ending.ts';
import type { AudioInput, Input } from '../../dialog/input.ts';
import type { TurnSink } from '../../session/ports.ts';
import type { Session } from '../../session/session.ts';
import type { Turn } from '../../session/turn/turn.ts';

const NO_AUDIO = new Uint8Array(0);

/** What is needed of a session. */
type CutSession = Pick<Session, 'beginTurn' | 'hasRoom' | 'isEnded' | 'makeRoom' | 'openTurns' | 'stop'>;

/**
 * Brings each input of one call to the turn that it belongs to. There is always a turn that listens: it is opened as soon as
 * the input of the one before is complete, so that the caller can speak into the reply, and so that the engine has a stream to write on
 * when it must end the call.
 */
export class TurnCutter {
  readonly #session: CutSession;
  readonly #nextWriter: () => TurnSink;
  /** The turn that listens; undefined while the session has no room for one. */
  #listeningTurn: Turn | undefined;
  /** The turn of the session's start, until its welcome has begun. */
  #welcome: Turn | undefined;
  #isOver = false;

  /** @param nextWriter - makes the sink of each turn. */
  constructor(session: CutSession, nextWriter: () => TurnSink) {
    this.#session = session;
    this.#nextWriter = nextWriter;
  }

  /**
   * Takes one input; without effect once the call is over.
   *
   * @returns false for an input that found no turn, because too many wait for their replies.
   * @throws AppError `unsupported_audio` for a format that cannot be decoded (G-31).
   */
  push(input: Input): boolean {
    if (this.#isOver) return true;
    const turn = this.#turnFor(input);
    if (input.kind === 'session_start') this.#welcome = turn;
    turn?.push(input.kind === 'audio' && this.#isWelcomeDue() ? silent(input) : input);
    // Its input may be complete now.
    this.#listening();
    return turn !== undefined;
  }

  /** The call has been ended on the wire: nothing is heard any more. What the engine still does ends on its own. */
  finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listeningTurn?.halfClose();
  }

  /**
   * The socket is gone: the session ends, and all that is being made for it (W-2A).
   *
   * @param end - `caller`: the caller has hung up, or the socket has dropped.
   */
  hangUp(end: SessionEnd): void {
    this.#isOver = true;
    if (this.#session.isEnded && this.#session.openTurns === 0) return;
    if (end !== 'caller') {
      // What it waits for is that the bot has been notified, and the session sees to that.
      void this.#session.stop(end);
      return;
    }
    const turn =
      this.#listeningTurn !== undefined && this.#listeningTurn.takesInput
        ? this.#listeningTurn
        : this.#session.beginTurn(this.#nextWriter(), true);
    turn.push({ kind: 'session_end' });
  }

  #turnFor({ kind }: Input): Turn | undefined {
    // W-26: what waits for a reply goes before a reply that was cut.
    if (kind !== 'audio' && (this.#listeningTurn === undefined || !this.#listeningTurn.takesInput)) this.#session.makeRoom();
    const listening = this.#listening();
    // Complete at once, it would replace what the caller is saying or typing. Whoever was reported as silent after
    // a first key will type no more, and is listened to again.
    const wouldCut = (listening?.state === 'hearing' && kind === 'no_input') || (isBusy(listening) && kind === 'custom_event');
    return wouldCut ? this.#begun() : listening;
  }

  /** The turn that listens; a new one when the input of the last is complete. */
  #listening(): Turn | undefined {
    if (this.#listeningTurn !== undefined && this.#listeningTurn.takesInput) return this.#listeningTurn;
    if (!this.#isOver) this.#listeningTurn = this.#begun();
    return this.#listeningTurn;
  }

  /** The next turn; undefined when the session has as many as it may. */
  #begun(): Turn | undefined {
    // Asked first: what found no turn comes fifty times a second.
    return this.#session.hasRoom ? this.#session.beginTurn(this.#nextWriter()) : undefined;
  }

  #isWelcomeDue(): boolean {
    if (this.#welcome === undefined) return false;
    if (!this.#welcome.isWelcomeDue) this.#welcome = undefined;
    return this.#welcome !== undefined;
  }
}

/** Whether the caller is in the middle of an input. */
function isBusy(turn: Turn | undefined): boolean {
  return turn?.state === 'hearing' || turn?.state === 'keys';
}

/** Before the welcome nobody can be interrupted: only the format of the frame counts (G-32). */
function silent(input: AudioInput): AudioInput {
  return { ...input, audio: NO_AUDIO };
}
