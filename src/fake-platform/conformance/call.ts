// A call in the hands of a check, whatever carries it: what names it, its turns, and what its bot asked for. Knows no wire.
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { isTerminalEvent, type Answer } from '../caller/answer.ts';
import type { Key } from '../caller/key.ts';
import type { TurnKind } from '../caller/turn-check.ts';
import { isHeard, playLeftMs } from './heard.ts';

/** Times that a call keeps to. */
export interface Timing {
  /** Longest wait for a sign of the server, ms. */
  readonly answerMs: number;
  /** How many times as fast as real time the caller's audio is sent. */
  readonly pace: number;
  /** Longest wait until a new key of the platform is known, ms: a server may ask for keys only now and then (J-14). */
  readonly newKeyMs: number;
}

/** What names a call. */
export interface ProbeIds {
  readonly conversationId: string;
  readonly organizationId: string;
  /** Empty: the server's default. */
  readonly agentId: string;
}

/** Silence before speech, ms of audio. */
export const LEAD_MS = 400;

/** An answer with the moment when it came, by the clock's monotonic time, ms. */
export interface TimedAnswer {
  readonly answer: Answer;
  readonly atMs: number;
}

/** What a turn was taken for. */
export type ProbeTurnKind = TurnKind | 'custom_event';

/** One turn, whatever carries it. */
export abstract class ProbeTurn {
  readonly kind: ProbeTurnKind;

  constructor(kind: ProbeTurnKind) {
    this.kind = kind;
  }

  abstract readonly answers: readonly TimedAnswer[];
  /** The FINAL that closes its reply; undefined while there is none. */
  abstract readonly final: TimedAnswer | undefined;
  /** Whether it was replied to, by the rules of its transport. */
  abstract readonly isAnswered: boolean;

  /** The answer that ends the call, if any. */
  get terminal(): TimedAnswer | undefined {
    return this.answers.find(({ answer }) => isTerminalEvent(answer.event));
  }

  get hasPrompt(): boolean {
    return this.answers.some(({ answer }) => answer.prompts.some(isHeard));
  }
}

/** One conversation. Whoever makes it drops it, or the connection that carries it. */
export abstract class ProbeCall<Turn extends ProbeTurn = ProbeTurn> {
  readonly ids: ProbeIds;
  readonly turns: Turn[] = [];
  protected readonly clock: Clock;
  protected readonly timing: Timing;

  constructor(
    { clock, timing }: { readonly clock: Clock; readonly timing: Timing },
    ids: Pick<ProbeIds, 'organizationId' | 'agentId'> & Partial<ProbeIds>,
  ) {
    this.clock = clock;
    this.timing = timing;
    this.ids = { conversationId: randomUUID(), ...ids };
  }

  /** Whether nothing more can be sent or comes. */
  abstract readonly isOver: boolean;
  /** Whether the server said that it has no room. */
  abstract readonly isOverloaded: boolean;
  /** Opens the call (G-20, W-20). */
  abstract begin(): Promise<Turn>;
  /** Presses keys, without their start (G-64, W-26). */
  abstract press(keys: readonly Key[]): Promise<Turn>;
  /** Reports the first key, to which no answer is owed (G-61, W-26). */
  abstract firstKey(): Promise<Turn>;
  /** Reports silence. */
  abstract silence(): Promise<Turn>;
  /** Sends an event of the flow, which may come at any time (G-72). */
  abstract flow(): Promise<Turn>;
  /** Says this, µ-law, with the silence that the platform sends before and behind it. */
  abstract sayPlainly(mulaw: Uint8Array): Promise<Turn>;
  abstract hangUp(): Promise<unknown>;
  /** Takes a turn once more that has ended the call, as far as the transport allows it, and closes what is still open. */
  abstract repeatBehindEnd(ending: Turn, keys: readonly Key[]): Promise<unknown>;
  /** Closes what is still open of a call that is over. */
  abstract close(): Promise<void>;
  /** Ends everything at once, without a word. */
  abstract drop(): void;
  /** Waits until the call is over, at most so long, ms of real time. */
  protected abstract untilOver(limitMs: number): Promise<unknown>;

  /**
   * Whether a platform would send this now, as the last FINAL asked for it: no keys in a mode of voice, no voice in one of
   * keys, and no report of silence where its time is 0 (G-35, G-81, G-82).
   */
  isAskedFor(kind: 'speech' | 'keys' | 'silence'): boolean {
    const last = this.turns.findLast(({ final }) => (final?.answer.config ?? final?.answer.mode) !== undefined);
    const { mode, config } = last?.final?.answer ?? {};
    if (kind === 'silence') return config?.noInputMs !== 0;
    return mode !== (kind === 'keys' ? 'voice' : 'dtmf');
  }

  /** Takes a turn that the bot asked for: silence, else keys, else an event of the flow. */
  goOn(keys: readonly Key[]): Promise<Turn> {
    if (this.isAskedFor('silence')) return this.silence();
    return this.isAskedFor('keys') ? this.press(keys) : this.flow();
  }

  /** Waits until the prompts of a turn have been heard, within a bound, or the call is over. */
  async heardOut({ answers }: ProbeTurn): Promise<void> {
    const leftMs = playLeftMs(answers, this.clock.monotonicMs());
    if (leftMs > 0) await this.untilOver(leftMs);
  }
}
