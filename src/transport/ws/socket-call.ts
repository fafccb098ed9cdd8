// One socket is one call (W-08), from its first message to its close: opens the session and passes the messages to
// it. Knows no HTTP.
import type { CancelTimer } from '../../base/clock.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { CLOSE_CODE, SOCKET_ERROR_CODES, type PlatformEnvelope } from '../../contract/envelope.ts';
import type { SessionEnd } from '../../dialog/ending.ts';
import type { Output, SpokenPrompt } from '../../dialog/output.ts';
import type { Session } from '../../session/session.ts';
import type { Sessions } from '../../session/sessions.ts';
import type { WireCall } from '../caller-request.ts';
import type { Gate, Visitor } from '../gate.ts';
import type { CallHomes } from '../homes.ts';
import { endsInTransfer, type Refusals, type WireIds } from '../refused.ts';
import { CONVERSATION_ANSWER, socketAnswer, type CloseCode, type SocketAnswer } from './close-codes.ts';
import { EnvelopeReader, type RequestEnvelope, type StartInput } from './envelope-reader.ts';
import { EnvelopeWriter, type EnvelopeWriterParts, type MessageSink } from './envelope-writer.ts';
import { TurnWriters, type SocketOutput } from './turn-writers.ts';
import type { SocketServerSettings } from './settings.ts';
import { TurnCutter } from './turn-cutter.ts';

/** Estimated speaking time of a text that is sent without audio, ms per character. */
const SPOKEN_MS_PER_CHAR = 80;

export interface CallSocket extends MessageSink {
  /** Closes the socket, and destroys it when the platform does not answer in time. */
  close(code: CloseCode, reason: string): void;
  /** Stops reading; messages already read may still arrive. */
  pause(): void;
  resume(): void;
}

export interface SocketCallParts extends EnvelopeWriterParts {
  readonly gate: Gate;
  readonly sessions: Sessions;
  readonly homes: CallHomes;
  readonly log: Logger;
  readonly refusals: Refusals;
  readonly settings: EnvelopeWriterParts['settings'] & Pick<SocketServerSettings, 'firstMessageTimeoutMs' | 'peerCloseMs'>;
}

type Phase =
  /** No message has come yet. */
  | 'waiting'
  /** The session is being looked up; nothing is read. */
  | 'opening'
  | 'talking'
  /** The farewell was sent or the caller has hung up: the platform must close the socket (W-28, W-29). */
  | 'ended'
  /** The socket is closed or closing. */
  | 'over';

/** One call, from the upgrade to the close of its socket. */
export class SocketCall implements SocketOutput {
  readonly trackingId: string;
  readonly #socket: CallSocket;
  readonly #parts: SocketCallParts;
  readonly #reader: EnvelopeReader;
  readonly #writer: EnvelopeWriter;
  readonly #turnWriters: TurnWriters;
  #phase: Phase = 'waiting';
  #session: Session | undefined;
  #cutter: TurnCutter | undefined;
  #cancelTimer: CancelTimer;
  #closeCode: CloseCode = CLOSE_CODE.normal;
  /** Who ended the call. */
  #endedBy: SessionEnd = 'caller';
  #hasDropped = false;
  #hasReported = false;

