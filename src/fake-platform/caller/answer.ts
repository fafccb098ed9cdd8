// What a server said on one RPC, in the fake platform's own terms. The mapper of each wire builds these; everything
// else reads them. No wire names and no enum numbers here.
import type { JsonObject } from '../../base/json.ts';
import type { Key } from './key.ts';

/** The position of a response in its RPC. `unknown` is a number this contract does not name (G-90). */
export type AnswerType = 'final' | 'partial' | 'chunk' | 'unknown';

/** What the caller may use next; `undefined` in an answer means unset, which behaves as `voice_dtmf` (G-81). */
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

/** One prompt as it came: text, an address, audio, or several of them. Empty means not given. */
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
  /** 0: silence is never reported (G-82). Where a server cannot say (W-14), the platform's own time. */
  readonly noInputMs: number;
}

export interface Answer {
  readonly type: AnswerType;
  readonly prompts: readonly AnswerPrompt[];
  /** The first event; more than one is not supported by the contract. */
  readonly event: ServerEvent | undefined;
  readonly mode: InputMode | undefined;
  readonly config: InputConfig | undefined;
  /** True when the server sent no settings: `config` then holds the platform's own defaults. Default false. */
  readonly isConfigAssumed?: boolean;
  /** True for a PARTIAL that keeps playing when a later reply arrives, which would otherwise cancel it (G-45). Default false. */
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
 * True when this answer is the FINAL that closes an RPC. The stand-alone events around an utterance are FINAL too, as
 * the samples send them, and close nothing (G-36, G-39).
 */
export function isClosing(answer: Answer): boolean {
  if (answer.type !== 'final') return false;
  const around = answer.event?.kind === 'start_of_input' || answer.event?.kind === 'end_of_input';
  return !around || answer.prompts.length > 0;
}
