// The wire as the caller sees it: turns are opened, fed and closed; what comes back are answers and an end. Which wire
// it is, how it is secured and what a status number means is known behind this port only.
import type { JsonObject } from '../../base/json.ts';
import type { Answer } from '../caller/answer.ts';
import type { Failure } from './failure.ts';
import type { Key } from '../caller/key.ts';
import type { Breach, WireRules } from './wire-rules.ts';

/** One thing the platform sends on a turn. */
export type PlatformInput =
  /** Opens the call; may carry what the flow set (G-20, G-24). */
  | { readonly kind: 'session_start'; readonly name: string; readonly parameters: JsonObject }
  /** Encoding and rate alone; the frames after it name neither (G-32). */
  | { readonly kind: 'audio_format' }
  /** µ-law, 8 kHz, mono: one frame of 160 bytes, or a probe of 3 (G-30, G-33). */
  | { readonly kind: 'audio'; readonly audio: Uint8Array }
  | { readonly kind: 'dtmf_start' }
  | { readonly kind: 'dtmf'; readonly keys: readonly Key[] }
  | { readonly kind: 'no_input' }
  /** The flow has something to say, whatever the caller does (G-72). */
  | { readonly kind: 'custom_event'; readonly name: string; readonly parameters: JsonObject }
  | { readonly kind: 'session_end' };

/** How a turn ended: completed by the server, or broken. */
export type LineEnd =
  /**
   * `promptTexts`: what the prompts said, where the server names it beside the audio; `isApology`: it says that its bot failed,
   * and what was said is its own apology.
   */
  | { readonly kind: 'completed'; readonly promptTexts: readonly string[]; readonly isApology?: boolean }
  | { readonly kind: 'broken'; readonly failure: Failure };

/** A turn that was lost on its way and can begin anew. */
export interface TurnCut {
  /** `repeated`: what the caller had said or done on it is said again; `reopened`: there was nothing, or the server had processed nothing of it. */
  readonly kind: 'repeated' | 'reopened';
  readonly failure: Failure;
  /** How long it takes until all is said again, ms. */
  readonly againMs: number;
}

/** Hears what comes back on one turn. `ended` is called exactly once, and nothing after it. */
export interface TurnListener {
  answered(answer: Answer): void;
  ended(end: LineEnd): void;
  /**
   * The turn was cut: it begins anew, and what was answered before counts no more. Absent: it is never wanted again.
   *
   * @returns whether it is wanted; `ended` follows at once where it is not.
   */
  cut?(cut: TurnCut): boolean;
}

/** The sending side of one turn. Everything is harmless after the end. */
export interface LineTurn {
  send(input: PlatformInput): void;
  /** Nothing more will be sent: normal continuation, never a hang-up (G-11, G-12). */
  halfClose(): void;
  /** Gives the turn up. `ended` still comes. */
  cancel(): void;
  /** Takes no more answers off the wire, so that the server has to wait; absent where the wire cannot. One may be on its way. */
  pauseReading?(): void;
  /** Goes on after `pauseReading`. */
  resumeReading?(): void;
}

/** One agent a server offers. */
export interface ListedAgent {
  readonly id: string;
  readonly name: string;
  /** False for all where the wire does not say (W-52). */
  readonly isDefault: boolean;
}

/** The way of one call to a server. */
export interface Line {
  /** What holds for answers on this wire; absent: what holds on gRPC. */
  readonly rules?: WireRules;
  /** Opens a turn. A refused or failed connection is reported as the turn's end, never thrown. */
  open(listener: TurnListener): LineTurn;
  /** Closes the connection. Open turns must be cancelled before. */
  close(): void;
  /** Breaks the connection as if the wire were cut: nothing is sent to the server. Absent where others share the connection. */
  break?(): void;
  /** Reports breaches that stand in no answer of a turn, from now on and of those before; absent where the wire has none. */
  watch?(found: (breach: Breach) => void): void;
  /** Reports once that the line is gone in the middle of the call, whether or not a turn is open; absent where each turn has its own end. */
  watchEnd?(onEnd: (failure: Failure) => void): void;
}
