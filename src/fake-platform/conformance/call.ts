// A call as checks use it, on any transport: its ids, its turns, and the input that its bot asked for. Knows no wire.
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { isTerminalEvent, type Answer } from '../caller/answer.ts';
import type { Key } from '../caller/key.ts';
import type { TurnKind } from '../caller/turn-check.ts';
import { isHeard, playLeftMs } from './heard.ts';

export interface Timing {
  /** Longest wait for a sign of the server, ms. */
  readonly answerMs: number;
  /** Speed of the caller's audio: how many times faster than real time. */
  readonly pace: number;
  /** Longest wait until a server knows a new key of the platform, ms: servers may limit how often they fetch keys (J-14). */
  readonly newKeyMs: number;
}

export interface ProbeIds {
  readonly conversationId: string;
  readonly organizationId: string;
  /** Empty: the server's default agent. */
  readonly agentId: string;
}

/** Silence that is sent before speech, ms of audio. */
export const LEAD_MS = 400;

/** An answer, and when it came: monotonic, ms. */
export interface TimedAnswer {
  readonly answer: Answer;
  readonly atMs: number;
}

export type ProbeTurnKind = TurnKind | 'custom_event';

export abstract class ProbeTurn {
  readonly kind: ProbeTurnKind;

  constructor(kind: ProbeTurnKind) {
    this.kind = kind;
  }

  /** The RPC of the turn, such as `RPC2`; empty where a call has one line for all turns. */
  abstract readonly line: string;
  abstract readonly answers: readonly TimedAnswer[];
  /** The FINAL that closes the reply; undefined while there is none. */
  abstract readonly final: TimedAnswer | undefined;
  /** Whether the turn got a reply, by the rules of its transport. */
  abstract readonly isAnswered: boolean;
  /** Whether no more answers can come. */
  abstract readonly isOver: boolean;
  /** Whether the turn ended with an error and without a FINAL. An error after a FINAL breaks another rule (G-13). */
  abstract readonly isBroken: boolean;
  /** Whether the turn was completed; true where a turn has no end of its own. */
  abstract readonly isCompleted: boolean;
  /** How the turn ended, such as `was left open`; empty where a turn has no end of its own. */
  abstract readonly howItEnded: string;
  /** As {@link howItEnded}; undefined also where the turn was completed or has its FINAL: an error after it breaks another rule (G-13). */
  abstract readonly endProblem: string | undefined;
  /** Why keys count as unanswered, as a sentence; undefined when they count as answered. */
  abstract keysProblem(keys: string): string | undefined;

  /** The name of the turn in sentences, such as `RPC2 (dtmf)`. */
  get label(): string {
    return this.line === '' ? this.kind : `${this.line} (${this.kind})`;
  }

  /** The answer that ends the call; undefined when there is none. */
  get terminal(): TimedAnswer | undefined {
    return this.answers.find(({ answer }) => isTerminalEvent(answer.event));
  }

  get hasPrompt(): boolean {
    return this.answers.some(({ answer }) => answer.prompts.some(isHeard));
  }

  /** The answer that reports the start of speech; undefined when there is none. */
  get start(): TimedAnswer | undefined {
    return this.answers.find(({ answer }) => answer.event?.kind === 'start_of_input');
  }

  get hasStart(): boolean {
    return this.start !== undefined;
  }
}

export interface CallerActs {
  readonly press: readonly Key[];
  /** µ-law. Required for a turn of speech. */
  readonly speech?: Uint8Array | undefined;
}

/** The event of each kind of turn that consists of one event without parameters. */
export const PLAIN_EVENTS = {
  session_start: 'SESSION_START',
  dtmf_start: 'START_OF_DTMF',
  no_input: 'NO_INPUT',
  session_end: 'SESSION_END',
} as const;

/** One conversation. Cancel it, or its connection, after use. */
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

  /** Whether nothing more can be sent or received. */
  abstract readonly isOver: boolean;
  abstract take(kind: Exclude<ProbeTurnKind, 'speech'>, keys?: readonly Key[]): Promise<Turn>;
  /** Says this, µ-law, with the silence that the platform sends before and after speech: a whole turn. */
  abstract say(mulaw: Uint8Array): Promise<Turn>;
  /** Begins a turn, and waits until its reply begins or the server has given no sign in time. */
  abstract untilReplied(kind: ProbeTurnKind, acts: CallerActs): Promise<Turn>;
  /** Opens a turn of speech without sending anything. An older turn may still get its reply (G-50, W-23). */
  abstract listen(): Turn;
  /** Sends µ-law in a turn of speech at the pace of the call, until all is sent or `enough` is true. */
  abstract stream(turn: Turn, mulaw: Uint8Array, enough: () => boolean): Promise<void>;
  /** Waits until the condition holds, the turn is over or `limitMs` have passed. */
  abstract until(turn: Turn, condition: () => boolean, limitMs: number): Promise<unknown>;
  /** Waits until a turn is over or has its FINAL. */
  abstract settled(turn: Turn): Promise<unknown>;
  /** Closes these turns if the transport needs that, and waits until they are over. */
  abstract closeTurns(...turns: readonly Turn[]): Promise<void>;
  /**
   * Waits for the rest of a reply that a turn of speech interrupted, and closes both turns. @returns the answers of the rest, as far as
   * the transport shows that they belong to the older turn.
   */
  abstract restOfCut(older: Turn, newer: Turn): Promise<readonly TimedAnswer[]>;
  abstract hangUp(): Promise<unknown>;
  /** Repeats a turn after the end of the call if the transport allows it, and closes everything that is still open. */
  abstract repeatBehindEnd(ending: Turn, keys: readonly Key[]): Promise<unknown>;
  /** Closes the open parts of a finished call. */
  abstract close(): Promise<void>;
  /** Waits until the call is over, or for `limitMs` of real time. */
  protected abstract untilOver(limitMs: number): Promise<unknown>;

  /** Opens the call (G-20, W-20). */
  begin(): Promise<Turn> {
    return this.take('session_start');
  }

  /** Presses keys, without START_OF_DTMF before them (G-64, W-26). */
  press(keys: readonly Key[]): Promise<Turn> {
    return this.take('dtmf', keys);
  }

  /**
   * Whether a platform would send this input now. The settings of the last FINAL decide: no keys in voice mode, no voice in
   * DTMF mode, and no report of silence where the time for it is 0 (G-35, G-81, G-82).
   */
  isAskedFor(kind: 'speech' | 'keys' | 'silence'): boolean {
    const last = this.turns.findLast(({ final }) => (final?.answer.config ?? final?.answer.mode) !== undefined);
    const { mode, config } = last?.final?.answer ?? {};
    if (kind === 'silence') return config?.noInputMs !== 0;
    return mode !== (kind === 'keys' ? 'voice' : 'dtmf');
  }

  /** Sends input that the bot asked for: silence, else keys, else an event of the flow. */
  goOn(keys: readonly Key[]): Promise<Turn> {
    if (this.isAskedFor('silence')) return this.take('no_input');
    return this.isAskedFor('keys') ? this.press(keys) : this.take('custom_event');
  }

  /** Waits until the prompts of a turn have been heard, up to the limit of {@link playLeftMs}, or the call is over. */
  async heardOut({ answers }: ProbeTurn): Promise<void> {
    const leftMs = playLeftMs(answers, this.clock.monotonicMs());
    if (leftMs > 0) await this.untilOver(leftMs);
  }
}
