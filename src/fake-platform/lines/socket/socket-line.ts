// The line of a call over WebSocket: one socket from the first turn to the end of the call (W-08). Sends the inputs of turns, silence when
// no turn sends audio, and pings. Passes answers to the turns; socket-turns.ts decides to which one.
import { AppError } from '../../../base/errors.ts';
import { CLOSE_CODE, type ServerEnvelope } from '../../../contract/envelope.ts';
import type { PlatformProfile } from '../../../contract/profile.ts';
import type { Failure } from '../failure.ts';
import type { Line, LineEnd, LineTurn, PlatformInput, TurnListener } from '../line.ts';
import { CallClock } from '../../caller/call-clock.ts';
import { FramePace } from '../../caller/frame-pace.ts';
import { SILENT_FRAME } from '../../caller/microphone.ts';
import { FRAME_MS } from '../../../speech/audio-format.ts';
import type { CallIdentity } from '../to-wire.ts';
import { PLATFORM_NO_INPUT_MS, SOCKET_RULES, type Breach } from '../wire-rules.ts';
import { answerFromEnvelope, headBreach, readAnswerEnvelope, revealedIn } from './from-envelope.ts';
import { KeepAlive } from './keep-alive.ts';
import { SocketClient, type SocketOptions } from './socket-client.ts';
import { failureOfError } from './socket-failure.ts';
import type { SocketTurn } from './socket-turn.ts';
import { SocketTurns } from './socket-turns.ts';
import { EnvelopeWriter } from './to-envelope.ts';

/** How to reach a server, and what the platform does on its own. */
export interface SocketLineOptions extends SocketOptions {
  /** Silence before no-input where the server names no time (W-14), ms; 0: never. Default {@link PLATFORM_NO_INPUT_MS}. */
  readonly noInputMs?: number;
}

/** How long the platform keeps the socket open after SESSION_END, ms, to see whether the server answers (W-28). */
const HANG_UP_MS = 300;
const COMPLETED: LineEnd = { kind: 'completed', promptTexts: [] };

/** The line of one call. Dials at its first turn or in `dial`; `close` must be called. */
export class SocketLine implements Line {
  readonly rules = SOCKET_RULES;
  readonly #options: SocketLineOptions;
  readonly #writer: EnvelopeWriter;
  readonly #conversationId: string;
  readonly #turns: SocketTurns;
  /** Paces silence while nobody speaks: caller audio never pauses (W-23). */
  readonly #silence: FramePace;
  readonly #pings: KeepAlive;
  readonly #paused = new Set<SocketTurn>();
  /** Messages that were sent before the socket was open. */
  #unsent: string[] = [];
  #client: SocketClient | undefined;
  #failure: Failure | undefined;
  #isOpen = false;
  #hasBegun = false;
  #isLeaving = false;
  #isClosed = false;
  #isDropped = false;
  #lastSeq = 0;
  #cancelHangUp: () => void = () => undefined;
  #reportEnd: (failure: Failure) => void = () => undefined;
  #unreported: Breach[] = [];
  #found: (breach: Breach) => void = (breach) => this.#unreported.push(breach);

