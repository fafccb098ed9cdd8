// What was wrong with a call: breaches of the contract by rule, and the failures that ended it.
import type { TerminalEvent } from './answer.ts';

/**
 * `ended` and `transferred`: by the server; `hung_up`: by the caller; `lost`: the connection was broken on purpose;
 * `failed`: by a fatal finding; `interrupted`: from outside.
 */
export type CallOutcome = 'transferred' | 'ended' | 'hung_up' | 'lost' | 'failed' | 'interrupted';

/** The terminal event with which the server ended a call; `turn` is its RPC, counted from 1. */
export type Ending = TerminalEvent & { readonly turn: number };
/** Every name a finding can have. */
export const FINDING_CODES = [
  // Failures of the connection or of an RPC. All of them end the call.
  'refused',
  'host_unknown',
  'connect_timeout',
  'tls_failed',
  'closed_early',
  'garbage',
  'unauthenticated',
  'forbidden',
  'agent_unknown',
  'not_served',
  'overloaded',
  'rpc_failed',
  'no_answer',
  'call_limit',
  'too_much_audio',
  'too_many_turns',
  // Breaches of the contract. The call continues as on the platform.
  'second_final',
  'final_missing',
  'not_completed',
  'unasked_completion',
  'input_start_repeated',
  'input_start_misplaced',
  'input_start_not_allowed',
  'input_start_as_chunk',
  'mode_switched',
  'wav_header_missing',
  'wav_header_in_chunk',
  'chunk_size',
  'final_audio_in_chunk_mode',
  'final_without_prompt',
  'partial_not_allowed',
  'text_beside_chunk',
  'barge_in_on_terminal',
  'answer_to_key_press',
  'answer_after_hang_up',
  'second_terminal',
  'prompt_after_terminal',
  'terminal_with_input_settings',
  'input_settings_missing',
  'routing_hint_invalid',
  'prompt_unplayable',
  // Breaches that are possible only on a WebSocket.
  'envelope_wrong',
  'sequence_broken',
  'answer_unasked',
  'old_reply_goes_on',
  'pong_missing',
  'close_code_wrong',
] as const;

export type FindingCode = (typeof FINDING_CODES)[number];

/** One thing that was wrong. */
export interface Finding {
  readonly code: FindingCode;
  /** The rule of the contract that was broken, such as `G-42`; undefined for failures of the connection. */
  readonly rule?: string;
  readonly message: string;
  /** The RPC on which the finding was made, counted from 1; undefined when it belongs to none. */
  readonly turn?: number;
  /** ms since the call began. */
  readonly atMs: number;
  /** True when the finding ended the call. */
  readonly fatal: boolean;
}

/** Most findings kept of one call. */
const MAX_FINDINGS = 200;

/** Collects the findings of one call: each code once per RPC, up to a limit. */
export class Findings {
  readonly #found: Finding[] = [];
  readonly #seen = new Set<string>();
  readonly #onFound: (finding: Finding) => void;

  constructor(onFound: (finding: Finding) => void = () => undefined) {
    this.#onFound = onFound;
  }

  /** Adds a finding unless its RPC already has one with the same code. */
  add(finding: Finding): void {
    const name = `${finding.code}/${String(finding.turn ?? 0)}`;
    if (this.#seen.has(name) || this.#found.length >= MAX_FINDINGS) return;
    this.#seen.add(name);
    this.#found.push(finding);
    this.#onFound(finding);
  }

  /** All findings in order of time. */
  get all(): readonly Finding[] {
    return this.#found;
  }
}
