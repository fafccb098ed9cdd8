// ProcessCallerInput: one RPC is one turn. Checks the token before the first read, and that every message belongs to the token's
// organization and to the first message's call, looks up the home of the call, and passes the input to the engine or
// forwards it.
import type { CancelTimer } from '../../base/clock.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import { settle } from '../../base/settle.ts';
import { AudioFrames } from '../../contract/audio-frames.ts';
import type { Asked, Located, LocatedAtPeer, Restored } from '../../dialog/home.ts';
import { turnOpening, type Input } from '../../dialog/input.ts';
import { refusedStream } from '../../session/admission.ts';
import type { Session } from '../../session/session.ts';
import { demandSameCall, type WireCall } from '../caller-request.ts';
import type { HeldTurn, Relay } from '../forward/relay.ts';
import type { Visitor } from '../gate.ts';
import { endsInTransfer } from '../refused.ts';
import type { CallerCall, CallerInputParts } from './caller-input-parts.ts';
import { CallerRpc, type Delivered } from './caller-rpc.ts';
import { audioFromWire, callFromWire, inputFromWire } from './from-wire.ts';
import { MessageBatch, type Take } from './message-batch.ts';
import { UNDECODABLE } from './undecodable.ts';

/** The handler of the RPC. `delivered` is set on the peer port. */
export function createProcessCallerInput(parts: CallerInputParts): (call: CallerCall, delivered?: Delivered) => void {
  const batch = new MessageBatch();
  return (call, delivered) => {
    const isWelcome = parts.admission.streamOpened();
    const stream = new CallerStream(call, parts, batch, delivered);
    if (isWelcome) stream.start();
    else stream.rpc.refuse(refusedStream());
  };
}

/** The first message of a turn. */
interface Opening {
  readonly call: WireCall;
  readonly input: Input | undefined;
  readonly bytes: Buffer;
}

/** The input side of one RPC. */
class CallerStream {
  readonly rpc: CallerRpc;
  readonly #call: CallerCall;
  readonly #parts: CallerInputParts;
  readonly #arrived: Take;
  readonly #frames = new AudioFrames();
  #visitor: Visitor = { kind: 'unchecked' };
  #first: WireCall | undefined;
  #session: Session | undefined;
  /** Set while the turn is forwarded. */
  #relay: Relay | undefined;
  /** Messages that came before the session was open, or that were kept of a forwarded turn that came back. */
  #waiting: Buffer[] = [];
  #isOpening = false;
  #isHalfClosed = false;
  #cancelTimer: CancelTimer | undefined;

  constructor(call: CallerCall, parts: CallerInputParts, batch: MessageBatch, delivered: Delivered | undefined) {
    this.#call = call;
    this.#parts = parts;
    this.#arrived = batch.listener(this.#received);
    this.rpc = new CallerRpc(call, parts, { delivered, onGone: batch.flush, onOver: this.#over });
  }

  /** Checks the token, then starts reading (G-02). */
  start(): void {
    if (this.#parts.instanceId !== undefined && this.rpc.forwarded === undefined) this.rpc.giveBack();
    else settle(() => this.#parts.tokens.check(this.#call), this.#admitted, this.rpc.refuse);
  }

  readonly #admitted = (visitor: Visitor): void => {
    if (this.rpc.isOver) return;
    this.#visitor = visitor;
    this.#cancelTimer = this.#parts.clock.after(this.#parts.firstMessageTimeoutMs, () => {
      this.rpc.refuse(new AppError('turn_timeout', 'the stream was opened and no message came'));
    });
    this.#call.on('data', this.#arrived);
    this.#call.on('end', this.#ended);
  };

  readonly #received = (bytes: Buffer): void => {
    if (this.rpc.isOver) return;
    if (this.#isOpening) {
      this.#waiting.push(bytes);
      return;
    }
    if (this.#relay !== undefined) {
      this.#relay.push(bytes);
      return;
    }
    try {
      const audio = this.#frames.read(bytes);
      if (audio === undefined) this.#take(bytes);
      else this.rpc.turn?.push(audioFromWire(audio));
    } catch (thrown) {
      this.rpc.refuse(thrown);
    }
  };

