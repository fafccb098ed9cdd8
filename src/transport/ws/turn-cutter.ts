// Splits the messages of a socket into turns, because the wire has none (W-23). Synchronous: it runs for every frame of
// caller audio, fifty times a second. Knows a session and its turns, no socket and no message.
import type { SessionEnd } from '../../dialog/ending.ts';
import type { AudioInput, Input } from '../../dialog/input.ts';
import type { TurnSink } from '../../session/ports.ts';
import type { Session } from '../../session/session.ts';
import type { Turn } from '../../session/turn/turn.ts';

const NO_AUDIO = new Uint8Array(0);

type CutSession = Pick<Session, 'beginTurn' | 'hasRoom' | 'isEnded' | 'makeRoom' | 'openTurns' | 'stop'>;

/**
 * Passes each input of a call to its turn. One turn always listens: it opens as soon as the previous input is
 * complete, so that the caller can speak into the reply and the engine always has a stream on which to end the call.
 */
export class TurnCutter {
  readonly #session: CutSession;
  readonly #nextWriter: () => TurnSink;
  /** The turn that listens; undefined while the session has no room for one. */
  #listeningTurn: Turn | undefined;
  /** The first turn, until its welcome has begun. */
  #welcome: Turn | undefined;
  #isOver = false;

  /** @param nextWriter - makes the sink of each turn. */
  constructor(session: CutSession, nextWriter: () => TurnSink) {
    this.#session = session;
    this.#nextWriter = nextWriter;
  }

  /**
   * Takes one input; ignored once the call is over.
   *
   * @returns false when the input was dropped because too many turns wait for their replies.
   * @throws AppError `unsupported_audio` for a format that cannot be decoded (G-31).
   */
  push(input: Input): boolean {
    if (this.#isOver) return true;
    const turn = this.#turnFor(input);
    if (input.kind === 'session_start') this.#welcome = turn;
    turn?.push(input.kind === 'audio' && this.#isWelcomeDue() ? silent(input) : input);
    // If this input is complete now, the next turn opens.
    this.#listening();
    return turn !== undefined;
  }

  /** The call has ended on the wire: further input is ignored. */
  finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listeningTurn?.halfClose();
  }

  /**
   * The socket is gone: ends the session and aborts its work (W-2A).
   *
   * @param end - `caller`: the caller hung up, or the socket was lost.
   */
  hangUp(end: SessionEnd): void {
    this.#isOver = true;
    if (this.#session.isEnded && this.#session.openTurns === 0) return;
    if (end !== 'caller') {
      // Not awaited: the session notifies the bot on its own.
      void this.#session.stop(end);
      return;
    }
    const turn = this.#listeningTurn?.takesInput === true ? this.#listeningTurn : this.#session.beginTurn(this.#nextWriter(), true);
    turn.push({ kind: 'session_end' });
  }

  #turnFor({ kind }: Input): Turn | undefined {
    // W-26: an input that waits for its reply has priority over a reply that was cut.
    if (kind !== 'audio' && (this.#listeningTurn === undefined || !this.#listeningTurn.takesInput)) this.#session.makeRoom();
    const listening = this.#listening();
    // The event would replace what the caller is saying or typing. But a caller who is reported as silent after a first key
    // has stopped typing, and is listened to again.
    const wouldCut = (listening?.state === 'hearing' && kind === 'no_input') || (isBusy(listening) && kind === 'custom_event');
    return wouldCut ? this.#begun() : listening;
  }

  /** The turn that listens; a new one when the previous input is complete. */
  #listening(): Turn | undefined {
    if (this.#listeningTurn?.takesInput === true) return this.#listeningTurn;
    if (!this.#isOver) this.#listeningTurn = this.#begun();
    return this.#listeningTurn;
  }

  /** The next turn; undefined when the session has as many as it may. */
  #begun(): Turn | undefined {
    // Checked before opening: a rejected input may come fifty times a second.
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

/** The frame without its audio: before the welcome there is no barge-in, and only the format counts (G-32). */
function silent(input: AudioInput): AudioInput {
  return { ...input, audio: NO_AUDIO };
}
