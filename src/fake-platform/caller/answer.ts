// An answer of a server on one RPC, in the fake platform's own terms. The mapper of each wire builds answers; everything
// else reads them. No wire names and no enum numbers here.
import type { JsonObject } from '../../base/json.ts';
import type { Key } from './key.ts';

/** The position of a response in its RPC. `unknown` is a number this contract does not name (G-90). */
export type AnswerType = 'final' | 'partial' | 'chunk' | 'unknown';

/** What the caller may use next. An answer without a mode behaves as `voice_dtmf` (G-81). */
export type InputMode = 'voice' | 'dtmf' | 'voice_dtmf';

/** Events a server can send. `other` is a number this contract does not name (G-90). */
export type ServerEventKind =
  | 'start_of_input'
  | 'end_of_input'
  | 'session_end'
  | 'transfer'
  | 'custom_event'
  | 'no_match'
  | 'no_input'
  | 'other';

export interface ServerEvent {
  readonly kind: ServerEventKind;
  readonly name: string;
  readonly metadata: JsonObject;
}

/** One prompt as it came: text, an address, audio, or several of these. Empty means not given. */
export interface AnswerPrompt {
  readonly text: string;
  readonly uri: string;
  readonly audio: Uint8Array;
  readonly bargeIn: boolean;
}

/** Rules for the caller's next input. Times are ms; 0 means not set. */
export interface InputConfig {
  readonly interDigitMs: number;
  readonly terminator: Key | undefined;
  readonly digits: number;
  /** Silence after which NO_INPUT is reported; 0 never (G-82). Where a wire cannot carry this time (W-14), the platform's own. */
  readonly noInputMs: number;
}

export interface Answer {
  readonly type: AnswerType;
  readonly prompts: readonly AnswerPrompt[];
  /** The first event; the contract does not support more than one. */
  readonly event: ServerEvent | undefined;
  readonly mode: InputMode | undefined;
  readonly config: InputConfig | undefined;
  /** True when the server sent no settings: `config` then holds the platform's own defaults. Default false. */
  readonly isConfigAssumed?: boolean;
  /** True for a PARTIAL that no later reply cancels (G-45). Default false. */
  readonly playsOn?: boolean;
  /** The next input is a PIN or the like (G-83). */
  readonly sensitive: boolean;
}

/** One of the two events after which the call is over (G-76, G-77). */
export type TerminalEvent = ServerEvent & { readonly kind: 'session_end' | 'transfer' };

/** True for the two events after which the call is over (G-76, G-77). */
export function isTerminalEvent(event: ServerEvent | undefined): event is TerminalEvent {
  return event?.kind === 'session_end' || event?.kind === 'transfer';
}

/**
 * True when this answer is the FINAL that closes an RPC. An event around an utterance that comes alone may be FINAL, too,
 * and closes nothing (G-36, G-39).
 */
export function isClosing(answer: Answer): boolean {
  if (answer.type !== 'final') return false;
  const around = answer.event?.kind === 'start_of_input' || answer.event?.kind === 'end_of_input';
  return !around || answer.prompts.length > 0;
}
