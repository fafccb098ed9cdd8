// ProcessCallerInput: one RPC is one turn. Checks the token before the first read, binds every message to the token's
// organization and to the first message's call, and lets the engine do the rest.
import { Metadata, type ServerDuplexStream } from '@grpc/grpc-js';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { AudioFrames } from '../../contract/audio-frames.ts';
import type { EncodedResponse, MediaRequest } from '../../contract/grpc.ts';
import { turnOpening, type Input } from '../../dialog/input.ts';
import type { Output } from '../../dialog/output.ts';
import { refusedStream, type Admission } from '../../session/admission.ts';
import type { TurnSink } from '../../session/ports.ts';
import type { Session } from '../../session/session.ts';
import type { Sessions } from '../../session/sessions.ts';
import type { Turn } from '../../session/turn.ts';
import type { Gate, Visitor } from '../gate.ts';
import type { CallMetadata } from './call-metadata.ts';
import { audioFromWire, callFromWire, inputFromWire } from './from-wire.ts';
import type { WireCall } from '../caller-request.ts';
import type { Asked, CallHomes, Located, Restored } from '../homes.ts';
import { Outgoing } from '../outgoing.ts';
import { promptTexts } from '../prompt-texts.ts';
import { isTurnedAway, type Refusals, type WireIds } from '../refused.ts';
import { grpcStatus } from './status.ts';
import type { StreamCheck } from './stream-check.ts';
import type { ToWire } from './to-wire.ts';
import { UNDECODABLE } from './undecodable.ts';

/** Trailer in which a test server names the texts of its prompts: a JSON array in UTF-8. */
const PROMPT_TEXT_TRAILER = 'parley-prompt-text-bin';
/** Trailer in which a test server says that a reply was its apology for a bot that failed. */
const APOLOGY_TRAILER = 'parley-apology';

/**
 * Turns of the event loop after which grpc-js has handed the last message and the status to the system. Two were enough for a
 * status to outlive a process that was killed then (grpc-js 1.14, measured 2026-11-22); it tells nobody when it has.
 */
const SENT_AFTER_TURNS = 3;

/** The RPC as grpc-js hands it over: messages as they came, because most of them need no decoding. */
export type CallerCall = ServerDuplexStream<Buffer, EncodedResponse>;

/** What the RPC is made of. */
export interface CallerInputParts {
  readonly decode: (bytes: Buffer) => MediaRequest | typeof UNDECODABLE;
  readonly gate: Gate;
  readonly tokens: StreamCheck;
  readonly sessions: Sessions;
  /** Where calls live. */
  readonly homes: CallHomes;
  readonly toWire: ToWire;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metadata: CallMetadata;
  /** Longest wait for the first message, ms. */
  readonly firstMessageTimeoutMs: number;
  /** Counts streams. */
  readonly admission: Admission;
  readonly refusals: Refusals;
  /** Most bytes that may wait for the client to read them (G-91). */
  readonly maxQueuedBytes: number;
  /** Name prompt texts in the trailers; for tests only. */
  readonly isRevealingText: boolean;
}

/** The handler of the RPC. */
export function createProcessCallerInput(parts: CallerInputParts): (call: CallerCall) => void {
  return (call) => {
    const isWelcome = parts.admission.streamOpened();
    const stream = new CallerStream(call, parts);
    if (isWelcome) stream.start();
    else stream.refuse(refusedStream());
  };
}

/** The message that opens a turn. */
interface Opening {
  readonly call: WireCall;
  readonly input: Input | undefined;
}

/** One RPC from its first header to its status. */
class CallerStream implements TurnSink {
  readonly trackingId: string;
  readonly #call: CallerCall;
  readonly #parts: CallerInputParts;
  readonly #outgoing: Outgoing<EncodedResponse>;
  readonly #texts: string[] = [];
  #isApology = false;
  readonly #frames = new AudioFrames();
  #visitor: Visitor = { kind: 'unchecked' };
  #first: WireCall | undefined;
  #session: Session | undefined;
  #turn: Turn | undefined;
  #cancelTimer: CancelTimer | undefined;
  #isOver = false;

