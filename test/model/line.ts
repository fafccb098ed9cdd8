// One RPC as the real transport drives it (transport/grpc/process-caller-input), without a wire: the first message finds
// the session, later ones wait until it is there, and whatever comes back goes to the reference.
import { toAppError, type AppError } from '../../src/base/errors.ts';
import { turnOpening, type Input } from '../../src/dialog/input.ts';
import type { Output } from '../../src/dialog/output.ts';
import type { Restored } from '../../src/dialog/home.ts';
import type { TurnSink } from '../../src/session/ports.ts';
import type { Session } from '../../src/session/session.ts';
import type { Sessions } from '../../src/session/sessions.ts';
import type { Turn } from '../../src/session/turn/turn.ts';
import type { Event, Sound } from './program.ts';
import type { Reference } from './reference.ts';
import type { Rpc } from './rpc.ts';
import { FRAMES, soundOf } from './sounds.ts';

/** What a line is plugged into. */
export interface LineParts {
  readonly sessions: () => Sessions;
  /** What the home before has left, where the call lives nowhere. */
  readonly restored: () => Restored | undefined;
  readonly reference: Reference;
  readonly note: (line: () => string) => void;
  readonly wrong: (rule: string, what: string) => void;
  /** Looks at an output as the wire would show it. */
  readonly inspect: (output: Output) => void;
  /** Whether the engine may refuse an RPC with this code now. */
  readonly mayRefuse: (code: string) => boolean;
  /** Puts something between engine and line, to prove that mistakes of the engine are found. */
  readonly between: (sink: TurnSink) => TurnSink;
}

/** How every RPC names the call. */
export const OPENING = { organizationId: 'org', conversationId: 'call', agentId: '', vendorConfig: '', parameters: {} };

/** One RPC. */
export class Line implements TurnSink {
  readonly rpc: Rpc;
  turn: Turn | undefined;
  /** The session that took it. */
  session: Session | undefined;
  isHalfClosed = false;
  #isOver = false;
  #isFull = false;
  #hasFirst = false;
  #onDrain: (() => void) | undefined;
  /** Messages that came before the session was there; the platform's stream is paused meanwhile. */
  #early: (() => void)[] = [];
  readonly #parts: LineParts;

