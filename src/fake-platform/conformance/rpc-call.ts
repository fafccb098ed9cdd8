// A call over RPCs, as checks use it: adds the ids of the call to every message, opens turns as the platform does,
// and knows how long the received prompts are heard. The check decides what to send.
import { status } from '@grpc/grpc-js';
import { pause } from '../../base/abort.ts';
import { DTMF_KEY, EVENT_INPUT, VOICE_ENCODING, type MediaRequest } from '../../contract/grpc.ts';
import { structFromJson } from '../../contract/struct.ts';
import { FRAME_MS, FRAME_SAMPLES, LINE_RATE_HZ } from '../../speech/audio-format.ts';
import type { ServerEventKind } from '../caller/answer.ts';
import type { Key } from '../caller/key.ts';
import { SILENT_FRAME } from '../caller/microphone.ts';
import { LEAD_MS, PLAIN_EVENTS, ProbeCall, ProbeTurn, type CallerActs, type ProbeTurnKind } from './call.ts';
import type { WireConnection } from './connection.ts';
import { quoted, type ExchangeLog } from './exchange.ts';
import { isHeard, MAX_PLAYBACK_MS, playMs } from './heard.ts';
import { atPace } from './awaited.ts';
import { statusName } from '../lines/failure.ts';
import type { Ending, Received, WireRpc } from './wire.ts';

/** The part of a message that is not an id of the call. */
export type Input = Omit<MediaRequest, 'conversation_id' | 'customer_org_id' | 'virtual_agent_id'>;

export class RpcTurn extends ProbeTurn {
  readonly rpc: WireRpc;

  constructor(kind: ProbeTurnKind, rpc: WireRpc) {
    super(kind);
    this.rpc = rpc;
  }

  get line(): string {
    return this.rpc.name;
  }

  get answers(): readonly Received[] {
    return this.rpc.received;
  }

  get final(): Received | undefined {
    return this.rpc.final;
  }

  get isAnswered(): boolean {
    return this.final !== undefined;
  }

  get isOver(): boolean {
    return this.rpc.ending !== undefined;
  }

  get isBroken(): boolean {
    return this.isOver && !this.isCompleted && this.final === undefined;
  }

  get isCompleted(): boolean {
    return this.rpc.isCompleted;
  }

  get howItEnded(): string {
    return endingText(this.rpc.ending);
  }

  get endProblem(): string | undefined {
    if (this.isCompleted || this.final !== undefined) return undefined;
    return this.rpc.isFlooded ? 'was flooded with more than any reply can be' : this.howItEnded;
  }

  /** Keys are answered by a prompt or an event, and a FINAL (G-63). */
  keysProblem(keys: string): string | undefined {
    const { answers } = this.rpc;
    const head = keys === '' ? '' : `${keys}: `;
    if (this.final === undefined && !this.hasPrompt) return `${head}no FINAL came, and the RPC ${this.howItEnded}`;
    const isAnswered = this.hasPrompt || answers.some(({ event }) => event !== undefined && !NOTICES.includes(event.kind));
    return isAnswered ? undefined : `${head}the answer has neither a prompt nor an event but those of speech`;
  }
}

/** Events about the caller's voice, which do not answer keys. */
const NOTICES: readonly ServerEventKind[] = ['start_of_input', 'end_of_input'];
/** Silence after speech when the server announces no longer wait, ms of audio. */
const TAIL_MS = 6000;
/** Longest silence after speech, and margin added to the wait that the server announces, ms of audio. */
const [MAX_TAIL_MS, TAIL_MARGIN_MS] = [30_000, 3000];
/** Interval between two batches of frames, ms of real time. */
const TICK_MS = 20;

export function eventInput(name: keyof typeof EVENT_INPUT, more: Partial<NonNullable<MediaRequest['event_input']>> = {}): Input {
  return { event_input: { event_type: EVENT_INPUT[name], ...more } };
}

/** An event that a flow may send at any time (G-72). */
export const FLOW_EVENT = eventInput('CUSTOM_EVENT', { name: 'conformance', parameters: structFromJson({ asked_by: 'conformance' }) });

/** The input for keys, by their names (G-66). */
function keysInput(keys: readonly Key[]): Input {
  return { dtmf_input: { dtmf_events: keys.map((key) => DTMF_KEY[key]) } };
}

/** The message of a turn of this kind. Speech is not a single message. */
function inputOf(kind: Exclude<ProbeTurnKind, 'speech'>, keys: readonly Key[]): Input {
  if (kind === 'dtmf') return keysInput(keys);
  return kind === 'custom_event' ? FLOW_EVENT : eventInput(PLAIN_EVENTS[kind]);
}