  constructor(call: CallerCall, parts: CallerInputParts) {
    this.#call = call;
    this.#parts = parts;
    this.#outgoing = new Outgoing(call, parts.maxQueuedBytes);
    this.trackingId = parts.metadata.trackingId(call.metadata);
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

  // The engine's side (TurnSink).

  write(output: Output): boolean {
    if (this.#isOver) return true;
    for (const response of this.#parts.toWire.responses(output)) {
      if (this.#outgoing.send(response)) continue;
      this.refuse(
        new AppError('slow_reader', 'more waits for the client than may', { details: { limitBytes: this.#parts.maxQueuedBytes } }),
      );
      return true;
    }
    if (this.#parts.isRevealingText) this.#remember(output);
    return !this.#outgoing.isFull;
  }

  onceDrained(listener: () => void): void {
    this.#outgoing.onceDrained(listener);
  }

  complete(): void {
    if (!this.#close()) return;
    const hasTexts = this.#texts.some((text) => text !== '');
    if (!hasTexts && !this.#isApology) {
      this.#call.end();
      return;
    }
    const trailers = new Metadata();
    if (hasTexts) trailers.set(PROMPT_TEXT_TRAILER, Buffer.from(JSON.stringify(this.#texts)));
    if (this.#isApology) trailers.set(APOLOGY_TRAILER, 'true');
    this.#call.end(trailers);
  }

  #remember(output: Output): void {
    this.#texts.push(...promptTexts(output));
    this.#isApology ||= output.kind === 'final' && output.isApology === true;
  }

  fail(error: AppError): void {
    if (!this.#close()) return;
    this.#parts.refusals.count(error);
    this.#call.emit('error', grpcStatus(error));
  }

  onceSent(listener: () => void): void {
    let left = SENT_AFTER_TURNS;
    const next = (): void => {
      left -= 1;
      if (left < 0) listener();
      else setImmediate(next);
    };
    next();
  }

  readonly #admitted = (visitor: Visitor): void => {
    if (this.#isOver) return;
    this.#visitor = visitor;
    this.#cancelTimer = this.#parts.clock.after(this.#parts.firstMessageTimeoutMs, () => {
      this.refuse(new AppError('turn_timeout', 'the stream was opened and no message came'));
    });
    this.#call.on('data', this.#received);
    this.#call.on('end', this.#halfClosed);
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
      this.#open({ call, input });
    } else {
      demandSameCall(this.#first, call);
      if (input?.kind === 'session_start' && this.#beginsAnew()) this.#open({ call, input });
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
    this.#call.pause();
    const failed = (thrown: unknown): void => {
      this.#unopened(opening, thrown);
    };
    try {
      const located = this.#parts.homes.locate(opening.call, { opensWith: opensWith(opening.input) });
      if (!(located instanceof Promise)) this.#located(opening, located);
      else located.then((found) => { this.#located(opening, found); }).catch(failed);
    } catch (thrown) {
      failed(thrown);
    }
  }

  #located(opening: Opening, located: Located): void {
    if (this.#isOver) return;
    if (located.kind !== 'here')
      throw new AppError('home_unreachable', 'the call lives in another server, and none can be reached from here');
    this.#openTurn(opening, located.restored).then(
      () => {
        this.#call.resume();
      },
      (thrown: unknown) => {
        this.#unopened(opening, thrown);
      },
    );
  }

  async #openTurn({ call, input }: Opening, _restored: Restored | undefined): Promise<void> {
    const { sessions } = this.#parts;
    const isHangUp = input?.kind === 'session_end';
    const parameters = input?.kind === 'session_start' ? input.parameters : {};
    const session = isHangUp ? await sessions.find(call) : await sessions.acquire({ ...call, parameters, opensWith: turnOpening(input) });
    if (this.#isOver) return;
    if (session === undefined) {
      this.#completeEmpty();
      return;
    }
    this.#session = session;
    this.#turn = session.beginTurn(this, isHangUp);
    // From here on the stream belongs to the agent that the session talks to (G-17).
    this.#first = { ...call, agentId: session.call.agentId };
    if (input !== undefined) this.#turn.push(input);
  }

  /** There is no session for the turn. A call that had to be turned away ends with a spoken line, once there is something to answer. */
  #unopened({ input }: Opening, thrown: unknown): void {
    const error = toAppError(thrown);
    // A caller of a call that is not known here any more is as lost as a new one.
    const isLineOwed = input !== undefined && input.kind !== 'audio' && input.kind !== 'dtmf_start';
    if (!isTurnedAway(error) || !isLineOwed) {
      this.refuse(error);
      return;
    }
    const { sessions, refusals } = this.#parts;
    refusals.write('a new call, with a spoken line,', error, this.#ids());
    if (this.#isOver) return;
    if (input.kind === 'session_end') this.#completeEmpty();
    else sessions.turnAway(this, error, input.kind !== 'session_start');
  }

  /** Nobody is there to be spoken to (G-75). */
  #completeEmpty(): void {
    this.write({ kind: 'final', mode: 'wav', prompts: [], next: { kind: 'gone' } });
    this.complete();
  }

  readonly #halfClosed = (): void => {
    if (this.#first === undefined) this.complete();
    else this.#turn?.halfClose();
  };

  // The platform cancelled the RPC, the connection broke, or grpc-js refused a message that is too large (it tells the
  // client and nobody else): nothing can be written any more (G-16).
  #gone(): void {
    if (!this.#close()) return;
    this.#parts.log.debug(this.#ids(), 'a stream was cut: cancelled, disconnected, or a message larger than allowed');
    this.#turn?.abort('hang_up');
  }

  #close(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#cancelTimer?.();
    this.#call.off('data', this.#received);
    this.#call.off('end', this.#halfClosed);
    // What the platform still sends is read and dropped, or the stream would keep its place.
    this.#call.resume();
    this.#parts.admission.streamClosed();
    return true;
  }

  #ids(): WireIds {
    return { trackingId: this.trackingId, conversationId: this.#first?.conversationId };
  }
}

/** What a turn opens with, as the homes of calls want to know it. */
function opensWith(first: Input | undefined): Asked['opensWith'] {
  return first?.kind === 'session_end' ? 'end' : turnOpening(first);
}

function demandSameCall(opened: WireCall, message: WireCall): void {
  if (message.conversationId !== opened.conversationId || message.organizationId !== opened.organizationId) {
    throw new AppError('bad_message', 'conversation_id and customer_org_id must stay the same on one stream');
  }
  if (message.agentId !== '' && message.agentId !== opened.agentId) {
    throw new AppError('agent_conflict', 'virtual_agent_id must stay the same on one stream');
  }
}
