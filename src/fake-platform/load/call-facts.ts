// What a load keeps of one call: only a few numbers, because a report may contain a million calls. Knows no line.
import type { CallResult } from '../caller/caller.ts';
import { FINDING_CODES } from '../caller/finding.ts';
import type { TerminalEvent } from '../caller/answer.ts';
import type { Reply } from '../caller/turn.ts';
import type { Arrival } from './arrivals.ts';
import type { SoundCounts } from './prompt-watch.ts';

/** What a caller waits for: the first sound of the call, or the reply to speech, keys or silence. */
export type WaitKind = 'first_audio' | 'speech_reply' | 'key_reply' | 'silence_reply';

export interface WaitFact {
  readonly kind: WaitKind;
  /** When the awaited sound should have begun, ms since the run began. */
  readonly fromMs: number;
  readonly waitedMs: number;
}

/** What makes a call of a load fail. `unexpected_transfer`: a transfer that the scenario does not expect. */
export const LOAD_FAILURES = [...FINDING_CODES, 'unexpected_transfer'] as const;
type LoadFailure = (typeof LOAD_FAILURES)[number];

export interface CallFacts extends Pick<CallResult, 'durationMs' | 'outcome' | 'turnsRepeated' | 'turnsReopened' | 'turnsLost'> {
  readonly scenario: number;
  /** When the call was due, ms since the run began. */
  readonly dueMs: number;
  readonly replies: number;
  readonly isHeard: boolean;
  /** Longest silence within each reply, ms. */
  readonly gapsMs: readonly number[];
  /** Broken RPCs, missing replies, and an unexpected transfer. */
  readonly failures: readonly { readonly code: LoadFailure; readonly message: string }[];
  /** Rules of the contract that the server broke; a rule is listed once for each RPC that broke it. */
  readonly breaches: readonly string[];
  readonly sound: SoundCounts;
}

/** Failures with which a server, or a proxy in front of it, rejects a call. */
const REFUSALS: ReadonlySet<LoadFailure> = new Set<LoadFailure>([
  'refused',
  'host_unknown',
  'connect_timeout',
  'tls_failed',
  'unauthenticated',
  'forbidden',
  'agent_unknown',
  'not_served',
  'overloaded',
]);

/** Whether the call was not accepted: no answer at all, or a transfer in place of a welcome. */
export function isRefused({ outcome, replies, failures }: CallFacts): boolean {
  if (outcome !== 'failed') return false;
  return failures.some(({ code }) => (code === 'unexpected_transfer' ? replies <= 1 : replies === 0 && REFUSALS.has(code)));
}

/** Why the server transferred a call, as the flow receives the reason: `reason` in the event's metadata, or else the event's name. */
export function transferReason({ metadata, name }: TerminalEvent): string {
  return typeof metadata['reason'] === 'string' ? metadata['reason'] : name;
}

const KIND_OF: Readonly<Record<Reply['kind'], WaitKind | undefined>> = {
  session_start: undefined,
  speech: 'speech_reply',
  dtmf_start: 'key_reply',
  dtmf: 'key_reply',
  no_input: 'silence_reply',
  custom_event: undefined,
  session_end: undefined,
};

/** The kind of wait that a reply ends, apart from the first sound; undefined: nobody waits for such a reply. */
export function replyWait(kind: Reply['kind']): WaitKind | undefined {
  return KIND_OF[kind];
}

type CallOver = Pick<
  CallResult,
  'outcome' | 'terminal' | 'durationMs' | 'replies' | 'findings' | 'turnsRepeated' | 'turnsReopened' | 'turnsLost'
>;

/**
 * The facts of a finished call.
 * @param expectedTransfer - the reason of the transfer that the scenario expects; undefined: it expects none.
 */
export function factsOf(
  { outcome, terminal, durationMs, replies, findings, turnsRepeated, turnsReopened, turnsLost }: CallOver,
  { scenario, dueMs }: Arrival,
  expectedTransfer: string | undefined,
  { isHeard, sound }: { readonly isHeard: boolean; readonly sound: SoundCounts },
): CallFacts {
  const reason = outcome === 'transferred' && terminal !== undefined ? transferReason(terminal) : undefined;
  const isUnexpectedTransfer = reason !== undefined && reason !== expectedTransfer;
  const unexpectedTransfer = {
    code: 'unexpected_transfer',
    message: `the server transferred the caller, with the reason "${reason ?? ''}"`,
  } as const;
  return {
    scenario,
    dueMs,
    durationMs,
    outcome: isUnexpectedTransfer ? 'failed' : outcome,
    replies: replies.length,
    isHeard,
    gapsMs: replies.filter(({ prompts }) => prompts > 0).map(({ maxGapMs }) => maxGapMs),
    failures: [
      ...findings.flatMap(({ code, rule, message }) => (rule === undefined ? [{ code, message }] : [])),
      ...(isUnexpectedTransfer ? [unexpectedTransfer] : []),
    ],
    breaches: findings.flatMap(({ rule }) => rule ?? []),
    turnsRepeated,
    turnsReopened,
    turnsLost,
    sound,
  };
}