  constructor(parts: LineParts) {
    this.#parts = parts;
    this.rpc = parts.reference.opened();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get name(): string {
    return `RPC${String(this.rpc.id)}`;
  }

  /** The platform sends a message. */
  send(what: Sound | Event): void {
    if (this.#isOver || this.isHalfClosed) return;
    this.#parts.note(() => `${this.name} > ${WORDS[what]}`);
    if (!this.#hasFirst) {
      this.#hasFirst = true;
      this.#open(what);
    } else
      this.#later(() => {
        if (what === 'session_start' && this.#beginsAnew()) this.#open(what);
        else this.#push(what);
      });
  }

  halfClose(): void {
    if (this.#isOver || this.isHalfClosed) return;
    this.isHalfClosed = true;
    this.#parts.note(() => `${this.name} > half-close`);
    this.#later(() => {
      if (this.#isOver) return;
      this.#parts.reference.halfClose(this.rpc);
      this.turn?.halfClose();
      this.#parts.reference.settled();
    });
  }

  cancel(): void {
    if (this.#isOver) return;
    this.#parts.note(() => `${this.name} > cancelled`);
    this.#isOver = true;
    this.#parts.reference.broke(this.rpc);
    this.turn?.abort('hang_up');
    this.#parts.reference.settled();
  }

  stopReading(): void {
    this.#parts.note(() => `${this.name} > stops reading`);
    this.#isFull = true;
    this.rpc.isUnread = true;
  }

  read(): void {
    if (!this.#isFull) return;
    this.#parts.note(() => `${this.name} > reads again`);
    this.#isFull = false;
    this.#onDrain?.();
    this.#onDrain = undefined;
  }

  // The engine's side (TurnSink).

  write(output: Output): boolean {
    this.#parts.note(() => `${this.name} < ${outputText(output)}`);
    this.#parts.reference.wrote(this.rpc, output);
    this.#parts.inspect(output);
    return !this.#isFull;
  }

  onceDrained(listener: () => void): void {
    this.#onDrain = listener;
  }

  complete(): void {
    this.#parts.note(() => `${this.name} < complete`);
    this.#isOver = true;
    this.#parts.reference.completed(this.rpc);
  }

  fail(error: AppError): void {
    this.#parts.note(() => `${this.name} < error ${error.code}`);
    this.#isOver = true;
    this.#parts.reference.failed(this.rpc, error.code);
  }

  #later(work: () => void): void {
    if (this.turn === undefined) this.#early.push(work);
    else work();
  }

  #push(what: Sound | Event): void {
    if (this.#isOver || this.turn === undefined) return;
    const { reference } = this.#parts;
    if (isSound(what)) reference.sound(this.rpc, what);
    else reference.event(this.rpc, what);
    this.turn.push(inputOf(what, this.rpc.id));
    reference.settled();
  }

  /** As in the transport (G-28). */
  #beginsAnew(): boolean {
    const { turn } = this;
    if (this.#isOver || turn === undefined || !turn.takesInput || this.session?.takeStart() !== false) return false;
    this.turn = undefined;
    this.#parts.reference.starts(this.rpc);
    turn.abort('superseded');
    return true;
  }

  #open(first: Sound | Event): void {
    try {
      const session = this.#session(first);
      if (session instanceof Promise)
        session
          .then((found) => {
            this.#opened(first, found);
          })
          .catch(this.#refused);
      else this.#opened(first, session);
    } catch (thrown) {
      this.#refused(thrown);
    }
  }

  #opened(first: Sound | Event, session: Session | undefined): void {
    if (this.#isOver) return;
    if (session === undefined) {
      // G-74: there was no call to hang up.
      this.#parts.reference.broke(this.rpc);
      this.#isOver = true;
      return;
    }
    const turn = session.beginTurn(this.#parts.between(this), first === 'session_end');
    this.#parts.reference.began(this.rpc, turn.number, session.isEnded);
    this.turn = turn;
    this.session = session;
    this.#push(first);
    for (const work of this.#early.splice(0)) work();
  }

  #session(first: Sound | Event): Session | undefined | Promise<Session | undefined> {
    const sessions = this.#parts.sessions();
    const restored = this.#parts.restored();
    if (first === 'session_end') return sessions.find(OPENING, restored);
    if (first === 'session_start') this.#parts.reference.starts(this.rpc);
    return sessions.acquire({ ...OPENING, opensWith: turnOpening(inputOf(first, this.rpc.id)), restored });
  }

  readonly #refused = (thrown: unknown): void => {
    if (this.#isOver) return;
    const { code } = toAppError(thrown);
    this.#parts.note(() => `${this.name} < refused: ${code}`);
    this.#isOver = true;
    if (!this.#parts.mayRefuse(code)) this.#parts.wrong('G-12', `${this.name} was refused: ${code}`);
    this.#parts.reference.broke(this.rpc);
  };
}

const WORDS: Readonly<Record<Sound | Event, string>> = {
  speech: 'speech frames',
  word: 'one word',
  cough: 'a cough',
  pause: 'a short pause',
  silence: 'silence frames',
  session_start: 'SESSION_START',
  dtmf_start: 'START_OF_DTMF',
  dtmf: 'dtmf_input',
  no_input: 'NO_INPUT',
  custom_event: 'CUSTOM_EVENT',
  session_end: 'SESSION_END',
};

function isSound(what: Sound | Event): what is Sound {
  return what in FRAMES;
}

function inputOf(what: Sound | Event, id: number): Input {
  switch (what) {
    case 'session_start':
      return { kind: what, name: '', parameters: {} };
    case 'dtmf':
      return { kind: what, digits: String(id) };
    case 'custom_event':
      return { kind: what, name: `event-${String(id)}`, parameters: {} };
    case 'dtmf_start':
    case 'no_input':
    case 'session_end':
      return { kind: what };
    default:
      return { kind: 'audio', audio: soundOf(what, id) };
  }
}

function outputText(output: Output): string {
  switch (output.kind) {
    case 'input_started':
      return 'START_OF_INPUT';
    case 'input_ended':
      return 'END_OF_INPUT';
    case 'prompt':
      return `CHUNK "${output.prompt.text ?? ''}"${output.prompt.bargeIn ? '' : ' (not to be cut)'}`;
    case 'final': {
      const prompts = output.prompts.map(({ text, bargeIn }) => ` "${text ?? ''}"${bargeIn ? '' : ' (not to be cut)'}`).join('');
      return `FINAL${prompts} ${output.next.kind}`;
    }
  }
}
