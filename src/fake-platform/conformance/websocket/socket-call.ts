// A call on a socket, as checks use it: counts its messages, adds the ids of the call to each, and opens turns as
// the platform does. The check decides what to send.
import type { JsonObject } from '../../../base/json.ts';
import { dtmfNameOf } from '../../../contract/numbers.ts';
import { LINE_RATE_HZ, MULAW_BYTES_PER_MS } from '../../../speech/audio-format.ts';
import type { Key } from '../../caller/key.ts';
import { LEAD_MS, PLAIN_EVENTS, ProbeCall, ProbeTurn, type CallerActs, type ProbeIds, type ProbeTurnKind } from '../call.ts';
import { playLeftMs } from '../heard.ts';
import { atPace } from '../awaited.ts';
import { silenceOf } from '../quiet-line.ts';
import { answersIn, finalIn, type AnswerMessage, type Message } from './message.ts';
import type { ProbeSocket } from './probe-socket.ts';

/** How long to wait for messages after a FINAL, ms. */
const SETTLE_MS = 250;
/** How long to wait after the first key, which needs no answer, ms. A later answer would be taken for the reply to the keys. */
const QUIET_MS = 1500;
/** Longest wait for an answer that need not come, ms. */
const OPTIONAL_MS = 2500;
/** Longest time of a turn on which answers keep coming, ms. */
const MAX_ANSWERING_MS = 60_000;
/** Interval between two messages of audio, ms of real time. */
const TICK_MS = 20;
/** How long to record the rest of an interrupted reply, ms. */
const WATCHED_MS = 1500;
/** How long to record answers after the end of the call, ms. */
const LATE_MS = 3000;
/** Longest silence after speech, and silence after a FINAL, ms of audio. */
const [TAIL_MS, AFTER_MS] = [20_000, 300];

export function eventOf(event_type: string, more: JsonObject = {}): JsonObject {
  return { event_input: { event_type, ...more } };
}

export function audioOf(mulaw: Uint8Array): JsonObject {
  return {
    audio_input: {
      encoding: 'MULAW_FORMAT',
      sample_rate_hertz: LINE_RATE_HZ,
      caller_audio_b64: Buffer.from(mulaw.buffer, mulaw.byteOffset, mulaw.length).toString('base64'),
      is_single_utterance: false,
    },
  };
}

/** The input for keys, by their names (W-26). */
export function keysOf(keys: readonly Key[]): JsonObject {
  return { dtmf_input: { dtmf_events: keys.map(dtmfNameOf) } };
}

/** An event that a flow may send at any time. */
const FLOW_EVENT = eventOf('CUSTOM_EVENT', { name: 'conformance', parameters: { asked_by: 'conformance' } });

/** The input of a turn of this kind. Speech is not a single message. */
function inputOf(kind: Exclude<ProbeTurnKind, 'speech'>, keys: readonly Key[]): JsonObject {
  if (kind === 'dtmf') return keysOf(keys);
  return kind === 'custom_event' ? FLOW_EVENT : eventOf(PLAIN_EVENTS[kind]);
}

/** One turn: the messages that came until the next turn was opened. */
export class SocketTurn extends ProbeTurn {
  /** Empty: all turns of a call share one socket. */
  readonly line = '';
  readonly isBroken = false;
  readonly isCompleted = true;
  readonly howItEnded = '';
  readonly endProblem = undefined;
  /** Number of the turn's first message. */
  readonly seq: number;
  readonly #socket: ProbeSocket;
  readonly #from: number;
  #to: number | undefined;

  constructor(kind: ProbeTurnKind, seq: number, socket: ProbeSocket) {
    super(kind);
    this.seq = seq;
    this.#socket = socket;
    this.#from = socket.received.length;
  }

  get isOver(): boolean {
    return this.#socket.isOver;
  }

  get messages(): readonly Message[] {
    return this.#socket.received.slice(this.#from, this.#to);
  }

  get answers(): readonly AnswerMessage[] {
    return answersIn(this.messages);
  }

  /** The FINAL that closes the reply; undefined while there is none. */
  get final(): AnswerMessage | undefined {
    return finalIn(this.messages);
  }

  /** Whether the turn got a reply. The FINAL may be missing, which breaks another rule (W-24). */
  get isAnswered(): boolean {
    return this.final !== undefined || this.hasPrompt;
  }

