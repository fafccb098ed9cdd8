// ProcessCallerInput: one RPC is one turn. Checks the token before the first read, binds every message to the token's
// organization and to the first message's call, and lets the engine do the rest.
import type { CancelTimer } from '../../base/clock.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import { AudioFrames } from '../../contract/audio-frames.ts';
import { turnOpening, type Input } from '../../dialog/input.ts';
import type { Output } from '../../dialog/output.ts';
import { refusedStream } from '../../session/admission.ts';
import type { TurnSink } from '../../session/ports.ts';
import type { Session } from '../../session/session.ts';
import type { Turn } from '../../session/turn/turn.ts';
import type { Visitor } from '../gate.ts';
import { audioFromWire, callFromWire, inputFromWire } from './from-wire.ts';
import { demandSameCall, type WireCall } from '../caller-request.ts';
import { OK } from '../forward/attempt.ts';
import { notMine, readForwarded, type ForwardedTurn } from '../forward/headers.ts';
import type { HeldTurn, Relay } from '../forward/relay.ts';
import type { Asked, Located, LocatedElsewhere, Restored } from '../../dialog/home.ts';
import { isTurnedAway, type WireIds } from '../refused.ts';
import type { CallerCall, CallerInputParts } from './caller-input-parts.ts';
import { OutputWriter } from './output-writer.ts';
import { grpcStatus } from './status.ts';
import { UNDECODABLE } from './undecodable.ts';

/** The handler of the RPC. On the peer port it is told whether the connection of its forwarder is cut. */
export function createProcessCallerInput(parts: CallerInputParts): (call: CallerCall, isCut?: () => boolean) => void {
  return (call, isCut) => {
    const isWelcome = parts.admission.streamOpened();
    const stream = new CallerStream(call, parts, isCut);
    if (isWelcome) stream.start();
    else stream.refuse(refusedStream());
  };
}

/** The message that opens a turn. */
interface Opening {
  readonly call: WireCall;
  readonly input: Input | undefined;
  readonly bytes: Buffer;
}

/** One RPC from its first header to its status. */
class CallerStream implements TurnSink {
  readonly trackingId: string;
  isForwarderLost = false;
  readonly #call: CallerCall;
  readonly #parts: CallerInputParts;
  readonly #writer: OutputWriter;
  readonly #frames = new AudioFrames();
  #visitor: Visitor = { kind: 'unchecked' };
  #first: WireCall | undefined;
  #session: Session | undefined;
  #turn: Turn | undefined;
  #relay: Relay | undefined;
  readonly #isCut: (() => boolean) | undefined;
  /** What a peer says of a turn that it forwards. */
  readonly #forwarded: ForwardedTurn | undefined;
  /** Of a turn that came back. */
  #held: HeldTurn | undefined;
  /** What was held of it and is still to be taken. */
  #waiting: readonly Buffer[] = [];
  #isOpening = false;
  #cancelTimer: CancelTimer | undefined;
  #isOver = false;

