// The order in which the turns of one socket send. On gRPC each turn has its own stream; here a cut reply must end
// before the start of the speech that cut it is reported (W-27). Knows no messages of the wire.
import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { AppError } from '../../base/errors.ts';
import type { Output } from '../../dialog/output.ts';
import type { TurnSink } from '../../session/ports.ts';

/** Longest time that a start of input waits for the FINAL of the replies that it has cut, ms. */
const CUT_REPLY_MS = 100;

export interface SocketOutput {
  readonly trackingId: string;
  /** Sends an output. @returns false when the next one should wait for `onceDrained`. */
  deliver(output: Output): boolean;
  /** See {@link TurnSink.onceDrained}; at most one listener waits, because only one turn of a session speaks at a time. */
  onceDrained(listener: () => void): void;
  /** Ends the call with an error. */
  fail(error: AppError): void;
}

/** A start of input that waits for older replies to end. */
interface HeldStart {
  readonly writer: TurnWriter;
  /** The older turns that are still open. */
  readonly older: Set<TurnWriter>;
  readonly cancelLimit: CancelTimer;
}

/** Owned by one socket. */
export class TurnWriters {
  readonly #socket: SocketOutput;
  readonly #clock: Clock;
  readonly #open = new Set<TurnWriter>();
  #held: HeldStart | undefined;
  #isShut = false;

  constructor(socket: SocketOutput, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
  }

  /** The sink of the next turn. */
  next(): TurnSink {
    const writer = new TurnWriter(this, this.#socket);
    if (this.#isShut) writer.shut();
    else this.#open.add(writer);
    return writer;
  }

  /** Stops sending; drops a start that waits. */
  shut(): void {
    this.#isShut = true;
    this.#dropStart();
    for (const writer of this.#open) writer.shut();
    this.#open.clear();
  }

  /** Sends an output of one turn, or holds it back. @returns see {@link TurnSink.write}. */
  write(writer: TurnWriter, output: Output): boolean {
    if (output.kind === 'input_started') return this.#start(writer);
    if (this.#held?.writer === writer) this.#sendStart();
    return this.#socket.deliver(output);
  }

  closed(writer: TurnWriter): void {
    this.#open.delete(writer);
    if (this.#held?.writer === writer) this.#dropStart();
    if (this.#held?.older.delete(writer) === true && this.#held.older.size === 0) this.#sendStart();
  }

  // The platform would take a later FINAL of the cut reply for the end of the new reply.
  #start(writer: TurnWriter): boolean {
    const older = new Set(this.#open);
    older.delete(writer);
    if (older.size === 0) return this.#socket.deliver({ kind: 'input_started' });
    this.#dropStart();
    const cancelLimit = this.#clock.after(CUT_REPLY_MS, () => {
      this.#sendStart();
    });
    this.#held = { writer, older, cancelLimit };
    return true;
  }

  #sendStart(): void {
    const held = this.#held;
    if (held === undefined) return;
    this.#dropStart();
    for (const writer of held.older) {
      writer.cut();
      this.#open.delete(writer);
    }
    this.#socket.deliver({ kind: 'input_started' });
  }

  #dropStart(): void {
    this.#held?.cancelLimit();
    this.#held = undefined;
  }
}

/** The sink of one turn. */
class TurnWriter implements TurnSink {
  readonly trackingId: string;
  readonly #writers: TurnWriters;
  readonly #socket: SocketOutput;
  #isCut = false;
  #isShut = false;

  constructor(writers: TurnWriters, socket: SocketOutput) {
    this.trackingId = socket.trackingId;
    this.#writers = writers;
    this.#socket = socket;
  }

  /** The turn's reply was cut: only a farewell is still sent (G-55). */
  cut(): void {
    this.#isCut = true;
  }

  shut(): void {
    this.#isShut = true;
  }

  write(output: Output): boolean {
    return this.#isShut || (this.#isCut && !isFarewell(output)) ? true : this.#writers.write(this, output);
  }

  onceDrained(listener: () => void): void {
    if (this.#isShut) listener();
    else this.#socket.onceDrained(listener);
  }

  complete(): void {
    this.#close();
  }

  fail(error: AppError): void {
    if (this.#close()) this.#socket.fail(error);
  }

  /** @returns false when the sink was already closed. */
  #close(): boolean {
    if (this.#isShut) return false;
    this.#isShut = true;
    this.#writers.closed(this);
    return true;
  }
}

/** Whether an output is a prompt that cannot be cut, or a terminal event: after a cut the engine sends these only to end the call. */
function isFarewell(output: Output): boolean {
  if (output.kind === 'prompt') return !output.prompt.bargeIn;
  return output.kind === 'final' && output.next.kind !== 'listen';
}
