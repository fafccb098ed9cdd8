// One call of the load, as the platform holds it: SESSION_START on an RPC of its own, then one RPC per turn with a frame
// every 20 ms until the end of speech is reported, half-close, and the next RPC. Keeps no time: somebody calls `tick`.
import { FRAME_SAMPLES } from '../../src/speech/audio-format.ts';
import type { Rpc, RpcListener } from '../../src/fake-platform/lines/rpc-connection.ts';
import { audioMessagesOf, eventMessage, eventOf, type CallName } from './traffic.ts';

/** Frames after which a turn is given up: the end of speech was never reported. */
const MAX_TURN_FRAMES = 750;

/** What a window of time has brought; one object for all calls. */
export interface Counted {
  frames: number;
  turns: number;
  /** Frames that were not sent because the server had not taken the one before. */
  blocked: number;
  /** RPCs and sockets that broke, and turns whose end was never reported. Counted from the beginning of the load. */
  failed: number;
  /** Frames after which the server reported start and end of speech. */
  starts: number[];
  ends: number[];
}

/** A call of either interface; `tick` is called every 20 ms. */
export interface PacedCall {
  /** Begins the call. */
  start(): void;
  /** The next frame is due. */
  tick(): void;
  /** Hangs up. Resolves when the server has taken that. */
  hangUp(): Promise<void>;
}

/** A call over gRPC. */
export class RpcCall implements PacedCall {
  readonly #open: (listener: RpcListener) => Rpc;
  readonly #call: CallName;
  readonly #sound: Uint8Array;
  readonly #counted: () => Counted;
  readonly #firstFrame: (audio: Uint8Array) => Buffer;
  readonly #frame: (audio: Uint8Array) => Buffer;
  #isFirst = true;
  #state: 'starting' | 'between' | 'listening' | 'answered' | 'over' = 'between';
  #turn: Rpc | undefined;
  #sent = 0;
  #waitTicks: number;

  /** @param waitTicks - before the first turn, so that calls are not in step. @param counted - where to count now. */
  constructor(open: (listener: RpcListener) => Rpc, call: CallName, sound: Uint8Array, waitTicks: number, counted: () => Counted) {
    this.#open = open;
    this.#call = call;
    this.#sound = sound;
    this.#waitTicks = waitTicks;
    this.#counted = counted;
    this.#firstFrame = audioMessagesOf(call, true);
    this.#frame = audioMessagesOf(call, false);
  }

  start(): void {
    this.#state = 'starting';
    this.#sendEvent('SESSION_START', ({ kind }) => {
      if (kind === 'broken') this.#counted().failed += 1;
      if (this.#state === 'starting') this.#state = 'between';
    });
  }

  tick(): void {
    if (this.#state === 'between') {
      if (this.#waitTicks > 0) this.#waitTicks -= 1;
      else this.#beginTurn();
    }
    if (this.#state !== 'listening' || this.#turn === undefined) return;
    if (this.#sent >= MAX_TURN_FRAMES) {
      this.#counted().failed += 1;
      this.#answered();
      return;
    }
    if (this.#turn.isHeldBack()) {
      this.#counted().blocked += 1;
      return;
    }
    const from = (this.#sent * FRAME_SAMPLES) % this.#sound.length;
    const message = this.#isFirst ? this.#firstFrame : this.#frame;
    this.#turn.send(message(this.#sound.subarray(from, from + FRAME_SAMPLES)));
    this.#isFirst = false;
    this.#sent += 1;
    this.#counted().frames += 1;
  }

  /** What is open is half-closed, and SESSION_END goes on an RPC of its own. */
  hangUp(): Promise<void> {
    if (this.#state === 'listening') this.#turn?.halfClose();
    this.#state = 'over';
    return new Promise((resolve) => {
      this.#sendEvent('SESSION_END', () => {
        resolve();
      });
    });
  }

  #sendEvent(event: 'SESSION_START' | 'SESSION_END', ended: RpcListener['ended']): void {
    const rpc = this.#open({ message: () => undefined, ended });
    rpc.send(eventMessage(this.#call, event));
    rpc.halfClose();
  }

  #beginTurn(): void {
    this.#state = 'listening';
    this.#sent = 0;
    this.#turn = this.#open({
      message: (bytes) => {
        const event = eventOf(bytes);
        if (event === 'start_of_input') this.#counted().starts.push(this.#sent);
        if (event !== 'end_of_input' || this.#state !== 'listening') return;
        this.#counted().ends.push(this.#sent);
        this.#answered();
      },
      ended: ({ kind }) => {
        if (kind === 'broken') this.#counted().failed += 1;
        this.#counted().turns += 1;
        if (this.#state !== 'over') this.#state = 'between';
      },
    });
  }

  #answered(): void {
    this.#state = 'answered';
    this.#turn?.halfClose();
  }
}