  /** @throws RangeError when the profile names no paths for WebSockets. */
  constructor(options: SocketLineOptions, identity: CallIdentity) {
    const { clock, connectLimitMs } = options;
    this.#options = options;
    this.#conversationId = identity.conversationId;
    this.#writer = new EnvelopeWriter(identity, clock);
    const found = (breach: Breach): void => this.#found(breach);
    this.#turns = new SocketTurns(() => clock.monotonicMs(), found);
    this.#silence = new FramePace(new CallClock(clock), () => {
      if (this.#isOpen) this.#send(this.#writer.request({ kind: 'audio', audio: SILENT_FRAME }));
    });
    const ping = (): number => {
      const { text, seq } = this.#writer.ping();
      this.#send(text);
      return seq;
    };
    this.#pings = new KeepAlive({ clock, limitMs: connectLimitMs, ping, found });
  }

  /** Dials if this has not happened. Resolves when the socket is open or cannot be opened; the turns report why. */
  dial(): Promise<void> {
    return this.#dialled().settled;
  }

  open(listener: TurnListener): LineTurn {
    if (!this.#isClosed) this.#dialled();
    const turn = this.#turns.open({
      answered: (answer) => listener.answered(answer),
      ended: (end) => {
        this.#paused.delete(turn);
        this.#readOn();
        listener.ended(end);
      },
    });
    return {
      send: (input) => {
        if (!turn.isOver && !turn.isHalfClosed && this.#failure === undefined) this.#take(turn, input);
      },
      halfClose: () => {
        this.#turns.halfClose(turn);
        this.#fill();
      },
      cancel: () => {
        if (turn.isOver) return;
        this.#turns.cancel(turn);
        this.#fill();
      },
      pauseReading: () => {
        if (turn.isOver) return;
        this.#paused.add(turn);
        this.#client?.pause();
        this.#pings.pause();
      },
      resumeReading: () => {
        this.#paused.delete(turn);
        this.#readOn();
      },
    };
  }

  watch(found: (breach: Breach) => void): void {
    for (const breach of this.#unreported.splice(0)) found(breach);
    this.#found = found;
  }

  watchEnd(onEnd: (failure: Failure) => void): void {
    this.#reportEnd = onEnd;
  }

  close(): void {
    void this.closed();
  }

  /** Closes the socket. Resolves when the connection is gone. */
  closed(): Promise<void> {
    this.#isClosed = true;
    this.#quieten();
    return this.#client?.close() ?? Promise.resolve();
  }

  /** Drops the socket without a close frame. */
  drop(): void {
    this.#isDropped = true;
    this.#isClosed = true;
    this.#quieten();
    this.#client?.drop();
  }

  break(): void {
    this.#isDropped = true;
    this.#isClosed = true;
    this.#quieten();
    this.#client?.cut();
  }

  #dialled(): SocketClient {
    this.#client ??= new SocketClient(this.#options, socketPaths(this.#options).voicePath, {
      opened: () => {
        this.#isOpen = true;
        for (const text of this.#unsent.splice(0)) this.#client?.send(text);
      },
      received: (text) => this.#received(text),
      closed: (closeCode, failure) => this.#gone(closeCode, failure),
    });
    return this.#client;
  }

  #take(turn: SocketTurn, input: PlatformInput): void {
    this.#turns.sent(turn, input);
    if (input.kind === 'audio_format' || input.kind === 'audio') this.#silence.stop();
    // The format needs no message of its own: on a WebSocket, every frame names it.
    if (input.kind !== 'audio_format') this.#send(this.#writer.request(input));
    if (input.kind === 'session_start') {
      this.#hasBegun = true;
      this.#fill();
      this.#pings.start();
    }
    if (input.kind === 'session_end') this.#leave();
  }

  /** Closes the socket soon after the caller has hung up (W-28). */
  #leave(): void {
    this.#isLeaving = true;
    this.#quieten();
    this.#cancelHangUp = this.#options.clock.after(HANG_UP_MS, () => {
      void this.#client?.close();
    });
  }

  /** Sends silence whenever no turn sends the caller's audio, from the session start on. */
  #fill(): void {
    const isOver = this.#isClosed || this.#isLeaving || this.#failure !== undefined || this.#turns.hasEnded;
    if (this.#hasBegun && !isOver) this.#silence.start(FRAME_MS);
  }

  #send(text: string): void {
    if (this.#isOpen) this.#client?.send(text);
    else if (!this.#isClosed) this.#unsent.push(text);
  }

  #readOn(): void {
    if (this.#paused.size > 0) return;
    this.#client?.resume();
    this.#pings.resume();
  }

  #received(text: string): void {
    if (this.#isClosed || this.#failure !== undefined) return;
    try {
      const envelope = readAnswerEnvelope(text, this.#found);
      this.#checkHead(envelope, envelope.hasSeq);
      this.#takeEnvelope(envelope);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.#fail({ code: 'garbage', message: `an answer cannot be read: ${error.message}` });
    }
  }

  #takeEnvelope(envelope: ServerEnvelope): void {
    switch (envelope.type) {
      case 'VOICE_VA_RESPONSE': {
        const answer = answerFromEnvelope(envelope.payload, this.#options.noInputMs ?? PLATFORM_NO_INPUT_MS);
        this.#turns.take(answer, revealedIn(envelope.metadata));
        if (this.#turns.hasEnded) this.#quieten();
        return;
      }
      case 'ERROR':
        this.#fail(failureOfError(envelope));
        return;
      case 'PING':
        this.#send(this.#writer.pong(envelope.seq));
        return;
      case 'PONG':
        this.#pings.answered(envelope.seq);
    }
  }

  #checkHead(envelope: ServerEnvelope, hasSeq: boolean): void {
    const breach = headBreach(envelope, this.#conversationId);
    if (breach !== undefined) this.#found(breach);
    // A PONG repeats the platform's own `seq` (W-41).
    if (envelope.type === 'PONG' || !hasSeq) return;
    if (envelope.seq <= this.#lastSeq) {
      const message = `seq ${String(envelope.seq)} came after ${String(this.#lastSeq)}; it has to rise with every message`;
      this.#found({ code: 'sequence_broken', rule: 'W-10', message });
    }
    this.#lastSeq = Math.max(this.#lastSeq, envelope.seq);
  }

  /** Breaks every turn and closes the socket: the call cannot continue. */
  #fail(failure: Failure): void {
    this.#failure ??= failure;
    this.#quieten();
    const isWanted = this.#isLeaving || this.#turns.hasEnded;
    this.#turns.close({ kind: 'broken', failure: this.#failure });
    if (!isWanted) this.#reportEnd(this.#failure);
    void this.#client?.close();
  }

  #gone(closeCode: number, failure: Failure): void {
    this.#quieten();
    this.#cancelHangUp();
    const isWanted = this.#isLeaving || this.#turns.hasEnded;
    if (isWanted && !this.#isDropped && this.#failure === undefined) this.#checkClose(closeCode);
    const isReported = this.#failure !== undefined;
    this.#failure ??= failure;
    this.#turns.close(isWanted ? COMPLETED : { kind: 'broken', failure: this.#failure });
    if (!isWanted && !isReported && !this.#isClosed) this.#reportEnd(this.#failure);
  }

  /** Checks how the server closed at the end of the call, or answered our close. */
  #checkClose(closeCode: number): void {
    const { hasEnded } = this.#turns;
    // A server that stops soon may close with 1001 after its farewell.
    if (closeCode === CLOSE_CODE.normal || (hasEnded && closeCode === CLOSE_CODE.goingAway)) return;
    if (!this.#isClosed) {
      const message = `the socket was closed with ${String(closeCode)} after the end of the call, and not with 1000`;
      this.#found({ code: 'close_code_wrong', rule: 'W-44', message });
    } else if (hasEnded) {
      const message = `the close at the end of the call was answered with ${String(closeCode)}, and not with 1000`;
      this.#found({ code: 'close_code_wrong', rule: 'W-29', message });
    }
  }

  #quieten(): void {
    this.#silence.stop();
    this.#pings.stop();
    if (this.#isClosed) this.#cancelHangUp();
  }
}

/** The paths at which a server of the profile serves its sockets. @throws RangeError when the profile names none. */
export function socketPaths({ profile }: SocketLineOptions): NonNullable<PlatformProfile['websocket']> {
  if (profile.websocket === undefined) throw new RangeError('the platform profile names no paths of a WebSocket (section "websocket")');
  return profile.websocket;
}
