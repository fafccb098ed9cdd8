// A call in the hands of a check: adds the ids of its conversation to every message, opens turns as the platform does, and
// knows how long the prompts that came are heard. What is asked of the server is the check's business.
import { randomUUID } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import { pause } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { DTMF_KEY, EVENT_INPUT, VOICE_ENCODING, type MediaRequest } from '../../contract/grpc.ts';
import { structFromJson } from '../../contract/struct.ts';
import { FRAME_MS, FRAME_SAMPLES, LINE_RATE_HZ } from '../../speech/audio-format.ts';
import { isTerminalEvent, type Answer } from '../caller/answer.ts';
import type { Key } from '../caller/key.ts';
import { SILENT_FRAME } from '../caller/microphone.ts';
import type { TurnKind } from '../caller/turn-check.ts';
import type { WireConnection } from './connection.ts';
import { quoted, type ExchangeLog } from './exchange.ts';
import { isHeard, MAX_PLAYBACK_MS, playLeftMs, playMs } from './heard.ts';
import { atPace } from './pacing.ts';
import { statusName } from '../lines/status-name.ts';
import type { Ending, WireRpc } from './wire.ts';

/** What one message carries beside the ids of its call. */
export type Input = Omit<MediaRequest, 'conversation_id' | 'customer_org_id' | 'virtual_agent_id'>;

/** One turn that is over. */
export interface TurnRecord {
  readonly kind: TurnKind | 'custom_event';
  readonly rpc: WireRpc;
}

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

/** Silence before speech, and after it when the server asks for no other time, ms of audio. */
export const LEAD_MS = 400;
const TAIL_MS = 6000;
/** Longest silence after speech, and what a server needs beyond the silence that it waits for itself, ms of audio. */
const [MAX_TAIL_MS, TAIL_MARGIN_MS] = [30_000, 3000];
/** Between two batches of frames, ms of real time. */
const TICK_MS = 20;

/** An event of the platform. */
export function eventInput(name: keyof typeof EVENT_INPUT, more: Partial<NonNullable<MediaRequest['event_input']>> = {}): Input {
  return { event_input: { event_type: EVENT_INPUT[name], ...more } };
}

/** What a flow may send at any time (G-72). */
export const FLOW_EVENT = eventInput('CUSTOM_EVENT', { name: 'conformance', parameters: structFromJson({ asked_by: 'conformance' }) });

/** Keys by name (G-66). */
function keysInput(keys: readonly Key[]): Input {
  return { dtmf_input: { dtmf_events: keys.map((key) => DTMF_KEY[key]) } };
}

/** What is sent in a turn of a kind; speech is no single message. */
export function inputOf(kind: Exclude<TurnRecord['kind'], 'speech'>, keys: readonly Key[]): Input {
  switch (kind) {
    case 'session_start':
      return eventInput('SESSION_START');
    case 'dtmf_start':
      return eventInput('START_OF_DTMF');
    case 'dtmf':
      return keysInput(keys);
    case 'no_input':
      return eventInput('NO_INPUT');
    case 'custom_event':
      return FLOW_EVENT;
    case 'session_end':
      return eventInput('SESSION_END');
  }
}

/** µ-law in frames of 20 ms that name no format (G-32). */
export function frameInputs(mulaw: Uint8Array): readonly Input[] {
  return Array.from({ length: Math.ceil(mulaw.length / FRAME_SAMPLES) }, (_, index) => ({
    audio_input: { caller_audio: mulaw.subarray(index * FRAME_SAMPLES, (index + 1) * FRAME_SAMPLES) },
  }));
}

/** A frame of silence. */
export const SILENCE: Input = { audio_input: { caller_audio: SILENT_FRAME } };

/** Names the format of the frames that follow. */
export const MULAW_FORMAT: Input = { audio_input: { encoding: VOICE_ENCODING.MULAW_FORMAT, sample_rate_hertz: LINE_RATE_HZ } };

/** How speech is put on the line: what stands before it, its frames, and a frame of silence of the same form. */
export interface SpokenForm {
  readonly before: readonly Input[];
  readonly frames: readonly Input[];
  readonly silence: Input;
}

/** Speech as the platform sends it: µ-law in frames, the format named once (G-30, G-32). */
export function plainSpeech(mulaw: Uint8Array): SpokenForm {
  return { before: [MULAW_FORMAT], frames: frameInputs(mulaw), silence: SILENCE };
}

