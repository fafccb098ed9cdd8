// The listening turn of a call: the RPC that carries the caller's audio, with microphone frames sent as the platform sends
// them. Decides which speech is sent and which is dropped; the turn grammar decides when to listen.
import type { CallClock } from './call-clock.ts';
import { Microphone, SILENT_FRAME, type Frame } from './microphone.ts';
import type { DueReply, TurnBook } from './turn-book.ts';
import type { Turn } from './turn.ts';

/** The tiny packets at the start of a call (G-33). */
const PROBE = new Uint8Array([0xff, 0xff, 0xff]);
const PROBES = 3;

/** What listens on one call. `stop` must be called at the end. */
export class Listening {
  readonly microphone: Microphone;
  readonly #clock: CallClock;
  readonly #book: TurnBook;
  readonly #mayHear: () => boolean;
  #turn: Turn | undefined;
  #isMuted = false;
  #hasGreeted = false;
  #lastSpeechMs: number | undefined;
  #sent = 0;
  #dropped = 0;

  /** @param mayHear - false while a prompt plays that may not be interrupted: speech is dropped then (G-51). */
  constructor(clock: CallClock, book: TurnBook, mayHear: () => boolean) {
    this.#clock = clock;
    this.#book = book;
    this.#mayHear = mayHear;
    this.microphone = new Microphone(clock, (frame) => this.#send(frame));
  }

  /** The RPC that listens now. */
  get turn(): Turn | undefined {
    return this.#turn;
  }

  /** The reply that is due to the caller's speech; listed here until the server has noticed the end of the speech. */
  get due(): readonly DueReply[] {
    if (this.#turn === undefined || this.#lastSpeechMs === undefined || this.microphone.isSpeaking) return [];
    return [{ kind: 'speech', waitedMs: this.#clock.nowMs() - this.#lastSpeechMs }];
  }

  /** Speech frames sent and dropped since the call began. */
  get speechFrames(): { readonly sent: number; readonly dropped: number } {
    return { sent: this.#sent, dropped: this.#dropped };
  }

  /**
   * Opens a listening RPC: silence frames from now on, speech when the caller speaks (G-23, G-35). The first such RPC of a
   * call carries the audio format alone and then the probes; no later frame names a format (G-32, G-33).
   */
  open(): Turn {
    const turn = this.#book.open('speech', 'listening');
    this.#turn = turn;
    this.#isMuted = false;
    this.#lastSpeechMs = undefined;
    if (!this.#hasGreeted) {
      this.#hasGreeted = true;
      turn.line.send({ kind: 'audio_format' });
      for (let probe = 0; probe < PROBES; probe += 1) turn.line.send({ kind: 'audio', audio: PROBE });
    }
    this.microphone.wanted = true;
    return turn;
  }

  /** The caller's audio is complete: stop at once, half-close and wait for the reply (G-38). Without speech, no latency is measured. */
  complete(): void {
    const turn = this.take();
    if (turn !== undefined) this.#book.await(turn, this.#lastSpeechMs);
  }

  /** The caller's input is sent on another RPC: half-closes the present one, whose reply is not awaited. */
  setAside(): void {
    const turn = this.take();
    if (turn !== undefined) this.#book.setAside(turn);
  }

  /** Stops sending. @returns the RPC that listened, still open. */
  take(): Turn | undefined {
    const turn = this.#turn;
    this.#turn = undefined;
    this.microphone.wanted = false;
    return turn;
  }

  /** Stops sending on the present RPC without closing it, as the platform does after a START_OF_INPUT of type CHUNK (G-39). */
  mute(): void {
    this.#isMuted = true;
  }

  /** A lost turn starts again on a new RPC: what the server asked for on the lost RPC no longer applies. */
  beginAnew(turn: Turn): void {
    if (turn === this.#turn) this.#isMuted = false;
  }

  /** Ends everything; the listening RPC is half-closed. */
  stop(): void {
    this.setAside();
    this.microphone.stop();
  }

  #send({ audio, isSpeech }: Frame): void {
    const turn = this.#isMuted ? undefined : this.#turn;
    const isHeard = turn !== undefined && this.#mayHear();
    if (isSpeech && isHeard) {
      this.#sent += 1;
      this.#lastSpeechMs = this.#clock.nowMs();
    } else if (isSpeech) {
      this.#dropped += 1;
    }
    // While the caller may not be heard, the RPC gets silence, so that frames keep their pace.
    turn?.line.send({ kind: 'audio', audio: isHeard ? audio : SILENT_FRAME });
  }
}
