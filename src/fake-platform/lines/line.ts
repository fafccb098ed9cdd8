// The wire as the caller sees it: turns are opened, fed and closed; answers and an end come back. Which wire it is, its
// security and its status numbers are hidden behind this port.
import type { JsonObject } from '../../base/json.ts';
import type { Answer } from '../caller/answer.ts';
import type { Failure } from './failure.ts';
import type { Key } from '../caller/key.ts';
import type { Breach, WireRules } from './wire-rules.ts';

export type PlatformInput =
  /** Opens the call; may carry the flow's data (G-20, G-24). */
  | { readonly kind: 'session_start'; readonly name: string; readonly parameters: JsonObject }
  /** Encoding and rate alone; the frames after it name neither (G-32). */
  | { readonly kind: 'audio_format' }
  /** µ-law, 8 kHz, mono: one frame of 160 bytes, or a probe of 3 (G-30, G-33). */
  | { readonly kind: 'audio'; readonly audio: Uint8Array }
  | { readonly kind: 'dtmf_start' }
  | { readonly kind: 'dtmf'; readonly keys: readonly Key[] }
  | { readonly kind: 'no_input' }
  /** A custom event of the flow; may come at any time (G-72). */
  | { readonly kind: 'custom_event'; readonly name: string; readonly parameters: JsonObject }
  | { readonly kind: 'session_end' };

/** What our own server tells beside a reply, where a test setting allows. */
export interface Revealed {
  readonly promptTexts: readonly string[];
  /** Its bot failed, and its own apology was said. */
  readonly isApology?: boolean;
  /** The caller has spoken, its bot wants the words, and it has no recognizer. */
  readonly isWithoutWords?: boolean;
}

/** How a turn ended: completed by the server, or broken. */
export type LineEnd = ({ readonly kind: 'completed' } & Revealed) | { readonly kind: 'broken'; readonly failure: Failure };

/** A turn that was lost and can start again. */
export interface TurnCut {
  /** `repeated`: the caller's input on it is sent again; `reopened`: there was no input, or the server had processed none of it. */
  readonly kind: 'repeated' | 'reopened';
  readonly failure: Failure;
  /** How long it takes until everything is sent again, ms. */
  readonly againMs: number;
}

/** Receives what comes back on one turn. `ended` is called exactly once, and nothing after it. */
export interface TurnListener {
  answered(answer: Answer): void;
  ended(end: LineEnd): void;
  /**
   * The turn was lost: it starts again, and what was answered before no longer counts. Absent: it is never wanted again.
   *
   * @returns whether it is still wanted; `ended` follows at once where it is not.
   */
  cut?(cut: TurnCut): boolean;
}

/** The sending side of one turn. Every call is harmless after the end. */
export interface LineTurn {
  send(input: PlatformInput): void;
  /** Nothing more will be sent: the normal end of input, never a hang-up (G-11, G-12). */
  halfClose(): void;
  /** Cancels the turn. `ended` still comes. */
  cancel(): void;
  /** Stops reading answers, so that the server has to wait; absent where the wire cannot do that. One more answer may come. */
  pauseReading?(): void;
  /** Continues after `pauseReading`. */
  resumeReading?(): void;
}

export interface ListedAgent {
  readonly id: string;
  readonly name: string;
  /** False for all where the wire does not name the default (W-52). */
  readonly isDefault: boolean;
}

export interface Line {
  /** The rules for answers on this wire; absent: those of gRPC. */
  readonly rules?: WireRules;
  /** Opens a turn. A refused or failed connection is reported as the turn's end, never thrown. */
  open(listener: TurnListener): LineTurn;
  /** Closes the connection; cancel open turns first. */
  close(): void;
  /** Breaks the connection as if the wire were cut: nothing is sent to the server. Absent where others share the connection. */
  break?(): void;
  /** Reports breaches that are in no answer of a turn, past and future; absent where the wire has none. */
  watch?(found: (breach: Breach) => void): void;
  /** Reports once that the line is gone in the middle of the call, with or without an open turn; absent where each turn reports its own end. */
  watchEnd?(onEnd: (failure: Failure) => void): void;
}