/** Whether an RPC ended with an error and without the FINAL that it owes; an error behind a FINAL is another breach (G-13). */
export function isBroken(rpc: WireRpc): boolean {
  return rpc.ending !== undefined && !rpc.isCompleted && rpc.final === undefined;
}

/**
 * How an RPC that was half-closed and settled failed to end: with an error or left open, in words. Undefined when the server
 * completed it with OK or gave it the FINAL that it owes; what comes behind a FINAL is another breach (G-13).
 */
export function whyUnanswered(rpc: WireRpc): string | undefined {
  if (rpc.isCompleted || rpc.final !== undefined) return undefined;
  if (rpc.isFlooded) return 'was flooded with more than any reply can be';
  return endingText(rpc.ending);
}

/** How an RPC ended, in words: its status and what the server said with it. */
export function endingText(ending: Ending | undefined): string {
  if (ending === undefined) return 'was left open';
  // With OK the library says OK once more.
  const words = ending.details === '' || ending.code === status.OK ? '' : ` ${quoted(ending.details)}`;
  return `ended with ${statusName(ending.code)}${words}`;
}

/** Whether any answer of an RPC carries something to be heard. */
export function hasPrompt(rpc: WireRpc): boolean {
  return rpc.answers.some(({ prompts }) => prompts.some(isHeard));
}

/** Whether the server announced speech on an RPC. */
export function hasStart(rpc: WireRpc): boolean {
  return rpc.answers.some(({ event }) => event?.kind === 'start_of_input');
}

/** The terminal answer of an RPC, if any. */
export function terminalOf(rpc: WireRpc): Answer | undefined {
  return rpc.answers.find(({ event }) => isTerminalEvent(event));
}

/** Whether the caller may be heard only after prompts of which nobody here knows how long they last (G-37). */
export function isPlaytimeUnknown({ rpc }: TurnRecord): boolean {
  const uncuttable = rpc.answers.flatMap(({ prompts }) => prompts.filter((prompt) => isHeard(prompt) && !prompt.bargeIn));
  return uncuttable.some(({ audio }) => audio.length === 0) || uncuttable.reduce((ms, prompt) => ms + playMs(prompt), 0) > MAX_PLAYBACK_MS;
}

/** One conversation. */
export class ProbeCall {
  readonly ids: ProbeIds;
  readonly turns: TurnRecord[] = [];
  readonly #connection: WireConnection;
  readonly #clock: Clock;
  readonly #log: ExchangeLog;
  readonly #timing: Timing;
  #rpcs = 0;

  constructor(
    connection: WireConnection,
    clock: Clock,
    log: ExchangeLog,
    timing: Timing,
    ids: Pick<ProbeIds, 'organizationId' | 'agentId'> & Partial<ProbeIds>,
  ) {
    this.#connection = connection;
    this.#clock = clock;
    this.#log = log;
    this.#timing = timing;
    this.ids = { conversationId: randomUUID(), ...ids };
  }

  /** A message of this conversation. */
  message(input: Input): MediaRequest {
    const { conversationId, organizationId, agentId } = this.ids;
    return {
      conversation_id: conversationId,
      customer_org_id: organizationId,
      ...(agentId === '' ? {} : { virtual_agent_id: agentId }),
      ...input,
    };
  }

  /** Opens an RPC and sends these inputs. Who opens it settles it. */
  open(...inputs: readonly Input[]): WireRpc {
    this.#rpcs += 1;
    return this.#connection.open(`RPC${String(this.#rpcs)}`, this.#log).send(...inputs.map((input) => this.message(input)));
  }

  /**
   * Whether a platform would send this now, as the last FINAL asked for it: no keys in a mode of voice, no voice in one of
   * keys, and no report of silence where its time is 0 (G-35, G-81, G-82).
   */
  isAskedFor(kind: 'speech' | 'keys' | 'silence'): boolean {
    const last = this.turns.findLast(({ rpc }) => (rpc.final?.answer.config ?? rpc.final?.answer.mode) !== undefined);
    const { mode, config } = last?.rpc.final?.answer ?? {};
    if (kind === 'silence') return config?.noInputMs !== 0;
    return mode !== (kind === 'keys' ? 'voice' : 'dtmf');
  }

