// The words of the doctor: what a check is, what it is about, and what it may find. Knows no single check.
import type { Clock } from '../../base/clock.ts';
import type { DoctorContext } from './context.ts';
import type { Subject } from './subject.ts';
import type { CaseNotes } from './case-notes.ts';

/** All checks by id, in the order in which results are told. */
export const CHECK_IDS = [
  'store',
  'organization_token',
  'platform_access',
  'scopes',
  'data_source',
  'schema',
  'url',
  'status',
  'token_expiry',
  'nonce',
  'issuer',
  'key_set',
  'test_token',
  'clock',
  'listens',
  'tls_handshake',
  'certificate',
  'alpn',
  'health',
  'upgrade',
  'webhooks',
  'agents',
] as const;

/** A check. Ids are public: commands print them and scripts look for them. */
export type CheckId = (typeof CHECK_IDS)[number];

/** `fault`: calls cannot come in. `warning`: they can, but not for long, or not in every case. */
export type Severity = 'fault' | 'warning';

/** All that may be found. A closed set, public like the ids of checks; docs/doctor.md explains each, and a test compares both. */
export const FINDING_CODES = [
  'check_failed',
  'check_timeout',
  'store_unreachable',
  'store_right_missing',
  'store_forgets',
  'no_organization',
  'token_not_stored',
  'not_authorized',
  'scope_missing',
  'data_source_missing',
  'data_source_ambiguous',
  'schema_wrong',
  'schema_of_other_transport',
  'url_wrong',
  'url_spelling',
  'url_form',
  'not_active',
  'token_over',
  'token_near_end',
  'nonce_unknown',
  'issuer_unknown',
  'key_set_unreachable',
  'key_missing',
  'token_refused',
  'clock_skew',
  'host_unknown',
  'not_listening',
  'no_answer',
  'tls_failed',
  'certificate_untrusted',
  'certificate_name',
  'certificate_over',
  'certificate_near_end',
  'alpn_missing',
  'http1_missing',
  'health_bad',
  'health_unanswered',
  'upgrade_failed',
  'webhook_missing',
  'webhook_inactive',
  'webhook_target',
  'webhook_unanswered',
  'no_agents',
  'agents_not_listed',
] as const;

/** Something that is not right. */
export type FindingCode = (typeof FINDING_CODES)[number];

/** One thing that is not right. Its texts are for people, in one line, and hold no token, nonce or secret. */
export interface Finding {
  readonly code: FindingCode;
  readonly severity: Severity;
  /** What is wrong. */
  readonly what: string;
  /** Where it was seen. */
  readonly where: string;
  /** How to mend it. */
  readonly mend: string;
}

/** A check that could not be made, or had nothing to look at. */
export interface Skip {
  /** Why, as half a sentence. */
  readonly skipped: string;
}

/** What a check ended with: its findings (none: all is right), or why it was not made. */
export type Verdict = readonly Finding[] | Skip;

/** What one run of a check gets. */
export interface CheckTools {
  /** Ends when nobody waits for the check any more. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** How long the check may take, ms. A probe that wants to say itself that it had no answer gives up before. */
  readonly limitMs: number;
  /** What earlier checks have seen. */
  readonly notes: CaseNotes;
}

/** One check of one subject. */
export interface CheckTask {
  readonly subject: Subject;
  /** May throw; that becomes a finding. */
  run(tools: CheckTools): Promise<Verdict> | Verdict;
}

/** A check. */
export interface Check {
  readonly id: CheckId;
  /** What is right when nothing is found, as half a sentence. */
  readonly title: string;
  /** Checks without which this one makes no sense; they stand before it in the list. */
  readonly needs: readonly CheckId[];
  tasks(context: DoctorContext): readonly CheckTask[];
}