/** µ-law in frames of 20 ms without a format (G-32). */
function frameInputs(mulaw: Uint8Array): readonly Input[] {
  return Array.from({ length: Math.ceil(mulaw.length / FRAME_SAMPLES) }, (_, index) => ({
    audio_input: { caller_audio: mulaw.subarray(index * FRAME_SAMPLES, (index + 1) * FRAME_SAMPLES) },
  }));
}

export const SILENCE: Input = { audio_input: { caller_audio: SILENT_FRAME } };

/** Names the format of the frames that follow. */
export const MULAW_FORMAT: Input = { audio_input: { encoding: VOICE_ENCODING.MULAW_FORMAT, sample_rate_hertz: LINE_RATE_HZ } };

/** Speech in one form: the messages before it, its frames, and a frame of silence. */
export interface SpokenForm {
  readonly before: readonly Input[];
  readonly frames: readonly Input[];
  readonly silence: Input;
}

/** Speech as the platform sends it: frames of µ-law, whose format is named once (G-30, G-32). */
function plainSpeech(mulaw: Uint8Array): SpokenForm {
  return { before: [MULAW_FORMAT], frames: frameInputs(mulaw), silence: SILENCE };
}

/** How an RPC ended, in words: its status and the server's text. */
export function endingText(ending: Ending | undefined): string {
  if (ending === undefined) return 'was left open';
  // With the status OK, the library repeats OK as the text.
  const words = ending.details === '' || ending.code === status.OK ? '' : ` ${quoted(ending.details)}`;
  return `ended with ${statusName(ending.code)}${words}`;
}

/** Whether the turn has an uninterruptible prompt whose length is unknown: the caller may be heard only after this prompt (G-37). */
export function isPlaytimeUnknown({ rpc }: RpcTurn): boolean {
  const uncuttable = rpc.answers.flatMap(({ prompts }) => prompts.filter((prompt) => isHeard(prompt) && !prompt.bargeIn));
  return uncuttable.some(({ audio }) => audio.length === 0) || uncuttable.reduce((ms, prompt) => ms + playMs(prompt), 0) > MAX_PLAYBACK_MS;
}

export class RpcCall extends ProbeCall<RpcTurn> {
  /** False: each RPC is closed with its turn, and nothing else of the call stays open. */
  readonly isOver = false;
  readonly #connection: WireConnection;
  readonly #log: ExchangeLog;
  #rpcs = 0;

  constructor(
    connection: WireConnection,
    suspect: ConstructorParameters<typeof ProbeCall>[0],
    log: ExchangeLog,
    ids: ConstructorParameters<typeof ProbeCall>[1],
  ) {
    super(suspect, ids);
    this.#connection = connection;
    this.#log = log;
  }

  message(input: Input): MediaRequest {
    const { conversationId, organizationId, agentId } = this.ids;
    return {
      conversation_id: conversationId,
      customer_org_id: organizationId,
      ...(agentId === '' ? {} : { virtual_agent_id: agentId }),
      ...input,
    };
  }

  /** Opens an RPC and sends these inputs. Close it after use. */
  open(...inputs: readonly Input[]): WireRpc {
    this.#rpcs += 1;
    return this.#connection.open(`RPC${String(this.#rpcs)}`, this.#log).send(...inputs.map((input) => this.message(input)));
  }

  /** Begins a turn with these inputs. Close it after use. */
  start(kind: ProbeTurnKind, ...inputs: readonly Input[]): RpcTurn {
    const turn = new RpcTurn(kind, this.open(...inputs));
    this.turns.push(turn);
    return turn;
  }

  /** A whole turn: sends these inputs, half-closes, and waits for all answers. */
  async turn(kind: ProbeTurnKind, ...inputs: readonly Input[]): Promise<RpcTurn> {
    const turn = this.start(kind, ...inputs);
    await this.closeTurns(turn);
    return turn;
  }

  take(kind: Exclude<ProbeTurnKind, 'speech'>, keys: readonly Key[] = []): Promise<RpcTurn> {
    return this.turn(kind, inputOf(kind, keys));
  }

  hangUp(): Promise<RpcTurn> {
    return this.take('session_end');
  }

  repeatBehindEnd({ kind }: RpcTurn, keys: readonly Key[]): Promise<RpcTurn> {
    return kind === 'no_input' ? this.take('no_input') : this.press(keys);
  }

