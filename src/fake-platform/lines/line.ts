// The wire as the caller sees it: opens turns, sends input, receives answers and the end of a turn. Hides which wire it is, its security
// and its status numbers.
import type { JsonObject } from '../../base/json.ts';
import type { Answer } from '../caller/answer.ts';
import type { Failure } from './failure.ts';
import type { Key } from '../caller/key.ts';
import type { Breach, WireRules } from './wire-rules.ts';

export type PlatformInput =
  /** Opens the call; may carry the flow's data (G-20, G-24). */
  | { readonly kind: 'session_start'; readonly name: string; readonly parameters: JsonObject }
  /** Encoding and rate alone; the frames that follow name neither (G-32). */
  | { readonly kind: 'audio_format' }
  /** µ-law, 8 kHz, mono: one frame of 160 bytes, or a probe of 3 (G-30, G-33). */
  | { readonly kind: 'audio'; readonly audio: Uint8Array }
  | { readonly kind: 'dtmf_start' }
  | { readonly kind: 'dtmf'; readonly keys: readonly Key[] }
  | { readonly kind: 'no_input' }
  /** A custom event of the flow; may come at any time (G-72). */
  | { readonly kind: 'custom_event'; readonly name: string; readonly parameters: JsonObject }
  | { readonly kind: 'session_end' };

/** What our own server reveals about a reply, when a test setting allows it. */
export interface Revealed {
  readonly promptTexts: readonly string[];
  /** Set when the server's bot failed and the server apologized. */
  readonly isApology?: boolean;
  /** Set when the caller has spoken and the server's bot wants the words, but the server has no recognizer. */
  readonly isWithoutWords?: boolean;
}

/** How a turn ended: completed by the server, or broken. */
export type LineEnd = ({ readonly kind: 'completed' } & Revealed) | { readonly kind: 'broken'; readonly failure: Failure };

/** A turn that was lost and can be opened again. */
export interface TurnCut {
  /** `repeated`: the caller's input is sent again. `reopened`: the turn had no input, or the server had processed nothing of it. */
  readonly kind: 'repeated' | 'reopened';
  readonly failure: Failure;
  /** Time until all input is sent again, ms. */
  readonly againMs: number;
}

/** Receives what comes back on one turn. `ended` is called exactly once, and is the last call. */
export interface TurnListener {
  answered(answer: Answer): void;
  ended(end: LineEnd): void;
  /**
   * The turn was lost and can start again; its earlier answers no longer count. Without this method, no turn starts again.
   * @returns whether to start the turn again; if not, `ended` follows at once.
   */
  cut?(cut: TurnCut): boolean;
}

/** The sending side of one turn. Calls after the end do nothing. */
export interface LineTurn {
  send(input: PlatformInput): void;
  /** Ends the turn's input: its normal end, never a hang-up (G-11, G-12). */
  halfClose(): void;
  /** Cancels the turn; `ended` follows. */
  cancel(): void;
  /** Stops reading answers, so that the server has to wait. One more answer may come. Undefined: the wire cannot stop reading. */
  pauseReading?(): void;
  /** Continues after `pauseReading`. */
  resumeReading?(): void;
}

export interface ListedAgent {
  readonly id: string;
  readonly name: string;
  /** False for all agents where the wire does not name the default (W-52). */
  readonly isDefault: boolean;
}

export interface Line {
  /** The rules for answers on this wire. Undefined: those of gRPC. */
  readonly rules?: WireRules;
  /** Opens a turn. A refused or failed connection is never thrown: the turn ends with it. */
  open(listener: TurnListener): LineTurn;
  /** Closes the connection; cancel open turns first. */
  close(): void;
  /** Breaks the connection without a message to the server, as a cut wire does. Undefined: other calls share the connection. */
  break?(): void;
  /** Reports past and future breaches that belong to no turn. Undefined: this wire has none. */
  watch?(found: (breach: Breach) => void): void;
  /** Reports once that the line was lost during the call, even without an open turn. Undefined: each turn reports its own end. */
  watchEnd?(onEnd: (failure: Failure) => void): void;
}
