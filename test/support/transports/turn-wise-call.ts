// A call on a transport that gives each interaction a turn of its own (G-10): plays the platform that opens, half-closes and
// waits for them. Knows no wire; a turn is whatever {@link OpenTurn} opens.
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../../src/base/json.ts';
import type { AudioInput, Input } from '../../../src/dialog/input.ts';
import { until } from '../until.ts';
import { replyOf, speechOf, type PlacedCall, type Delivered, type DeliveredReply } from './placed-call.ts';

/** One turn of a call. */
export interface LoneTurn {
  send(input: Input): void;
  halfClose(): void;
  /** What the platform got on it. */
  readonly delivered: readonly Delivered[];
  /** How it ended: `open` as long as it has not, `complete` when it ended well. */
  readonly end: string;
}

/** Opens a turn of a conversation and says one thing on it. */
export type OpenTurn = (conversationId: string, first: Input) => LoneTurn;

/** Bytes of 20 ms on the line (G-30). */
const FRAME_BYTES = 160;

/** One call over turns. */
export class TurnWiseCall implements PlacedCall {
  readonly conversationId = randomUUID();
  readonly #open: OpenTurn;
  readonly #turns: LoneTurn[] = [];

  constructor(open: OpenTurn) {
    this.#open = open;
  }

  start(name: string, parameters: JsonObject): void {
    this.#whole({ kind: 'session_start', name, parameters });
  }

  press(digits: string): void {
    this.#whole({ kind: 'dtmf_start' });
    this.#whole({ kind: 'dtmf', digits });
  }

  pressAtOnce(digits: string): void {
    this.#whole({ kind: 'dtmf', digits });
  }

  async speak(mulaw: Uint8Array): Promise<void> {
    const [first, ...rest] = framesOf(mulaw);
    if (first === undefined) throw new RangeError('nothing is no speech');
    const turn = this.#begin(first);
    for (const frame of rest) turn.send(frame);
    await until(
      () => `the end of speech is reported on a turn that is ${turn.end}: ${JSON.stringify(speechOf(turn.delivered))}`,
      () => speechOf(turn.delivered).includes('ended') || turn.end !== 'open',
    );
    // G-38: the platform ends its side when it learns that the caller has finished.
    turn.halfClose();
  }

  nothing(): void {
    this.#whole({ kind: 'no_input' });
  }

  flowEvent(name: string, parameters: JsonObject): void {
    this.#whole({ kind: 'custom_event', name, parameters });
  }

  hangUp(): void {
    this.#whole({ kind: 'session_end' });
  }

  get replies(): readonly DeliveredReply[] {
    return this.#turns
      .map(({ delivered }) => replyOf(delivered))
      .filter(({ sounds, texts, next }) => sounds.length + texts.length > 0 || next);
  }

  get speech(): readonly ('started' | 'ended')[] {
    return this.#turns.flatMap(({ delivered }) => speechOf(delivered));
  }

  get breaches(): readonly string[] {
    return this.#turns.flatMap(({ end }) => (end === 'open' || end === 'complete' ? [] : [end]));
  }

  async close(): Promise<void> {
    await until('every turn is over', () => this.#turns.every(({ end }) => end !== 'open'));
  }

  #whole(input: Input): void {
    this.#begin(input).halfClose();
  }

  #begin(first: Input): LoneTurn {
    const turn = this.#open(this.conversationId, first);
    this.#turns.push(turn);
    return turn;
  }
}

/** Audio in frames of 20 ms, of which the first names its format (G-32). */
export function framesOf(mulaw: Uint8Array): readonly AudioInput[] {
  return Array.from({ length: Math.ceil(mulaw.length / FRAME_BYTES) }, (_, index) => ({
    kind: 'audio',
    audio: mulaw.subarray(index * FRAME_BYTES, (index + 1) * FRAME_BYTES),
    ...(index === 0 ? { encoding: 'mulaw', sampleRateHz: 8000 } : {}),
  }));
}