  constructor(call: CallerCall, parts: CallerInputParts, isCut: (() => boolean) | undefined) {
    this.#isCut = isCut;
    this.#call = call;
    this.#parts = parts;
    this.#writer = new OutputWriter(call, parts);
    this.trackingId = parts.metadata.trackingId(call.metadata);
    this.#forwarded = parts.instanceId === undefined ? undefined : readForwarded(call.metadata, parts.instanceId);
    if (this.#forwarded !== undefined) this.#writer.leaveOut(this.#forwarded.told);
    call.on('cancelled', () => {
      this.#gone();
    });
    // A broken connection also surfaces as an error; without a listener it would end the process.
    call.on('error', () => {
      this.#gone();
    });
  }

  /** Checks the token and starts reading; nothing is read before the token is good (G-02). */
  start(): void {
    if (this.#parts.instanceId !== undefined && this.#forwarded === undefined) {
      this.giveBack();
      return;
    }
    try {
      const visitor = this.#parts.tokens.check(this.#call);
      if (!(visitor instanceof Promise)) this.#admitted(visitor);
      else visitor.then(this.#admitted, this.refuse);
    } catch (thrown) {
      this.refuse(thrown);
    }
  }

  /** Ends the RPC with the status of an error. */
  readonly refuse = (thrown: unknown): void => {
    const error = toAppError(thrown);
    this.#parts.refusals.write('a stream', error, this.#ids());
    if (this.#turn === undefined) this.fail(error);
    else this.#turn.fail(error);
  };

  /** The same at each home that a forwarded turn is brought to; undefined for one that came here directly. */
  get forwardedId(): string | undefined {
    return this.#held?.id ?? this.#forwarded?.turnId;
  }

  write(output: Output): boolean {
    if (this.#isOver) return true;
    try {
      return this.#writer.write(output);
    } catch (thrown) {
      this.refuse(thrown);
      return true;
    }
  }

  onceDrained(listener: () => void): void {
    this.#writer.onceDrained(listener);
  }

  complete(): void {
    if (this.#close()) this.#writer.end();
  }

  /** Gives a turn back that a peer forwarded: it brings it to the next home. @returns false for a turn that came here directly. */
  giveBack(): boolean {
    if (this.#parts.instanceId === undefined) return false;
    if (this.#close()) this.#call.emit('error', notMine());
    return true;
  }

  fail(error: AppError): void {
    if (!this.#close()) return;
    this.#parts.refusals.count(error);
    this.#call.emit('error', grpcStatus(error));
  }

  onceSent(listener: () => void): void {
    this.#writer.onceSent(listener);
  }

  readonly #admitted = (visitor: Visitor): void => {
    if (this.#isOver) return;
    this.#visitor = visitor;
    this.#cancelTimer = this.#parts.clock.after(this.#parts.firstMessageTimeoutMs, () => {
      this.refuse(new AppError('turn_timeout', 'the stream was opened and no message came'));
    });
    this.#call.on('data', this.#received);
    this.#call.on('end', this.#ended);
  };

  readonly #received = (bytes: Buffer): void => {
    if (this.#isOver) return;
    try {
      const audio = this.#frames.read(bytes);
      if (audio === undefined) this.#take(bytes);
      else this.#turn?.push(audioFromWire(audio));
    } catch (thrown) {
      this.refuse(thrown);
    }
  };

  #take(bytes: Buffer): void {
    const message = this.#parts.decode(bytes);
    if (message === UNDECODABLE) throw new AppError('bad_message', 'the message could not be decoded');
    const named = callFromWire(message);
    const call = { ...named, organizationId: this.#parts.gate.bind(this.#visitor, named.organizationId) };
    const input = inputFromWire(message);
    if (this.#first === undefined) {
      this.#first = call;
      this.#open({ call, input, bytes });
    } else {
      demandSameCall(this.#first, call);
      if (input?.kind === 'session_start' && this.#beginsAnew()) this.#open({ call, input, bytes });
      else if (input !== undefined) this.#turn?.push(input);
    }
    // From here on the same ids in front of other audio need no second look.
    if (input?.kind === 'audio') this.#frames.learn(bytes);
  }

  /** A start behind probe packets (G-33) is as good as one that opens a stream (G-28). */
  #beginsAnew(): boolean {
    const turn = this.#turn;
    if (turn === undefined || !turn.takesInput || this.#session?.takeStart() !== false) return false;
    this.#turn = undefined;
    turn.abort('superseded');
    return true;
  }

  // Reading stops until the session is there, so that `#turn` is set for every later message.
  #open(opening: Opening): void {
    this.#cancelTimer?.();
    this.#isOpening = true;
    this.#call.pause();
    const failed = (thrown: unknown): void => {
      this.#unopened(opening, thrown);
    };
    try {
      const located = this.#parts.homes.locate(opening.call, this.#asked(opening.input));
      if (!(located instanceof Promise)) this.#located(opening, located);
      else {
        located
          .then((found) => {
            this.#located(opening, found);
          })
          .catch(failed);
      }
    } catch (thrown) {
      failed(thrown);
    }
  }

  #asked(input: Input | undefined): Asked {
    const opensWith = input?.kind === 'session_end' ? 'end' : turnOpening(input);
    return this.#forwarded === undefined ? { opensWith } : { opensWith, forwarded: { isTaking: this.#forwarded.isTaking } };
  }

  #located(opening: Opening, located: Located): void {
    if (this.#isOver) return;
    if (located.kind === 'here') this.#openTurn(opening, located.restored);
    else if (located.kind === 'ended') this.#completeEmpty();
    // One hop: what a peer has forwarded is not forwarded again.
    else if (this.giveBack()) return;
    else if (located.kind === 'elsewhere') this.#forward(opening, located);
    else throw new AppError('home_unreachable', 'the call lives in another server, which nobody can name');
  }

  /** The stream is the relay's until it is over or comes back. */
  #forward(opening: Opening, located: LocatedElsewhere): void {
    const { call, input, bytes } = opening;
    this.#call.off('data', this.#received);
    this.#call.off('end', this.#ended);
    this.#relay = this.#parts.relays?.forward(
      {
        ...{ stream: this.#call, call, first: bytes, asked: this.#asked(input) },
        onStatus: ({ code, details, trailers }) => {
          if (!this.#close()) return;
          if (code === OK) this.#call.end(trailers);
          else this.#call.emit('error', { name: 'forwarded', message: details, code, details, metadata: trailers });
        },
        onHome: (found, held) => {
          this.#comeHome(opening, found, held);
        },
        onFailed: (error, isReplyOwed) => {
          this.#countHere();
          this.#unopened(opening, error, isReplyOwed);
        },
      },
      located,
    );
    if (this.#relay === undefined) this.refuse(refusedStream());
    else this.#parts.admission.streamClosed();
  }

  /** The home of a forwarded turn is gone, and this process is the next one: what is held is taken as if it came now. */
  #comeHome(opening: Opening, located: Located, held: HeldTurn): void {
    if (!this.#countHere()) {
      this.refuse(refusedStream());
      return;
    }
    this.#held = held;
    this.#waiting = held.messages;
    this.#writer.leaveOut(held.told);
    this.#call.on('data', this.#received);
    this.#call.on('end', this.#ended);
    try {
      this.#located(opening, located);
    } catch (thrown) {
      this.#unopened(opening, thrown);
    }
  }

  /** A turn that is not forwarded any more counts as any other. @returns false when there are too many. */
  #countHere(): boolean {
    this.#relay = undefined;
    return this.#parts.admission.streamOpened();
  }

  /** The turn has its session: goes on with what is held, or with what the platform sends. */
  #opened(): void {
    this.#isOpening = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const [at, bytes] of waiting.entries()) {
      this.#received(bytes);
      if (!this.#hasToWait()) continue;
      // It began anew (G-28), and comes by here again.
      this.#waiting = waiting.slice(at + 1);
      return;
    }
    if (this.#held?.isHalfClosed === true) this.#halfClosed();
    this.#call.resume();
  }

  #hasToWait(): boolean {
    return this.#isOpening;
  }

  /** A further turn of a call waits for nothing: nothing may come between the finding of its session and the turn. */
  #openTurn(opening: Opening, restored: Restored | undefined): void {
    const { call, input } = opening;
    const { sessions } = this.#parts;
    const parameters = input?.kind === 'session_start' ? input.parameters : {};
    const session =
      input?.kind === 'session_end'
        ? sessions.find(call, restored)
        : sessions.acquire({ ...call, parameters, opensWith: turnOpening(input), restored });
    if (!(session instanceof Promise)) {
      this.#begin(opening, session);
      return;
    }
    session
      .then((found) => {
        this.#begin(opening, found);
      })
      .catch((thrown: unknown) => {
        this.#unopened(opening, thrown);
      });
  }

  #begin({ call, input }: Opening, session: Session | undefined): void {
    if (this.#isOver) return;
    if (session === undefined) {
      this.#completeEmpty();
      return;
    }
    this.#session = session;
    this.#turn = session.beginTurn(this, input?.kind === 'session_end');
    // From here on the stream belongs to the agent that the session talks to (G-17).
    this.#first = { ...call, agentId: session.call.agentId };
    if (input !== undefined) this.#turn.push(input);
    this.#opened();
  }

  /** There is no session for the turn. A call that had to be turned away ends with a spoken line, once there is something to answer. */
  #unopened({ call, input }: Opening, thrown: unknown, isReplyOwed = false): void {
    const error = toAppError(thrown);
    // A caller of a call that is not known here any more is as lost as a new one.
    const isLineOwed = isReplyOwed || (input !== undefined && input.kind !== 'audio' && input.kind !== 'dtmf_start');
    if (!isTurnedAway(error) || !isLineOwed) {
      this.refuse(error);
      return;
    }
    const { sessions, refusals } = this.#parts;
    refusals.write('a new call, with a spoken line,', error, this.#ids());
    if (this.#isOver) return;
    if (input?.kind === 'session_end') this.#completeEmpty();
    else sessions.turnAway(this, error, call, input?.kind !== 'session_start');
  }

  /** Nobody is there to be spoken to (G-75). */
  #completeEmpty(): void {
    this.write({ kind: 'final', mode: 'wav', prompts: [], next: { kind: 'gone' } });
    this.complete();
  }

  // A connection that breaks ends its streams before it cancels them, in the same turn of the event loop (grpc-js 1.14): what the caller
  // was saying is not over then.
  readonly #ended = (): void => {
    setImmediate(() => {
      if (!this.#isOver) this.#halfClosed();
    });
  };

  #halfClosed(): void {
    if (this.#first === undefined) this.complete();
    else this.#turn?.halfClose();
  }

  // The platform cancelled the RPC, the connection broke, or grpc-js refused a message that is too large (it tells the
  // client and nobody else): nothing can be written any more (G-16).
  #gone(): void {
    if (!this.#close()) return;
    this.isForwarderLost = this.#isCut?.() === true;
    this.#parts.log.debug(this.#ids(), 'a stream was cut: cancelled, disconnected, or a message larger than allowed');
    this.#turn?.abort('hang_up');
  }

  #close(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#cancelTimer?.();
    this.#call.off('data', this.#received);
    this.#call.off('end', this.#ended);
    // What the platform still sends is read and dropped, or the stream would keep its place.
    this.#call.resume();
    if (this.#relay === undefined) this.#parts.admission.streamClosed();
    else this.#relay.cancel();
    return true;
  }

  #ids(): WireIds {
    return { trackingId: this.trackingId, conversationId: this.#first?.conversationId };
  }
}