  /** A whole turn: these inputs, half-close, and everything that comes back. */
  async turn(kind: TurnRecord['kind'], ...inputs: readonly Input[]): Promise<TurnRecord> {
    const rpc = this.open(...inputs).halfClose();
    await rpc.settled(this.#timing.answerMs);
    return this.#keep(kind, rpc);
  }

  /** Opens the call (G-20). */
  begin(): Promise<TurnRecord> {
    return this.turn('session_start', eventInput('SESSION_START'));
  }

  /** Presses keys, without their start (G-64). */
  press(keys: readonly Key[]): Promise<TurnRecord> {
    return this.turn('dtmf', keysInput(keys));
  }

  /** Takes a turn that the bot asked for: silence, else keys, else an event of the flow, which may come at any time (G-72). */
  goOn(keys: readonly Key[]): Promise<TurnRecord> {
    if (this.isAskedFor('silence')) return this.turn('no_input', eventInput('NO_INPUT'));
    return this.isAskedFor('keys') ? this.press(keys) : this.turn('custom_event', FLOW_EVENT);
  }

  /** Hangs up. */
  end(): Promise<TurnRecord> {
    return this.turn('session_end', eventInput('SESSION_END'));
  }

  /** Waits until the prompts of a turn have been heard, within a bound. */
  async heardOut({ rpc }: TurnRecord): Promise<void> {
    const leftMs = playLeftMs(rpc.received, this.#clock.monotonicMs());
    if (leftMs > 0) await this.wait(leftMs);
  }

  /**
   * Opens a listening RPC and speaks on it: silence, speech, and silence until the server has reported the end of speech or
   * replied, as the platform does; then half-close (G-35, G-38).
   */
  async speak(form: SpokenForm): Promise<TurnRecord> {
    const rpc = this.open();
    await this.say(rpc, form);
    rpc.halfClose();
    await rpc.settled(this.#timing.answerMs);
    return this.#keep('speech', rpc);
  }

  /** Speaks on an open RPC, which stays open. */
  async say(rpc: WireRpc, { before, frames, silence }: SpokenForm): Promise<void> {
    rpc.send(...before.map((input) => this.message(input)));
    const quiet = (ms: number): readonly Input[] => Array<Input>(Math.ceil(ms / FRAME_MS)).fill(silence);
    await this.stream(rpc, [...quiet(LEAD_MS), ...frames], () => rpc.ending !== undefined);
    const tailMs = this.#tailMs();
    await this.stream(rpc, quiet(TAIL_MS), () => isAnswered(rpc));
    // A server that has heard a voice may wait as long as it told the platform that it would.
    if (tailMs > TAIL_MS && hasStart(rpc)) await this.stream(rpc, quiet(tailMs - TAIL_MS), () => isAnswered(rpc));
  }

  /** Sends frames at the pace of the call until `enough`. */
  async stream(rpc: WireRpc, frames: readonly Input[], enough: () => boolean): Promise<void> {
    const perTick = Math.max(1, Math.round((this.#timing.pace * TICK_MS) / FRAME_MS));
    let from = 0;
    await atPace(this.#clock, TICK_MS, () => {
      if (from >= frames.length || enough()) return false;
      rpc.send(...frames.slice(from, from + perTick).map((input) => this.message(input)));
      from += perTick;
      return true;
    });
  }

  /** Waits, ms of real time. */
  async wait(ms: number): Promise<void> {
    await pause(ms, this.#clock);
  }

  /** How long the server says that it waits for the end of speech, with a margin, ms (section 2.9 of the contract). */
  #tailMs(): number {
    const timers = this.turns.findLast(({ rpc }) => rpc.final !== undefined)?.rpc.final?.message.input_handling_config?.speech_timers;
    const ownMs = Math.max(timers?.complete_timeout_msec ?? 0, timers?.incomplete_timeout_msec ?? 0);
    return Math.min(MAX_TAIL_MS, ownMs + TAIL_MARGIN_MS);
  }

  #keep(kind: TurnRecord['kind'], rpc: WireRpc): TurnRecord {
    const turn = { kind, rpc };
    this.turns.push(turn);
    return turn;
  }
}

/** Whether the server has said that it heard enough: the end of speech, a FINAL, or the end of the RPC. */
function isAnswered(rpc: WireRpc): boolean {
  return rpc.ending !== undefined || rpc.final !== undefined || rpc.answers.some(({ event }) => event?.kind === 'end_of_input');
}