  /**
   * Starts the wait for the first message.
   *
   * @param visitor - the client that was checked at the upgrade.
   * @param trackingId - correlation id of the upgrade.
   */
  constructor(socket: CallSocket, visitor: Visitor, trackingId: string, parts: SocketCallParts) {
    this.trackingId = trackingId;
    this.#socket = socket;
    this.#parts = parts;
    this.#turnWriters = new TurnWriters(this, parts.clock);
    this.#reader = new EnvelopeReader(visitor, parts.gate);
    this.#writer = new EnvelopeWriter(socket, parts);
    this.#cancelTimer = parts.clock.after(parts.settings.firstMessageTimeoutMs, () => {
      this.fail(new AppError('turn_timeout', 'the socket was opened and no SESSION_START came'));
    });
  }

  // The socket's side.

  /** Handles a message. Never throws. */
  readonly received = (message: Buffer, isBinary: boolean): void => {
    if (this.#phase === 'over') return;
    try {
      if (isBinary) throw new AppError('unsupported_audio', 'a binary message came; only text is part of the contract');
      if (this.#phase === 'opening') this.#reader.keep(message);
      else this.#take(this.#reader.read(message));
    } catch (thrown) {
      this.fail(toAppError(thrown));
    }
  };

  /** Handles the close of the socket, by either side (W-2A). */
  readonly closed = (): void => {
    const phase = this.#phase;
    if (phase === 'over') return;
    this.#leave('caller');
    if (phase !== 'ended') this.#parts.log.debug(this.#ids(), 'a socket was closed during its call, or before it began');
  };

  // The engine's side (SocketOutput).

  deliver(output: Output): boolean {
    if (this.#phase !== 'talking') return true;
    if (!this.#writer.write(output)) {
      this.#refuseReader();
      return true;
    }
    if (output.kind === 'final' && (output.next.kind === 'transfer' || output.next.kind === 'end')) this.#saidLast(output.prompts);
    return !this.#writer.isFull;
  }

  onceDrained(listener: () => void): void {
    this.#writer.onceDrained(listener);
  }

  /** Ends the socket with an ERROR and the close code that belongs to it (W-43, W-44, W-46). */
  fail(error: AppError): void {
    this.#refuse(error, socketAnswer(error));
  }

  #take(envelope: PlatformEnvelope | undefined): void {
    switch (envelope?.type) {
      case undefined:
        this.#parts.refusals.ignored('an envelope of an unknown type', this.#ids());
        return;
      case 'VOICE_VA_REQUEST':
        if (this.#phase === 'waiting') this.#first(envelope);
        else if (this.#phase !== 'ended') this.#further(envelope);
        return;
      case 'PING':
        if (!this.#writer.pong(envelope)) this.#refuseReader();
        return;
      case 'ERROR':
        this.#reported(envelope.code);
        return;
      case 'PONG':
      // Nothing to do.
    }
  }

  #first(envelope: RequestEnvelope): void {
    this.#writer.conversationId = envelope.conversation_id;
    const { call, input } = this.#reader.first(envelope);
    this.#cancelTimer();
    this.#phase = 'opening';
    // While reading is paused, a lost connection would go unnoticed.
    this.#cancelTimer = this.#parts.clock.after(this.#parts.settings.firstMessageTimeoutMs, () => {
      this.fail(new AppError('internal', 'the call could not be opened in time'));
    });
    this.#socket.pause();
    this.#open(call, input).catch((thrown: unknown) => {
      this.fail(toAppError(thrown));
    });
  }

  #further(envelope: RequestEnvelope): void {
    const input = this.#reader.further(envelope);
    // An event of a later version of the contract (G-90).
    if (input === undefined) return;
    switch (input.kind) {
      case 'session_start':
        throw new AppError('bad_message', 'SESSION_START came a second time on one socket');
      case 'session_end':
        this.#end(CLOSE_CODE.normal, 0);
        this.#cutter?.hangUp('caller');
        return;
      default:
        // The conversation was restarted on another socket (G-28), or ended by a limit or by shutdown.
        if (this.#session?.isEnded === true) this.#refuseConversation();
        else if (this.#cutter?.push(input) === false) this.#dropped();
    }
  }

  async #open(call: WireCall, input: StartInput): Promise<void> {
    const session = await this.#acquire(call, input);
    if (session === undefined) return;
    // Meanwhile another socket has restarted or ended the conversation.
    if (session.isEnded) {
      this.#refuseConversation();
      return;
    }
    const cutter = new TurnCutter(session, () => this.#turnWriters.next());
    if (this.#phase !== 'opening') {
      // The socket was closed meanwhile.
      cutter.hangUp(this.#endedBy);
      return;
    }
    this.#session = session;
    this.#cutter = cutter;
    this.#reader.bound = { ...call, agentId: session.call.agentId };
    this.#cancelTimer();
    this.#phase = 'talking';
    cutter.push(input);
    this.#goOnReading();
  }

  /** The session of the call; undefined when the conversation is taken, the socket is gone, or the caller was transferred. */
  async #acquire(call: WireCall, { parameters }: StartInput): Promise<Session | undefined> {
    const { homes, sessions, refusals } = this.#parts;
    try {
      // Two sockets never share a session (W-08, W-2A): a known conversation restarts on a new socket (G-28, W-21).
      // W-30: no headers here, so nothing is awaited before the first audio (W-32).
      // Takes the call from a former home, because the home of a call is where its socket is.
      await homes.locate(call, { opensWith: 'start', isTied: true });
      return await sessions.acquire({ ...call, parameters, opensWith: 'start', mode: 'chunk', isTied: true });
    } catch (thrown) {
      const error = toAppError(thrown);
      if (!endsInTransfer(error)) throw error;
      refusals.write('a new call, with a spoken line,', error, this.#ids());
      if (this.#phase !== 'opening') return undefined;
      if (error.code === 'shutting_down') this.#closeCode = CLOSE_CODE.goingAway;
      this.#cancelTimer();
      this.#phase = 'talking';
      sessions.transferRefused(this.#turnWriters.next(), error, call);
      this.#goOnReading();
      return undefined;
    }
  }

  #goOnReading(): void {
    for (const message of this.#reader.takeKept()) this.received(message, false);
    this.#socket.resume();
  }

  /** Logs dropped input once, because a client must not fill the log. */
  #dropped(): void {
    if (!this.#hasDropped) this.#parts.log.warn(this.#ids(), 'an input was dropped: too many inputs of the call wait for their replies');
    this.#hasDropped = true;
  }

  #reported(code: string): void {
    const known = SOCKET_ERROR_CODES.find((candidate) => candidate === code) ?? 'unknown';
    if (!this.#hasReported) this.#parts.log.warn({ ...this.#ids(), reported: known }, 'the platform reports an error on a socket');
    this.#hasReported = true;
  }

  #saidLast(prompts: readonly SpokenPrompt[]): void {
    const { clock } = this.#parts;
    // G-7A: the platform acts when it has played everything.
    const playMs = Math.max(this.#session?.playout.remainingMs(clock.monotonicMs()) ?? 0, playTimeOf(prompts));
    this.#end(this.#session?.leaving === 'shutdown' ? CLOSE_CODE.goingAway : this.#closeCode, playMs);
    this.#cutter?.finish();
  }

  /** Sends nothing more. The platform closes the socket in time, or the server does. */
  #end(code: CloseCode, playMs: number): void {
    const { clock, settings } = this.#parts;
    this.#phase = 'ended';
    this.#turnWriters.shut();
    this.#cancelTimer = clock.after(playMs + settings.peerCloseMs, () => {
      this.#close(code, '', 'caller');
    });
  }

  #refuse(error: AppError, answer: SocketAnswer): void {
    // After the end of the call a failure needs no answer: the socket is about to close.
    if (this.#phase === 'over' || (this.#phase === 'ended' && error.code !== 'slow_reader')) return;
    const { refusals } = this.#parts;
    refusals.write('a socket', error, this.#ids());
    refusals.count(error);
    this.#writer.error(answer, answer.text ?? error.message);
    if (this.#session?.leaving === 'shutdown') this.#close(CLOSE_CODE.goingAway, answer.code, 'shutdown');
    else this.#close(answer.close, answer.code, 'failed');
  }

  #refuseConversation(): void {
    this.#refuse(new AppError('bad_message', 'the conversation has ended or continues on another socket'), CONVERSATION_ANSWER);
  }

  #refuseReader(): void {
    const { maxQueuedBytes: limitBytes } = this.#parts.settings;
    this.fail(new AppError('slow_reader', 'the client reads too slowly: too many bytes wait for it', { details: { limitBytes } }));
  }

  #close(code: CloseCode, reason: string, end: SessionEnd): void {
    const wasPaused = this.#phase === 'opening';
    this.#leave(end);
    this.#socket.close(code, reason);
    // While reading is paused, the platform's answer to the close would not be read.
    if (wasPaused) this.#socket.resume();
  }

  #leave(end: SessionEnd): void {
    this.#phase = 'over';
    this.#endedBy = end;
    this.#cancelTimer();
    this.#reader.takeKept();
    this.#cutter?.hangUp(end);
  }

  #ids(): WireIds {
    return { trackingId: this.trackingId, conversationId: this.#reader.bound?.conversationId };
  }
}

function playTimeOf(prompts: readonly SpokenPrompt[]): number {
  return prompts.reduce((ms, { audio, text }) => ms + (audio?.durationMs ?? (text ?? '').length * SPOKEN_MS_PER_CHAR), 0);
}
