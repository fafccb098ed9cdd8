// One forwarded turn: passes bytes between the platform's stream and the home of the call, one attempt at a time, and keeps
// the input for a next home. Of messages to the platform it reads only the kind, of the caller's messages nothing.
import { randomUUID } from 'node:crypto';
import type { ServerDuplexStream } from '@grpc/grpc-js';
import { pause } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { responseKind } from '../../contract/response-kind.ts';
import type { CallKey } from '../../dialog/call.ts';
import type { Asked, ForwardOutcome, Located, LocatedAtPeer, Peer } from '../../dialog/home.ts';
import type { CallHomes } from '../homes.ts';
import { Outgoing } from '../outgoing.ts';
import { Attempt, OK, type AttemptEnd, type AttemptOwner, type HomeStatus } from './attempt.ts';
import { framed } from './frames.ts';
import { forwardHeaders, type SentEvent } from './headers.ts';
import { HeldInput } from './held-input.ts';
import type { Links } from './links.ts';
import { reportDelivery } from './peer-service.ts';

/** Most attempts for one turn. */
const MAX_ATTEMPTS = 5;
/** Pause before the third attempt, ms; doubled before each further one. No pause after a refused connection. */
const PAUSE_MS = 50;
/** Most input that is kept, bytes: sixteen seconds of telephone audio. */
const MAX_HELD_BYTES = 131_072;

/** The input of a forwarded turn that this process answers after all. */
export interface HeldTurn {
  readonly id: string;
  /** The messages after the first one, as far as they were kept. */
  readonly messages: readonly Buffer[];
  readonly sentEvents: ReadonlySet<SentEvent>;
}

/** A turn to forward. Exactly one of its three methods is called, unless the turn is cancelled. */
export interface ForwardableTurn {
  /** Until a method is called, only the relay pauses, resumes and writes this stream; whoever reads it passes the messages on. */
  readonly stream: ServerDuplexStream<Buffer, Buffer>;
  readonly call: CallKey;
  /** The platform's correlation id; see {@link trackingIdOf}. */
  readonly trackingId: string;
  readonly asked: Asked;
  /** The message that names the call. */
  readonly first: Buffer;
  /** The home has ended the turn. @param onSent - called when the status was sent. */
  onStatus(status: HomeStatus, onSent: () => void): void;
  /** The call now lives here, or nowhere. */
  onHome(located: Located, held: HeldTurn): void;
  /** No home could take the turn. @param isReplyDue - whether the caller waits for a reply. */
  onFailed(error: AppError, isReplyDue: boolean): void;
}

export interface RelayParts {
  readonly homes: CallHomes;
  readonly links: Links;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when the home first answers, ms after forwarding. */
  readonly onFirstAnswer: (afterMs: number) => void;
  readonly onOver: (outcome: ForwardOutcome, bytes: ForwardedBytes) => void;
  /** Called when the turn is finished and the delivery of its reply was reported. */
  readonly onDone: (relay: Relay) => void;
}

/** Message bytes without frame prefixes. */
export interface ForwardedBytes {
  readonly toHome: number;
  readonly toPlatform: number;
}

/** One per forwarded turn. */
export class Relay implements AttemptOwner {
  readonly #turn: ForwardableTurn;
  readonly #parts: RelayParts;
  readonly #id = randomUUID();
  readonly #held: HeldInput;
  readonly #outgoing: Outgoing<Buffer>;
  readonly #sentEvents = new Set<SentEvent>();
  readonly #stopped = new AbortController();
  readonly #beganAtMs: number;
  #attempt: Attempt | undefined;
  #attempts = 0;
  #isHalfClosed = false;
  #hasAnswer = false;
  /** The last message of the reply was passed to the platform's stream (G-14). */
  #isReplied = false;
  #toHome = 0;
  #toPlatform = 0;

  /** Starts the first attempt. */
  constructor(turn: ForwardableTurn, located: LocatedAtPeer, parts: RelayParts) {
    this.#turn = turn;
    this.#parts = parts;
    this.#held = new HeldInput(framed(turn.first), MAX_HELD_BYTES);
    this.#toHome = turn.first.length;
    // No limit, because a full stream pauses the stream from the home instead.
    this.#outgoing = new Outgoing(turn.stream, Infinity);
    this.#beganAtMs = parts.clock.monotonicMs();
    turn.stream.pause();
    this.#forward(located);
  }