  // A broken connection ends its streams before it cancels them, in the same turn of the event loop (grpc-js 1.14). The
  // caller's input is then incomplete.
  readonly #ended = (): void => {
    setImmediate(() => {
      this.#isHalfClosed = true;
      if (!this.#isOpening) this.#halfClosed();
    });
  };

  #halfClosed(): void {
    if (this.rpc.isOver) return;
    if (this.#first === undefined) this.rpc.complete();
    else if (this.#relay === undefined) this.rpc.turn?.halfClose();
    else this.#relay.halfClose();
  }

  #take(bytes: Buffer): void {
    const message = this.#parts.decode(bytes);
    if (message === UNDECODABLE) throw new AppError('bad_message', 'the message could not be decoded');
    const named = callFromWire(message);
    const call = { ...named, organizationId: this.#parts.gate.bind(this.#visitor, named.organizationId) };
    const input = inputFromWire(message);
    if (this.#first === undefined) {
      this.#first = call;
      this.rpc.conversationId = call.conversationId;
      this.#open({ call, input, bytes });
    } else {
      demandSameCall(this.#first, call);
      if (input?.kind === 'session_start' && this.#beginsAnew()) this.#open({ call, input, bytes });
      else if (input !== undefined) this.rpc.turn?.push(input);
    }
    // Later audio messages with the same ids are not decoded again.
    if (input?.kind === 'audio') this.#frames.learn(bytes);
  }

  /** A SESSION_START after probe packets (G-33) counts like one that opens a stream (G-28). */
  #beginsAnew(): boolean {
    const { turn } = this.rpc;
    if (turn === undefined || !turn.takesInput || this.#session?.takeStart() !== false) return false;
    this.rpc.turn = undefined;
    turn.abort('superseded');
    return true;
  }

  // Reading pauses until the session is open.
  #open(opening: Opening): void {
    this.#cancelTimer?.();
    this.#isOpening = true;
    this.#call.pause();
    this.#openAt(opening, () => this.#parts.homes.locate(opening.call, this.#asked(opening.input)));
  }

  #asked(input: Input | undefined): Asked {
    const opensWith = input?.kind === 'session_end' ? 'end' : turnOpening(input);
    const { forwarded } = this.rpc;
    return forwarded === undefined ? { opensWith } : { opensWith, forwarded: { isTaking: forwarded.isTaking } };
  }

  #openAt(opening: Opening, locate: () => Located | Promise<Located>): void {
    const located = (found: Located): void => {
      if (this.rpc.isOver) return;
      if (found.kind === 'here') this.#openHere(opening, found.restored);
      else if (found.kind === 'ended') this.#completeEnded(opening);
      // One hop: a forwarded turn is not forwarded again.
      else if (this.rpc.giveBack()) return;
      else if (found.kind === 'at_peer') this.#forward(opening, found);
      else throw new AppError('home_unreachable', 'the call lives in another server, whose address is unknown');
    };
    settle(locate, located, (thrown) => {
      this.#unopened(opening, thrown);
    });
  }

