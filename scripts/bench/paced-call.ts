// One call of the load, as the platform holds it: SESSION_START on an RPC of its own, then one RPC per turn with a frame
// every 20 ms until the end of speech is reported, half-close, and the next RPC. Keeps no time: somebody calls `tick`.
import { FRAME_SAMPLES } from '../../src/speech/audio-format.ts';
import type { Http2Line } from './http2-line.ts';
import { audioMessage, eventMessage, eventOf, type AudioMessage, type CallName } from './traffic.ts';

/** Frames after which a turn is given up: the end of speech was never reported. */
const MAX_TURN_FRAMES = 750;

/** What a window of time has brought; one object for all calls. */
export interface Counted {
  frames: number;
  turns: number;
  /** Frames that flow control held back. */
  blocked: number;
  /** RPCs that were reset, and turns whose end was never reported. */
  failed: number;
  /** Frames after which the server reported start and end of speech. */
  starts: number[];
  ends: number[];
}

/** One call; `tick` is called every 20 ms. */
export class PacedCall {
  readonly #line: Http2Line;
  readonly #call: CallName;
  readonly #sound: Uint8Array;
  readonly #counted: () => Counted;
  readonly #firstFrame: AudioMessage;
  readonly #frame: AudioMessage;
  #isFirst = true;
  #state: 'starting' | 'between' | 'listening' | 'answered' | 'over' = 'between';
  #stream = 0;
  #sent = 0;
  #waitTicks: number;
  #onOver: (() => void) | undefined;

  /** @param waitTicks - before the first turn, so that calls are not in step. @param counted - where to count now. */
  constructor(line: Http2Line, call: CallName, sound: Uint8Array, waitTicks: number, counted: () => Counted) {
    this.#line = line;
    this.#call = call;
    this.#sound = sound;
    this.#waitTicks = waitTicks;
    this.#counted = counted;
    this.#firstFrame = audioMessage(call, true);
    this.#frame = audioMessage(call, false);
  }

  /** Sends SESSION_START. */
  start(): void {
    this.#state = 'starting';
    const stream = this.#line.open({
      message: () => undefined,
      ended: (isWhole) => {
        if (!isWhole) this.#counted().failed += 1;
        if (this.#state === 'starting') this.#state = 'between';
      },
    });
    this.#line.sendWhole(stream, eventMessage(this.#call, 'SESSION_START'));
  }

  /** The next frame is due. */
  tick(): void {
    if (this.#state === 'between') {
      if (this.#waitTicks > 0) this.#waitTicks -= 1;
      else this.#open();
    }
    if (this.#state !== 'listening') return;
    if (this.#sent >= MAX_TURN_FRAMES) {
      this.#counted().failed += 1;
      this.#answered();
      return;
    }
    const message = this.#isFirst ? this.#firstFrame : this.#frame;
    const from = (this.#sent * FRAME_SAMPLES) % this.#sound.length;
    message.frame.set(this.#sound.subarray(from, from + FRAME_SAMPLES), message.audioAt);
    if (!this.#line.send(this.#stream, message)) {
      this.#counted().blocked += 1;
      return;
    }
    this.#isFirst = false;
    this.#sent += 1;
    this.#counted().frames += 1;
  }

  /** Hangs up: what is open is half-closed, SESSION_END goes on an RPC of its own. Resolves when it was completed. */
  hangUp(): Promise<void> {
    if (this.#state === 'listening') this.#line.end(this.#stream);
    this.#state = 'over';
    return new Promise((resolve) => {
      this.#onOver = resolve;
      const stream = this.#line.open({
        message: () => undefined,
        ended: () => this.#onOver?.(),
      });
      this.#line.sendWhole(stream, eventMessage(this.#call, 'SESSION_END'));
    });
  }

  #open(): void {
    this.#state = 'listening';
    this.#sent = 0;
    this.#stream = this.#line.open({
      message: (bytes) => {
        const event = eventOf(bytes);
        if (event === 'start_of_input') this.#counted().starts.push(this.#sent);
        if (event !== 'end_of_input' || this.#state !== 'listening') return;
        this.#counted().ends.push(this.#sent);
        this.#answered();
      },
      ended: (isWhole) => {
        if (!isWhole) this.#counted().failed += 1;
        this.#counted().turns += 1;
        if (this.#state !== 'over') this.#state = 'between';
      },
    });
  }

  #answered(): void {
    this.#state = 'answered';
    this.#line.end(this.#stream);
  }
}
