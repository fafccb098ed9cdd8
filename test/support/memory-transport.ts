// A transport without a wire: a sink that keeps what a turn was told to deliver, and a caller that drives the engine
// through the same two doors as the real transports.
import type { AppError } from '../../src/base/errors.ts';
import { turnOpening, type Input } from '../../src/dialog/input.ts';
import type { FinalNext, Output } from '../../src/dialog/output.ts';
import type { TurnSink } from '../../src/session/ports.ts';
import type { CallOpening, Sessions } from '../../src/session/sessions.ts';
import type { Turn } from '../../src/session/turn/turn.ts';

/** Everything one turn delivered, and how it ended. */
export class MemorySink implements TurnSink {
  readonly outputs: Output[] = [];
  end: 'open' | 'complete' | AppError = 'open';
  /** Set to true to play a client that does not read. */
  isFull = false;
  #onDrain: (() => void) | undefined;
  readonly #ended: Promise<void>;
  #resolveEnded: () => void = () => undefined;

  constructor() {
    this.#ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  write(output: Output): boolean {
    if (this.end !== 'open') throw new Error('G-14: written after completion');
    this.outputs.push(output);
    return !this.isFull;
  }

  onceDrained(listener: () => void): void {
    this.#onDrain = listener;
  }

  drain(): void {
    this.isFull = false;
    this.#onDrain?.();
  }

  complete(): void {
    if (this.end !== 'open') throw new Error('G-13: completed twice');
    this.end = 'complete';
    this.#resolveEnded();
  }

  fail(error: AppError): void {
    if (this.end !== 'open') throw new Error('G-13: ended twice');
    this.end = error;
    this.#resolveEnded();
  }

  /** Resolves when the turn is over. */
  ended(): Promise<void> {
    return this.#ended;
  }

  /** The texts of all prompts, in order. */
  get texts(): readonly (string | undefined)[] {
    return this.outputs.flatMap((output) =>
      output.kind === 'prompt' ? [output.prompt.text] : output.kind === 'final' ? output.prompts.map((prompt) => prompt.text) : [],
    );
  }

  /** Kinds of all outputs, in order. */
  get kinds(): readonly Output['kind'][] {
    return this.outputs.map((output) => output.kind);
  }

  /** What the platform was told at the end; undefined when the turn closed without a final. */
  get next(): FinalNext | undefined {
    const finals = this.outputs.filter((output) => output.kind === 'final');
    if (finals.length > 1) throw new Error('G-14: more than one FINAL');
    return finals[0]?.next;
  }

  /** Completed with its FINAL and without a word: the call ends, or has ended, on another turn (G-43, G-7C). */
  get isSuperseded(): boolean {
    return this.end === 'complete' && this.kinds.join() === 'final' && this.texts.length === 0 && this.next?.kind === 'superseded';
  }
}

/** One turn as the platform sees it. */
export interface MemoryTurn {
  readonly turn: Turn;
  readonly sink: MemorySink;
}

/** Places one call on the engine. */
export class MemoryCall {
  readonly #sessions: Sessions;
  readonly #opening: CallOpening;

  constructor(sessions: Sessions, opening: Partial<CallOpening> = {}) {
    this.#sessions = sessions;
    this.#opening = { organizationId: 'org', conversationId: 'call-1', agentId: '', vendorConfig: '', parameters: {}, ...opening };
  }

  /** Opens a turn and leaves it open. */
  async open(...inputs: readonly Input[]): Promise<MemoryTurn> {
    const sink = new MemorySink();
    const acquired = this.#sessions.acquire({ ...this.#opening, opensWith: turnOpening(inputs[0]) });
    // Nothing may come between a session that was found at once and its turn.
    const turn = acquired instanceof Promise ? await acquired.then((session) => session.beginTurn(sink)) : acquired.beginTurn(sink);
    for (const input of inputs) turn.push(input);
    return { turn, sink };
  }

  /** Plays a whole turn: inputs, half-close, and everything that came back. */
  async turn(...inputs: readonly Input[]): Promise<MemorySink> {
    const { turn, sink } = await this.open(...inputs);
    turn.halfClose();
    await sink.ended();
    return sink;
  }

  start(): Promise<MemorySink> {
    return this.turn({ kind: 'session_start', name: '', parameters: {} });
  }

  press(digits: string): Promise<MemorySink> {
    return this.turn({ kind: 'dtmf', digits });
  }

  hangUp(): Promise<MemorySink> {
    return this.turn({ kind: 'session_end' });
  }
}
