// The possible findings of the doctor, with texts that commands print and codes that scripts read. Knows no check.

/** `fault`: calls cannot come in. `warning`: calls can come in, but not for long or not in every case. */
export type Severity = 'fault' | 'warning';

/** The closed list of findings. Public, like the ids of checks; docs/doctor.md explains each, and a test compares both lists. */
export const FINDING_CODES = [
  'check_failed',
  'check_timeout',
  'store_unreachable',
  'store_right_missing',
  'store_forgets',
  'store_unsaved',
  'store_evicts',
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
  'descriptors_few',
  'login_missing',
  'key_refused',
  'service_fails',
  'folder_unusable',
  'folder_full',
  'bot_invalid',
] as const;

export type FindingCode = (typeof FINDING_CODES)[number];

/** One problem. Its texts are single lines for people, without token, nonce or secret. */
export interface Finding {
  readonly code: FindingCode;
  readonly severity: Severity;
  /** The problem. */
  readonly what: string;
  /** The place of the problem. */
  readonly where: string;
  /** How to fix the problem. */
  readonly mend: string;
}

/** A finding as a check reports it. Default of `where`: the subject of the check. */
export type Found = Omit<Finding, 'where'> & { readonly where?: string | undefined };

/** A problem that stops calls. */
export function fault(code: FindingCode, what: string, mend: string, where?: string): Found {
  return { code, severity: 'fault', what, mend, where };
}

/** A problem that does not stop calls, or not yet. */
export function warning(code: FindingCode, what: string, mend: string, where?: string): Found {
  return { code, severity: 'warning', what, mend, where };
}