  async close(): Promise<void> {
    // Nothing to do: each RPC was closed with its turn.
  }

  say(mulaw: Uint8Array): Promise<RpcTurn> {
    return this.speak(plainSpeech(mulaw));
  }

  async untilReplied(kind: ProbeTurnKind, { press, speech = new Uint8Array(0) }: CallerActs): Promise<RpcTurn> {
    const turn = this.start(kind);
    if (kind === 'speech') await this.#sayOn(turn, plainSpeech(speech));
    else turn.rpc.send(this.message(inputOf(kind, press)));
    turn.rpc.halfClose();
    await this.until(turn, () => turn.hasPrompt, this.timing.answerMs);
    return turn;
  }

  listen(): RpcTurn {
    return this.start('speech', MULAW_FORMAT);
  }

  stream({ rpc }: RpcTurn, mulaw: Uint8Array, enough: () => boolean): Promise<void> {
    return this.#streamFrames(rpc, frameInputs(mulaw), enough);
  }

  until({ rpc }: RpcTurn, condition: () => boolean, limitMs: number): Promise<boolean> {
    return rpc.until(() => rpc.ending !== undefined || condition(), limitMs);
  }

  settled({ rpc }: RpcTurn): Promise<void> {
    return rpc.settled(this.timing.answerMs);
  }

  async closeTurns(...turns: readonly RpcTurn[]): Promise<void> {
    for (const { rpc } of turns) rpc.halfClose();
    await Promise.all(turns.map((turn) => this.settled(turn)));
  }

  async restOfCut(older: RpcTurn, newer: RpcTurn): Promise<readonly Received[]> {
    await this.closeTurns(newer, older);
    return older.answers;
  }

  /**
   * Opens a listening RPC and speaks on it: silence, speech, and silence until the server has reported the end of speech or
   * replied, as the platform does; then half-close (G-35, G-38).
   */
  async speak(form: SpokenForm): Promise<RpcTurn> {
    const turn = this.start('speech');
    await this.#sayOn(turn, form);
    await this.closeTurns(turn);
    return turn;
  }

  /** Speaks in a turn and leaves the turn open. */
  async #sayOn(turn: RpcTurn, { before, frames, silence }: SpokenForm): Promise<void> {
    const { rpc } = turn;
    rpc.send(...before.map((input) => this.message(input)));
    const quiet = (ms: number): readonly Input[] => Array<Input>(Math.ceil(ms / FRAME_MS)).fill(silence);
    await this.#streamFrames(rpc, [...quiet(LEAD_MS), ...frames], () => rpc.ending !== undefined);
    const tailMs = this.#tailMs();
    await this.#streamFrames(rpc, quiet(TAIL_MS), () => isAnswered(rpc));
    // A server that has heard speech may wait as long as it announced.
    if (tailMs > TAIL_MS && turn.hasStart) await this.#streamFrames(rpc, quiet(tailMs - TAIL_MS), () => isAnswered(rpc));
  }

  /** Sends frames at the pace of the call, until all are sent or `enough` is true. */
  async #streamFrames(rpc: WireRpc, frames: readonly Input[], enough: () => boolean): Promise<void> {
    const perTick = Math.max(1, Math.round((this.timing.pace * TICK_MS) / FRAME_MS));
    let from = 0;
    await atPace(this.clock, TICK_MS, () => {
      if (from >= frames.length || enough()) return false;
      rpc.send(...frames.slice(from, from + perTick).map((input) => this.message(input)));
      from += perTick;
      return true;
    });
  }

  protected async untilOver(limitMs: number): Promise<void> {
    await pause(limitMs, this.clock);
  }

  /** The wait for the end of speech that the server announces, with a margin, at most {@link MAX_TAIL_MS}, ms of audio. */
  #tailMs(): number {
    const timers = this.turns.findLast(({ final }) => final !== undefined)?.final?.message.input_handling_config?.speech_timers;
    const ownMs = Math.max(timers?.complete_timeout_msec ?? 0, timers?.incomplete_timeout_msec ?? 0);
    return Math.min(MAX_TAIL_MS, ownMs + TAIL_MARGIN_MS);
  }
}

/** Whether the server needs no more speech: it reported the end of speech, sent a FINAL, or ended the RPC. */
function isAnswered(rpc: WireRpc): boolean {
  return rpc.ending !== undefined || rpc.final !== undefined || rpc.answers.some(({ event }) => event?.kind === 'end_of_input');
}