  keysProblem(keys: string): string | undefined {
    if (this.isAnswered) return undefined;
    if (keys === '') return 'keys got no reply';
    return `${keys} got no reply${this.isOver ? `, and the socket ${this.#socket.stateText}` : ''}`;
  }

  /** Ends the turn: further messages do not belong to it. */
  end(): void {
    this.#to ??= this.#socket.received.length;
  }
}

export class SocketCall extends ProbeCall<SocketTurn> {
  readonly socket: ProbeSocket;
  #seq = 0;

  constructor(socket: ProbeSocket, suspect: ConstructorParameters<typeof ProbeCall>[0], ids: ConstructorParameters<typeof ProbeCall>[1]) {
    super(suspect, ids);
    this.socket = socket;
  }

  get isOver(): boolean {
    return this.socket.isOver;
  }

  get seq(): number {
    return this.#seq;
  }

  /** Skips numbers of messages, which is legal (W-10). */
  skipTo(seq: number): void {
    this.#seq = Math.max(this.#seq, seq - 1);
  }

  /** The next message of this call as JSON text. @param more - additional or replaced members. */
  envelope(type: string, more: JsonObject = {}): string {
    this.#seq += 1;
    const ts = new Date(this.clock.nowMs()).toISOString();
    return JSON.stringify({ type, seq: this.#seq, ts, conversation_id: this.ids.conversationId, ...more });
  }

  payload(input: JsonObject, ids: Partial<ProbeIds> = {}): JsonObject {
    const { conversationId, organizationId, agentId } = { ...this.ids, ...ids };
    return {
      conversation_id: conversationId,
      customer_org_id: organizationId,
      ...(agentId === '' ? {} : { virtual_agent_id: agentId }),
      voice_va_input_type: input,
    };
  }

  send(...inputs: readonly JsonObject[]): void {
    for (const input of inputs) this.socket.sendText(this.envelope('VOICE_VA_REQUEST', { payload: this.payload(input) }), inputText(input));
  }

  /** Opens a turn with these inputs. Does not wait for answers. */
  open(kind: ProbeTurnKind, ...inputs: readonly JsonObject[]): SocketTurn {
    this.turns.at(-1)?.end();
    const turn = new SocketTurn(kind, this.#seq + 1, this.socket);
    this.turns.push(turn);
    this.send(...inputs);
    return turn;
  }

  /** Waits until a turn has its FINAL and possible messages after it, or until nothing comes for `limitMs`. */
  async answered(turn: SocketTurn, limitMs = this.timing.answerMs): Promise<void> {
    const untilMs = this.clock.monotonicMs() + Math.max(MAX_ANSWERING_MS, limitMs);
    const isDone = (): boolean => this.socket.isOver || turn.final !== undefined;
    let known = -1;
    while (!isDone() && turn.messages.length > known && this.clock.monotonicMs() < untilMs) {
      known = turn.messages.length;
      const before = known;
      // A server may wait until its prompts have been heard before it continues.
      const playMs = Math.max(0, playLeftMs(turn.answers, this.clock.monotonicMs()));
      await this.socket.until(() => isDone() || turn.messages.length > before, limitMs + playMs);
    }
    if (turn.final !== undefined) await this.socket.until(() => this.socket.isOver, SETTLE_MS);
  }

  /** A whole turn: sends these inputs and waits for all answers. */
  async turn(kind: ProbeTurnKind, ...inputs: readonly JsonObject[]): Promise<SocketTurn> {
    const turn = this.open(kind, ...inputs);
    await this.answered(turn);
    return turn;
  }

  async take(kind: Exclude<ProbeTurnKind, 'speech'>, keys: readonly Key[] = []): Promise<SocketTurn> {
    if (kind === 'session_start') await this.socket.upgraded();
    const turn = this.open(kind, inputOf(kind, keys));
    if (kind === 'dtmf_start') await this.until(turn, () => turn.final !== undefined, QUIET_MS);
    // A custom event may stay without an answer.
    else await this.answered(turn, Math.min(kind === 'custom_event' ? OPTIONAL_MS : Infinity, this.timing.answerMs));
    return turn;
  }

  async untilReplied(kind: ProbeTurnKind, { press, speech = new Uint8Array(0) }: CallerActs): Promise<SocketTurn> {
    if (kind === 'session_start') await this.socket.upgraded();
    const turn = this.open(kind, ...(kind === 'speech' ? [] : [inputOf(kind, press)]));
    const isBegun = (): boolean => turn.hasPrompt;
    if (kind === 'speech') await this.stream(turn, Buffer.concat([silenceOf(LEAD_MS), speech, silenceOf(TAIL_MS)]), isBegun);
    await this.until(turn, isBegun, this.timing.answerMs);
    return turn;
  }

  /** Messages from now on belong both to this turn and to the older one. */
  listen(): SocketTurn {
    return new SocketTurn('speech', this.#seq + 1, this.socket);
  }

  until(_turn: SocketTurn, condition: () => boolean, limitMs: number): Promise<boolean> {
    return this.socket.until(() => this.socket.isOver || condition(), limitMs);
  }

  settled(turn: SocketTurn): Promise<void> {
    return this.answered(turn);
  }

  async closeTurns(): Promise<void> {
    // Nothing to do: turns on a socket need no closing.
  }

  /** Leaves out prompts that may not be interrupted: they are a farewell, with which a bot may end the call. */
  async restOfCut(_older: SocketTurn, newer: SocketTurn): Promise<readonly AnswerMessage[]> {
    const endAt = (): number => newer.answers.findIndex(({ answer }) => answer.event?.kind === 'end_of_input');
    await this.until(newer, () => endAt() !== -1, WATCHED_MS);
    const rest = newer.answers.slice(0, endAt() === -1 ? undefined : endAt());
    return rest.filter(({ answer }) => answer.prompts.some(({ audio, bargeIn }) => audio.length > 0 && bargeIn));
  }

  /** Hangs up, records a forbidden answer if it comes at once (W-28), and closes. Does nothing when the server has closed. */
  async hangUp(): Promise<void> {
    if (!this.socket.isOpen) return;
    this.open('session_end', eventOf('SESSION_END'));
    await this.socket.until(() => this.socket.isOver, SETTLE_MS);
    await this.socket.close();
  }

  /** Closes as the platform does (W-29): after the farewell has been heard, or, in a silent call, after one more report of silence. */
  async repeatBehindEnd(ending: SocketTurn): Promise<void> {
    if (ending.kind === 'no_input') {
      const late = this.open('no_input', eventOf('NO_INPUT'));
      await this.answered(late, LATE_MS);
    } else await this.heardOut(ending);
    await this.close();
  }

  async close(): Promise<void> {
    await this.socket.close();
  }

  protected untilOver(limitMs: number): Promise<boolean> {
    return this.socket.until(() => this.socket.isOver, limitMs);
  }

  /**
   * Speaks: silence, speech until the server reports the end of speech, silence until the reply, and a little more silence, because
   * audio never stops (W-23).
   */
  async say(mulaw: Uint8Array): Promise<SocketTurn> {
    const turn = this.open('speech');
    // Stops at the end of the utterance: speech after a pause would be another one.
    const hasEnded = (): boolean => turn.answers.some(({ answer }) => answer.event?.kind === 'end_of_input');
    await this.stream(turn, Buffer.concat([silenceOf(LEAD_MS), mulaw]), hasEnded);
    await this.stream(turn, silenceOf(TAIL_MS), () => turn.final !== undefined);
    await this.stream(turn, silenceOf(AFTER_MS * this.timing.pace), () => false);
    await this.answered(turn, SETTLE_MS);
    return turn;
  }

  /** Sends audio at the pace of the call, until all is sent or `enough` is true. */
  async stream(_turn: SocketTurn, mulaw: Uint8Array, enough: () => boolean): Promise<void> {
    const perTick = Math.round(TICK_MS * MULAW_BYTES_PER_MS * Math.max(1, this.timing.pace));
    let from = 0;
    await atPace(this.clock, TICK_MS, () => {
      if (from >= mulaw.length || enough() || this.socket.isOver) return false;
      this.send(audioOf(mulaw.subarray(from, from + perTick)));
      from += perTick;
      return true;
    });
  }
}

/** An input in a few words, with the number of keys instead of the keys. */
function inputText(input: JsonObject): string {
  const { event_input: event, dtmf_input: keys, audio_input: audio } = input;
  if (isObject(event)) return typeof event['event_type'] === 'string' ? event['event_type'] : 'an event without a type';
  if (isObject(keys)) return `${String(Array.isArray(keys['dtmf_events']) ? keys['dtmf_events'].length : 0)} keys`;
  if (!isObject(audio)) return 'a message without input';
  return `audio ${typeof audio['caller_audio_b64'] === 'string' ? String(Math.floor((audio['caller_audio_b64'].length / 4) * 3)) : '0'} B`;
}

function isObject(value: JsonObject[string] | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