  /** Takes a message of the platform. */
  push(message: Buffer): void {
    const frame = this.#held.add(message);
    this.#toHome += message.length;
    if (this.#attempt?.isOpen === true && !this.#attempt.write(frame)) this.#turn.stream.pause();
  }

  /** The platform half-closed. */
  halfClose(): void {
    this.#isHalfClosed = true;
    this.#attempt?.halfClose();
  }

  /** The platform cancelled the turn (G-16). */
  cancel(): void {
    this.#attempt?.cancel();
    this.#leave('cancelled');
  }

  /** An instance is dead. */
  peerDied(instanceId: string): void {
    if (this.#attempt?.home.id === instanceId) this.#attempt.giveUp();
  }

  // The home's side (AttemptOwner).

  onOpen(): void {
    const attempt = this.#attempt;
    let isDrained = true;
    for (const frames of this.#held.body) isDrained = attempt?.write(frames) !== false;
    if (this.#isHalfClosed) attempt?.halfClose();
    else if (isDrained) this.#turn.stream.resume();
  }

  onMessage(message: Buffer): void {
    this.#answered();
    if (!this.#isReplied) {
      const kind = responseKind(message);
      if (kind === 'final') this.#isReplied = true;
      else if (kind !== 'part') this.#sentEvents.add(kind);
    }
    this.#toPlatform += message.length;
    this.#outgoing.send(message);
    if (!this.#outgoing.isFull) return;
    this.#attempt?.pause();
    this.#outgoing.onceDrained(() => {
      this.#attempt?.resume();
    });
  }

  onDrained(): void {
    this.#turn.stream.resume();
  }

  onEnd(end: AttemptEnd): void {
    const home = this.#attempt?.home;
    this.#attempt = undefined;
    if (end.kind === 'status') {
      this.#answered();
      this.#finish(end.status, home);
      return;
    }
    if (home !== undefined && end.kind !== 'unsent') this.#parts.homes.lost(this.#turn.call, home, end.kind);
    this.#parts.log.debug({ peer: home?.id, why: end.kind, attempt: this.#attempts, turn: this.#id }, 'a forwarded turn came back');
    // Nothing more to do: another home would repeat the whole reply.
    if (this.#isReplied) this.#finish({ code: OK, details: '' });
    else void this.#moveOn(end.kind !== 'refused');
  }

  #forward({ home, isTaking }: LocatedAtPeer): void {
    const { stream } = this.#turn;
    this.#attempts += 1;
    const headers = forwardHeaders(stream.metadata, { to: home.id, turnId: this.#id, isTaking, sentEvents: this.#sentEvents });
    const path = { ':path': stream.getPath(), ...timeout(Number(stream.getDeadline()), this.#parts.clock.nowMs()) };
    this.#attempt = new Attempt(this.#parts.links, home, { ...headers, ...path }, this);
  }

  /** Looks up the home again and starts the next attempt. Keeps input meanwhile. */
  async #moveOn(isToWait: boolean): Promise<void> {
    const { homes, clock } = this.#parts;
    this.#turn.stream.pause();
    try {
      if (this.#attempts >= MAX_ATTEMPTS) throw new AppError('home_unreachable', 'no home of the call answered its turn');
      if (isToWait && this.#attempts > 1) await pause(PAUSE_MS * 2 ** (this.#attempts - 2), clock, this.#stopped.signal);
      if (this.#hasEnded()) return;
      const asked = homes.locate(this.#turn.call, this.#turn.asked);
      const located = asked instanceof Promise ? await asked : asked;
      if (this.#hasEnded()) return;
      if (located.kind === 'at_peer') this.#forward(located);
      else this.#comeHome(located);
    } catch (thrown) {
      if (this.#hasEnded()) return;
      const isReplyDue = this.#sentEvents.has('input_ended') || this.#isHalfClosed;
      this.#leave('failed');
      this.#turn.onFailed(toAppError(thrown), isReplyDue);
    }
  }

  #comeHome(located: Located): void {
    this.#leave('taken_over');
    this.#turn.onHome(located, { id: this.#id, messages: this.#held.messages, sentEvents: this.#sentEvents });
  }

  #finish(status: HomeStatus, home?: Peer): void {
    this.#over(status.code === OK ? 'completed' : 'error');
    this.#turn.onStatus(status, () => {
      void this.#report(home).finally(() => {
        this.#parts.onDone(this);
      });
    });
  }

  /** Reports the delivery. A home takes back a reply without such a report, so the links must stay open until then. */
  async #report(home: Peer | undefined): Promise<void> {
    if (home !== undefined && this.#isReplied) await reportDelivery(this.#parts.links, home, this.#id, this.#parts.clock);
  }

  /** Ends the turn without a status from the home. */
  #leave(outcome: ForwardOutcome): void {
    if (this.#hasEnded()) return;
    this.#over(outcome);
    this.#parts.onDone(this);
  }

  #answered(): void {
    if (this.#hasAnswer) return;
    this.#hasAnswer = true;
    this.#parts.onFirstAnswer(this.#parts.clock.monotonicMs() - this.#beganAtMs);
  }

  #hasEnded(): boolean {
    return this.#stopped.signal.aborted;
  }

  #over(outcome: ForwardOutcome): void {
    if (this.#hasEnded()) return;
    this.#stopped.abort();
    this.#parts.onOver(outcome, { toHome: this.#toHome, toPlatform: this.#toPlatform });
  }
}

/** Largest value of the header. */
const MAX_TIMEOUT_MS = 99_999_999;

/** What is left of the platform's deadline, as a header. @param deadlineMs - ms since the epoch; Infinity: none. */
function timeout(deadlineMs: number, nowMs: number): Readonly<Record<string, string>> {
  if (!Number.isFinite(deadlineMs)) return {};
  return { 'grpc-timeout': `${String(Math.min(Math.max(Math.ceil(deadlineMs - nowMs), 1), MAX_TIMEOUT_MS))}m` };
}