  /** The call is over. A turn without an input of its own gets no answer (G-61), and a FINAL would need input settings (G-80). */
  #completeEnded({ input }: Opening): void {
    if (input === undefined || input.kind === 'audio' || input.kind === 'dtmf_start') this.rpc.complete();
    else this.rpc.completeEmpty();
  }

  /** Synchronous for a further turn of a call: nothing may happen between finding the session and opening the turn. */
  #openHere(opening: Opening, restored: Restored | undefined): void {
    const { call, input } = opening;
    const { sessions } = this.#parts;
    const parameters = input?.kind === 'session_start' ? input.parameters : {};
    settle<Session | undefined>(
      () =>
        input?.kind === 'session_end'
          ? sessions.find(call, restored)
          : sessions.acquire({ ...call, parameters, opensWith: turnOpening(input), restored }),
      (session) => {
        this.#begin(opening, session);
      },
      (thrown) => {
        this.#unopened(opening, thrown);
      },
    );
  }

  #begin({ call, input }: Opening, session: Session | undefined): void {
    if (this.rpc.isOver) return;
    if (session === undefined) {
      this.rpc.completeEmpty();
      return;
    }
    this.#session = session;
    const turn = session.beginTurn(this.rpc, input?.kind === 'session_end');
    this.rpc.turn = turn;
    // From now on the stream belongs to the agent of the session (G-17).
    this.#first = { ...call, agentId: session.call.agentId };
    if (input !== undefined) turn.push(input);
    this.#opened();
  }

  /** The session is open: takes the waiting messages, then reads on. */
  #opened(): void {
    this.#isOpening = false;
    this.#takeWaiting();
    // The conversation restarts (G-28), which calls this method again.
    if (this.#hasToWait()) return;
    if (this.#isHalfClosed) this.#halfClosed();
    this.#call.resume();
  }

  #takeWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const bytes of waiting) this.#received(bytes);
  }

  #hasToWait(): boolean {
    return this.#isOpening;
  }

  /** No session could be opened. A refused call ends with a spoken line, once there is an input to answer. */
  #unopened({ call, input }: Opening, thrown: unknown, isReplyDue = false): void {
    const error = toAppError(thrown);
    // The keys come on a turn of their own, which is answered (G-61).
    if (input?.kind === 'dtmf_start' && endsInTransfer(error)) {
      this.rpc.complete();
      return;
    }
    // A caller of an unknown call is treated like a new one. On a turn of audio the line is spoken once there is an input to answer; after
    // an unreadable snapshot at once, because a later turn would fail as well.
    const isListening = input === undefined || input.kind === 'audio';
    const isLineDue = isReplyDue || !isListening || (error.code === 'state_unreadable' && input !== undefined);
    if (!endsInTransfer(error) || !isLineDue) {
      this.rpc.refuse(error);
      return;
    }
    const { sessions, refusals } = this.#parts;
    refusals.write('a new call, with a spoken line,', error, this.rpc.ids);
    if (this.rpc.isOver) return;
    if (input?.kind === 'session_end') this.rpc.completeEmpty();
    else sessions.transferRefused(this.rpc, error, call, input?.kind !== 'session_start');
  }

  /** Forwards the turn: its messages go to the relay until the turn ends or comes back. */
  #forward(opening: Opening, located: LocatedAtPeer): void {
    const { call, input, bytes } = opening;
    const { relays, admission } = this.#parts;
    this.#isOpening = false;
    this.#relay = relays?.forward(
      {
        ...{ stream: this.#call, call, trackingId: this.rpc.trackingId, first: bytes, asked: this.#asked(input) },
        onStatus: (status, onSent) => {
          this.rpc.completeAs(status);
          this.rpc.onceSent(onSent);
        },
        onHome: (found, held) => {
          this.#comeHome(opening, found, held);
        },
        onFailed: (error, isReplyDue) => {
          this.#countHere();
          this.#unopened(opening, error, isReplyDue);
        },
      },
      located,
    );
    if (this.#relay === undefined) {
      this.rpc.refuse(refusedStream());
      return;
    }
    admission.streamClosed();
    this.#takeWaiting();
    if (this.#isHalfClosed) this.#halfClosed();
  }

  /**
   * The home of a forwarded turn is gone and this process is the next home: takes the kept messages as if they came
   * now.
   */
  #comeHome(opening: Opening, located: Located, held: HeldTurn): void {
    if (!this.#countHere()) {
      this.rpc.refuse(refusedStream());
      return;
    }
    this.#isOpening = true;
    this.#waiting = [...held.messages, ...this.#waiting];
    this.rpc.takeOver(held);
    this.#openAt(opening, () => located);
  }

  /** Counts a turn that came back as a turn of this process. @returns false at the limit. */
  #countHere(): boolean {
    this.#relay = undefined;
    return this.#parts.admission.streamOpened();
  }

  readonly #over = (): void => {
    this.#cancelTimer?.();
    this.#call.off('data', this.#arrived);
    this.#call.off('end', this.#ended);
    // Reads and drops further messages; otherwise the stream would stay open.
    this.#call.resume();
    if (this.#relay === undefined) this.#parts.admission.streamClosed();
    else this.#relay.cancel();
  };
}
